//! What the log has of a group's messages, against the ledger: each end is told once, and nothing else is.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use lapwing_codec::QoS;
use lapwing_dispatch::{Parameters, Strategy};
use lapwing_groups::{Facts, Group, Settings};

use crate::ledger::{Line, State};
use crate::rig::{QOS_0, QOS_1, QOS_2, Rig};
use crate::world::World;

/// The numbers that a log would have.
#[derive(Debug, Default)]
pub struct Logged {
    /// Logged, and not told to have ended.
    open: BTreeSet<NonZeroU64>,
    /// Of these, those that a member's session has made its own.
    handed_over: BTreeSet<NonZeroU64>,
}

/// The number of the `nth` message, if it has one.
pub fn number(nth: usize, qos: QoS) -> Option<NonZeroU64> {
    NonZeroU64::new(nth as u64 + 1).filter(|_| qos.is_acknowledged())
}

impl Logged {
    /// The group wants a message logged.
    pub fn begins(&mut self, entry: Option<NonZeroU64>) {
        assert!(self.open.insert(entry.expect("what has no number is not logged")), "logged twice");
    }

    /// An end is told.
    pub fn ends(&mut self, entry: NonZeroU64) {
        assert!(self.open.remove(&entry), "the end of {entry} was told, and it was not there");
    }
}

impl World {
    /// A member's session makes a QoS 2 message that it has its own.
    pub fn hand_over(&mut self, at: usize, which: usize) {
        let key = self.clients[at].key;
        let is_its = |line: &&Line| line.is_with(key) && line.facts.entry.is_some();
        let its: Vec<_> = self.ledger.lines.iter().filter(is_its).map(|line| (line.state, line.facts.entry)).collect();
        if its.is_empty() {
            return;
        }
        let (state, entry) = its[which % its.len()];
        let State::With { id, qos: QoS::ExactlyOnce, .. } = state else { return };
        let held = self.ledger.lines.iter_mut().find(|line| line.state == state);
        held.into_iter().for_each(|line| line.is_session_s = true);
        let is_new = entry.is_some_and(|entry| self.logged.handed_over.insert(entry));
        assert_eq!(self.group.handed_over(key, id), entry.filter(|_| is_new));
        if let Some(entry) = entry.filter(|_| is_new) {
            self.logged.ends(entry);
        }
    }

    /// So many entries more are committed.
    pub fn commit(&mut self, count: u64) {
        self.committed = (self.committed + count).min(self.ledger.lines.len() as u64);
        if let Some(through) = NonZeroU64::new(self.committed) {
            self.group.committed(through, self.now_us);
        }
        self.collect(None, false);
    }

    /// Whether a message may be nobody's yet.
    pub fn waits_for_commit(&self, nth: usize) -> bool {
        self.ledger.lines[nth].facts.qos == QoS::ExactlyOnce && nth as u64 >= self.committed
    }

    /// Whether a message waits for a commit: of its own entry, or of another one of its key, which goes first.
    pub fn is_held_up(&self, nth: usize) -> bool {
        let facts = self.ledger.lines[nth].facts;
        let goes_first = |line: &Line| {
            let is_of_key = facts.key.is_some() && line.facts.key == facts.key;
            is_of_key && (line.facts.lane, *line.handle) < (facts.lane, nth) && line.state == State::Waiting
        };
        let mut before = self.ledger.lines.iter().filter(|line| goes_first(line));
        self.waits_for_commit(nth) || before.any(|line| self.waits_for_commit(*line.handle))
    }

    /// What the log has open is what the ledger has not ended.
    pub fn check_logged(&mut self) {
        let ended: Vec<_> = self.group.take_ended().collect();
        ended.into_iter().for_each(|entry| self.logged.ends(entry));
        let is_open = |line: &&Line| line.state != State::Ended;
        let open = self.ledger.lines.iter().filter(is_open).filter_map(|line| line.facts.entry);
        let open: BTreeSet<_> = open.filter(|entry| !self.logged.handed_over.contains(entry)).collect();
        assert_eq!(self.logged.open, open);
    }

    /// The process ends here: does another one with the same log have the same messages, each in its lane and order?
    pub fn check_restart(&self) {
        let settings = Settings { is_durable: true, ..self.settings };
        let mut again: Group<u32, _> = Group::new(settings, Strategy::Auto, Parameters::default(), 1);
        for entry in &self.logged.open {
            let line = &self.ledger.lines[entry.get() as usize - 1];
            again.restore(line.handle.clone(), line.facts, self.now_us);
        }
        let view = again.view(self.now_us);
        assert_eq!((view.critical + view.bulk, again.has_actions()), (self.logged.open.len(), false));
        again.tick(self.now_us);
        let counters = *again.counters();
        assert_eq!(counters.published, counters.ended() + again.queued() as u64);
    }
}

fn logged(rig: &Rig, qos: QoS, entry: u64) -> Facts {
    Facts { entry: NonZeroU64::new(entry), ..rig.facts(qos) }
}

fn ended(rig: &mut Rig) -> Vec<u64> {
    rig.group.take_ended().map(NonZeroU64::get).collect()
}

