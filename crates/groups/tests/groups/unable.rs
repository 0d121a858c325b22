//! Messages that not everybody can have: to whom they go, who passes them, and when they are lost.

use lapwing_dispatch::Strategy;
use lapwing_groups::{DropReason, Epoch, Facts, Notice, Presence, Settings};

use crate::ledger::State;
use crate::rig::{MS, QOS_1, QOS_2, Rig};
use crate::world::World;

impl World {
    /// A member says that it cannot have a message that it was not written.
    pub fn cannot_have(&mut self, key: u32, nth: usize) {
        let line = &self.ledger.lines[nth];
        let has_begun = matches!(line.state, State::With { has_begun: true, qos: QOS_2, .. });
        let is_here = self.known[key as usize] == Some(Presence::Here);
        let is_in_order = self.group.view(self.now_us).strategy == Some(Strategy::KeyOrdered);
        let line = &mut self.ledger.lines[nth];
        if is_here && line.unable.is_empty() {
            line.is_in_order = is_in_order;
        }
        line.unable.extend(is_here.then_some(key));
        let line = &self.ledger.lines[nth];
        if has_begun || line.is_session_s || self.is_for_nobody(nth) {
            return self.ledger.end(nth, Some(DropReason::Undeliverable));
        }
        self.ledger.lines[nth].state = State::Waiting;
        self.ledger.sums.moved += 1;
    }

    /// Who is not here may be able when it comes back.
    pub fn rise(&mut self) {
        let known = &self.known;
        let is_here = |key: &u32| known[*key as usize] == Some(Presence::Here);
        self.ledger.lines.iter_mut().for_each(|line| line.unable.retain(is_here));
    }

    fn is_for_nobody(&self, nth: usize) -> bool {
        let unable = &self.ledger.lines[nth].unable;
        let members = (0..).zip(&self.known).filter(|(_, known)| known.is_some_and(|one| one != Presence::Leaving));
        !unable.is_empty() && members.into_iter().all(|(key, _)| unable.contains(&key))
    }

    pub fn end_for_nobody(&mut self) {
        for nth in 0..self.ledger.lines.len() {
            if self.ledger.lines[nth].state == State::Waiting && self.is_for_nobody(nth) {
                self.ledger.end(nth, Some(DropReason::Undeliverable));
            }
        }
    }

    /// What came before `later` in the order of its key and waits for who can have it is too late.
    pub fn end_overtaken(&mut self, later: usize) {
        if self.group.view(self.now_us).strategy != Some(Strategy::KeyOrdered) {
            return;
        }
        let Facts { key, lane, .. } = self.ledger.lines[later].facts;
        for nth in 0..later {
            let line = &self.ledger.lines[nth];
            let is_waiting = line.state == State::Waiting && line.is_in_order;
            if is_waiting && key.is_some() && line.facts.key == key && line.facts.lane == lane {
                self.ledger.end(nth, Some(DropReason::Undeliverable));
            }
        }
    }

    /// Whether a message waits for somebody who is away, and others perhaps with it.
    pub fn may_wait(&self, nth: usize) -> bool {
        let key = self.ledger.lines[nth].facts.key;
        let holds = |line: &crate::ledger::Line| line.is_in_order && line.facts.key == key;
        !self.ledger.lines[nth].unable.is_empty()
            || self.ledger.count(|line| line.state == State::Waiting && holds(line)) > 0
    }
}

/// A member that cannot have anything, then the able ones.
fn rig(strategy: Strategy, able: u32) -> Rig {
    let mut rig = Rig::new(strategy, Settings::default());
    (1..=able + 1).for_each(|member| rig.join(member, 10));
    rig
}

const SMALL: u32 = 1;

/// Member 1 says of everything that it was sent that it is too large; the others finish what they have.
fn work_off(rig: &mut Rig) -> Vec<u32> {
    let mut done = Vec::new();
    while let Some(sent) = (!rig.sent.is_empty()).then(|| rig.sent.remove(0)) {
        let id = sent.id.expect("QoS 1");
        if sent.to == SMALL {
            assert!(rig.group.undeliverable(SMALL, Epoch(1), id, rig.now_us));
            rig.collect();
        } else {
            rig.now_us += MS;
            assert!(rig.acknowledge(sent.to, id));
            done.push(sent.message);
        }
    }
    done
}

