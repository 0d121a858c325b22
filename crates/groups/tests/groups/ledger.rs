//! What must have become of each message, by the rules alone.

use std::collections::BTreeSet;
use std::rc::Rc;

use lapwing_codec::QoS;
use lapwing_groups::{AssignmentId, Delivery, DropReason, Epoch, Expired, Facts};

/// The message itself: whoever still has a handle has not let go of it.
pub type Message = Rc<usize>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Waiting,
    With { key: u32, id: AssignmentId, epoch: Epoch, qos: QoS, has_begun: bool },
    Ended,
}

#[derive(Debug)]
pub struct Line {
    pub facts: Facts,
    pub handle: Message,
    pub state: State,
    /// As the owner was told.
    pub was_written: bool,
    /// Who was written it with QoS 2.
    pub owner_of_qos_2: Option<u32>,
    /// Who cannot have it, as the owner was told; and whether keys had an order when the first said so.
    pub unable: BTreeSet<u32>,
    pub is_in_order: bool,
    /// The session of whom it is with has it as its own.
    pub is_session_s: bool,
}

impl Line {
    pub fn new(nth: usize, facts: Facts) -> Line {
        Line {
            facts,
            handle: Rc::new(nth),
            state: State::Waiting,
            was_written: false,
            owner_of_qos_2: None,
            unable: BTreeSet::new(),
            is_in_order: false,
            is_session_s: false,
        }
    }

    /// Nobody but this ledger has it.
    pub fn is_let_go(&self) -> bool {
        Rc::strong_count(&self.handle) == 1
    }

    pub fn is_with(&self, wanted: u32) -> bool {
        matches!(self.state, State::With { key, .. } if key == wanted)
    }

    pub fn is_missed(&self, at_us: u64) -> bool {
        self.facts.deadline_us.is_some_and(|deadline_us| at_us > self.facts.ingress_us + deadline_us)
    }

    /// Why it cannot wait at `now_us` any more.
    pub fn is_too_late(&self, expired: Expired, now_us: u64) -> Option<DropReason> {
        let expiry = self.facts.expires_at_us.filter(|&at_us| at_us <= now_us);
        let is_missed = expired != Expired::Deliver && self.is_missed(now_us);
        let due_us = self.facts.deadline_us.map(|deadline_us| self.facts.ingress_us + deadline_us);
        match (expiry, due_us.filter(|_| is_missed)) {
            (Some(expiry_us), Some(due_us)) if due_us + 1 < expiry_us => Some(DropReason::DeadlinePassed),
            (Some(_), _) => Some(DropReason::MessageExpired),
            (None, Some(_)) => Some(DropReason::DeadlinePassed),
            (None, None) => None,
        }
    }
}

/// What the group must have counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub published: u64,
    pub acknowledged: u64,
    pub unacknowledged: u64,
    pub refused: u64,
    pub dropped: [u64; DropReason::ALL.len()],
    pub dead_lettered: [u64; DropReason::ALL.len()],
    pub missed: u64,
    pub missed_critical: u64,
    pub expired: u64,
    pub moved: u64,
    pub redelivered: u64,
    pub late: u64,
    pub kicks: u64,
    pub joins_refused: u64,
}

#[derive(Debug, Default)]
pub struct Ledger {
    pub lines: Vec<Line>,
    pub sums: Sums,
}

impl Ledger {
    pub fn end(&mut self, nth: usize, reason: Option<DropReason>) {
        assert_ne!(self.lines[nth].state, State::Ended, "message {nth} ended twice");
        self.lines[nth].state = State::Ended;
        if let Some(reason) = reason {
            self.sums.dropped[reason as usize] += 1;
        }
    }

    pub fn miss(&mut self, nth: usize) {
        self.sums.missed += 1;
        self.sums.missed_critical += u64::from(self.lines[nth].facts.lane == lapwing_groups::Lane::Critical);
    }

    /// The wait of a message has ended.
    pub fn too_late(&mut self, nth: usize, reason: DropReason, is_dead_letter: bool) {
        self.end(nth, (!is_dead_letter).then_some(reason));
        self.sums.expired += 1;
        self.sums.dead_lettered[reason as usize] += u64::from(is_dead_letter);
        let Line { facts, .. } = &self.lines[nth];
        if reason == DropReason::DeadlinePassed
            || facts.expires_at_us.is_some_and(|at_us| self.lines[nth].is_missed(at_us))
        {
            self.miss(nth);
        }
    }

    /// The group gives a message to somebody.
    pub fn sent(&mut self, delivery: &Delivery<u32, Message>, now_us: u64) {
        let nth = *delivery.message;
        let line = &mut self.lines[nth];
        assert_eq!(line.state, State::Waiting, "message {nth} was given away by two owners");
        assert_eq!(line.owner_of_qos_2, None, "QoS 2 that was written went elsewhere: {nth}");
        assert_eq!(delivery.is_repeated, line.was_written, "{nth}");
        self.sums.redelivered += u64::from(line.was_written);
        line.is_session_s = false;
        match delivery.assignment {
            Some(id) => {
                let (key, epoch, qos) = (delivery.to, delivery.epoch, delivery.qos);
                line.state = State::With { key, id, epoch, qos, has_begun: false };
            }
            None => {
                let is_missed = line.is_missed(now_us);
                self.end(nth, None);
                self.sums.unacknowledged += 1;
                if is_missed {
                    self.miss(nth);
                }
            }
        }
    }

    /// The message of an assignment that is open on this connection.
    pub fn open(&self, member: u32, epoch: Epoch, wanted: AssignmentId) -> Option<usize> {
        self.lines.iter().position(|line| match line.state {
            State::With { key, id, epoch: sent, qos, .. } => {
                let is_of = epoch == sent || epoch > sent && qos == QoS::ExactlyOnce;
                key == member && id == wanted && is_of
            }
            _ => false,
        })
    }

    /// The connection of a member is over.
    pub fn lost(&mut self, member: u32, written: &[AssignmentId]) {
        for line in &mut self.lines {
            let State::With { key, id, qos, has_begun, .. } = &mut line.state else { continue };
            if *key != member {
                continue;
            }
            *has_begun |= written.contains(id);
            line.was_written |= written.contains(id);
            if !*has_begun || *qos != QoS::ExactlyOnce {
                line.state = State::Waiting;
                self.sums.moved += 1;
            }
        }
    }

    pub fn count(&self, is_so: impl Fn(&Line) -> bool) -> usize {
        self.lines.iter().filter(|line| is_so(line)).count()
    }
}