/// Each way to end: is it told under the message's number, once?
#[test]
fn every_end_is_told() {
    let mut rig = Rig::of(1, 10);
    for entry in 1..=4 {
        assert!(rig.group.publish(entry as u32, logged(&rig, QOS_1, entry), rig.now_us));
    }
    rig.collect();
    let ids: Vec<_> = rig.sent.iter().filter_map(|sent| sent.id).collect();
    assert!(rig.acknowledge(1, ids[2]) && !rig.acknowledge(1, ids[2]));
    assert_eq!(ended(&mut rig), [3]);
    assert!(rig.group.refused(1, lapwing_groups::Epoch(1), ids[0], rig.now_us));
    assert!(rig.group.undeliverable(1, lapwing_groups::Epoch(1), ids[3], rig.now_us));
    assert_eq!(ended(&mut rig), [1, 4]);
    rig.end(1, 1, &[]);
    assert_eq!(ended(&mut rig), [2], "the group has nobody any more and is not durable");
}

/// What ends when it comes: is it left out of the log, and its end not told?
#[test]
fn what_ends_at_once_is_not_logged() {
    let mut rig =
        Rig::new(Strategy::RoundRobin, Settings { is_durable: true, queue_messages_max: 0, ..Settings::default() });
    assert!(!rig.group.publish(1, logged(&rig, QOS_1, 1), rig.now_us));
    rig.join_as(1, lapwing_dispatch::Declaration::processed(1, 1), QOS_0);
    assert!(!rig.group.publish(2, logged(&rig, QOS_2, 2), rig.now_us), "its member takes it with QoS 0");
    assert!(!rig.group.publish(3, rig.facts(QOS_1), rig.now_us), "it has no number");
    assert!(ended(&mut rig).is_empty());
}

/// Drop-oldest: is the end of the older one told, and the new one logged?
#[test]
fn who_gives_way_is_told() {
    let mut rig =
        Rig::new(Strategy::RoundRobin, Settings { is_durable: true, queue_messages_max: 1, ..Settings::default() });
    assert!(rig.group.publish(1, logged(&rig, QOS_1, 1), rig.now_us));
    assert!(rig.group.publish(2, logged(&rig, QOS_1, 2), rig.now_us));
    assert_eq!(ended(&mut rig), [1]);
}

/// QoS 2 that is logged: is it nobody's before it is committed, does what is behind it of its key wait, do others pass, and
/// does one that ends at once leave nothing?
#[test]
fn qos_2_is_bound_when_it_is_committed() {
    let mut rig = Rig::of(1, 10);
    let of_key = |rig: &Rig, qos, entry, key| Facts { key: Some(key), ..logged(rig, qos, entry) };
    for (entry, qos, key) in [(1, QOS_2, 7), (2, QOS_1, 7), (3, QOS_1, 8), (4, QOS_2, 7), (5, QOS_2, 9)] {
        assert!(rig.group.publish(entry as u32, of_key(&rig, qos, entry, key), rig.now_us));
    }
    let sent = |rig: &mut Rig| {
        rig.collect();
        rig.take_sent().into_iter().map(|(_, message)| message).collect::<Vec<_>>()
    };
    assert_eq!(sent(&mut rig), [3]);
    let entry = |entry| NonZeroU64::new(entry).unwrap();
    rig.group.committed(entry(3), rig.now_us);
    assert_eq!(sent(&mut rig), [1, 2]);
    rig.group.committed(entry(5), rig.now_us);
    assert_eq!(sent(&mut rig), [4, 5]);
    assert!(rig.group.publish(6, logged(&rig, QOS_2, 6), rig.now_us));
    rig.group.forget(rig.now_us);
    assert_eq!(sent(&mut rig), [6], "nobody logs it any more");
}

/// A group that is kept no more: does it tell of nothing that was logged before?
#[test]
fn what_is_forgotten_is_not_told() {
    let mut rig = Rig::of(1, 1);
    for entry in 1..=3 {
        assert!(rig.group.publish(entry as u32, logged(&rig, QOS_1, entry), rig.now_us));
    }
    rig.collect();
    rig.group.forget(rig.now_us);
    let first = rig.last(1);
    assert!(rig.acknowledge(1, first));
    rig.end(1, 1, &[]);
    assert!(ended(&mut rig).is_empty() && rig.group.is_over());
}

/// What an earlier life had, critical and bulk, more than may wait: does all of it go out, in its order, as repeated?
#[test]
fn what_was_kept_goes_out_in_its_order() {
    let mut rig =
        Rig::new(Strategy::RoundRobin, Settings { is_durable: true, queue_messages_max: 1, ..Settings::default() });
    for (message, is_critical) in [(1, false), (2, true), (3, false), (4, true)] {
        let facts = logged(&rig, QOS_1, u64::from(message));
        rig.group.restore(message, if is_critical { facts.critical() } else { facts }, rig.now_us);
    }
    rig.join(1, 10);
    assert!(rig.sent.iter().all(|sent| sent.is_repeated));
    assert_eq!(rig.take_sent().into_iter().map(|(_, message)| message).collect::<Vec<_>>(), [2, 4, 1, 3]);
}