/// Does a member that can have no message lose any, under any strategy?
#[test]
fn what_one_member_cannot_have_goes_to_another() {
    for strategy in Strategy::ALL {
        let mut rig = rig(strategy, 2);
        let mut done = Vec::new();
        for message in 0..60 {
            rig.publish_as(message, Facts { key: Some(u64::from(message) % 3), ..rig.facts(QOS_1) });
            rig.now_us += 5 * MS;
            done.extend(work_off(&mut rig));
        }
        for _ in 0..40 {
            rig.wait(250 * MS);
            done.extend(work_off(&mut rig));
        }
        let dropped = rig.dropped(DropReason::Undeliverable);
        assert_eq!((done.len(), dropped, rig.group.queued()), (60, 0, 0), "{strategy}");
        assert!(!rig.notices.iter().any(|notice| matches!(notice, Notice::Undeliverable { .. })));
        if strategy == Strategy::KeyOrdered {
            for key in 0..3 {
                assert!(done.iter().filter(|message| **message % 3 == key).is_sorted(), "{done:?}");
            }
        }
    }
}

/// Nobody can have it: is it dropped under its name, and told once?
#[test]
fn what_no_member_can_have_is_dropped_and_told() {
    let mut rig = rig(Strategy::RoundRobin, 1);
    for message in 0..2 {
        rig.publish(message, QOS_1);
        for _ in 0..2 {
            let sent = rig.sent.pop().expect("it goes on");
            assert!(rig.group.undeliverable(sent.to, Epoch(1), sent.id.expect("QoS 1"), rig.now_us));
            rig.collect();
        }
        assert_eq!((rig.take_sent(), rig.dropped(DropReason::Undeliverable)), (vec![], u64::from(message) + 1));
    }
    assert_eq!(rig.notices, [Notice::Undeliverable { member: Some(2) }]);
}

/// The able member is full, then goes: do others pass what only it can have, and what becomes of that?
#[test]
fn others_pass_what_waits_for_an_able_member_and_it_ends_with_that() {
    let mut rig = Rig::new(Strategy::LeastInflight, Settings::default());
    rig.join(SMALL, 10);
    rig.publish(0, QOS_1);
    rig.join(2, 1);
    rig.publish(1, QOS_1);
    assert_eq!(rig.take_sent(), [(SMALL, 0), (2, 1)]);
    rig.publish(2, QOS_1);
    let id = rig.last(SMALL);
    assert!(rig.group.undeliverable(SMALL, Epoch(1), id, rig.now_us));
    rig.collect();
    rig.take_sent();
    rig.wait(300 * MS);
    rig.publish(3, QOS_1);
    rig.wait(300 * MS);
    assert_eq!((rig.take_sent(), rig.group.queued()), (vec![(SMALL, 3)], 1));
    rig.end(2, 1, &[]);
    assert_eq!((rig.take_sent(), rig.group.queued()), (vec![(SMALL, 1)], 0));
    assert_eq!(rig.dropped(DropReason::Undeliverable), 1);
}

/// Key-ordered: a later message of the key is finished. Is the one that nobody could have yet delivered behind it?
#[test]
fn an_overtaken_message_of_an_ordered_key_is_not_delivered() {
    let mut rig = Rig::new(Strategy::KeyOrdered, Settings::default());
    rig.join(SMALL, 10);
    for message in 0..2 {
        rig.publish_as(message, Facts { key: Some(7), ..rig.facts(QOS_1) });
    }
    rig.join(2, 10);
    let (first, second) = (rig.sent[0].id.expect("QoS 1"), rig.sent[1].id.expect("QoS 1"));
    rig.take_sent();
    assert!(rig.group.undeliverable(SMALL, Epoch(1), first, rig.now_us));
    assert_eq!(rig.group.queued(), 1, "it waits for its key");
    assert!(rig.acknowledge(SMALL, second));
    assert_eq!((rig.take_sent(), rig.dropped(DropReason::Undeliverable)), (vec![], 1));
}

/// QoS 2 that has begun is dropped where its client cannot have it any more: it is nobody else's.
#[test]
fn qos_2_that_has_begun_goes_nowhere_else() {
    let mut rig = rig(Strategy::RoundRobin, 1);
    rig.publish(1, QOS_2);
    let id = rig.last(SMALL);
    rig.lost(SMALL, &[id]);
    rig.back(SMALL, 2, 10);
    rig.take_sent();
    assert!(rig.group.undeliverable(SMALL, Epoch(2), id, rig.now_us));
    rig.collect();
    assert_eq!((rig.take_sent(), rig.dropped(DropReason::Undeliverable)), (vec![], 1));
}
