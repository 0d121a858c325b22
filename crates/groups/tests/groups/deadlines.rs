//! Deadlines and expiry: what is missed, what happens to what is too late, and that the group wakes for it.

use std::num::NonZeroU64;

use lapwing_codec::QoS;
use lapwing_dispatch::{Declaration, Stamps, Strategy};
use lapwing_groups::{Action, DropReason, Epoch, Expired, Facts, Settings};

use crate::rig::{MS, QOS_0, QOS_1, QOS_2, Rig, S};

fn due_in(rig: &Rig, qos: QoS, deadline_us: u64) -> Facts {
    Facts { deadline_us: Some(deadline_us), ..rig.facts(qos) }
}

fn away(expired: Expired) -> Rig {
    let mut rig = Rig::new(Strategy::RoundRobin, Settings { expired, ..Settings::default() });
    rig.join(1, 10);
    rig.lost(1, &[]);
    rig
}

#[test]
fn who_declares_is_measured_by_the_end_of_its_work_and_others_by_when_they_were_sent_to() {
    for (is_processed, missed) in [(true, 1), (false, 0)] {
        let mut rig = Rig::new(Strategy::RoundRobin, Settings::default());
        let declare = if is_processed { Declaration::processed } else { Declaration::standard };
        rig.join_as(1, declare(1, 10), QOS_2);
        rig.publish_as(1, due_in(&rig, QOS_1, 10 * MS).critical());
        let stamps = Stamps { written_us: rig.now_us + 10 * MS, read_us: rig.now_us + 10 * MS + 1 };
        assert!(rig.acknowledge_at(1, Epoch(1), rig.last(1), stamps));
        let counters = rig.group.counters();
        assert_eq!((counters.missed, counters.missed_critical), (missed, missed));
        assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.tally.missed), Some(missed));
    }
}

#[test]
fn a_deadline_counts_from_ingress() {
    let mut rig = Rig::of(1, 10);
    let late = Facts { ingress_us: rig.now_us - 11 * MS, ..due_in(&rig, QOS_0, 10 * MS) };
    rig.publish_as(1, late);
    rig.publish_as(2, due_in(&rig, QOS_0, 0));
    assert_eq!(rig.group.counters().missed, 1);
}

#[test]
fn late_work_is_delivered_dropped_or_a_dead_letter() {
    for expired in [Expired::Deliver, Expired::Drop, Expired::DeadLetter] {
        let mut rig = away(expired);
        rig.publish_as(1, due_in(&rig, QOS_1, 10 * MS).critical());
        rig.publish(2, QOS_1);
        rig.wait(10 * MS);
        assert_eq!(rig.group.queued(), 2, "not before its time");
        rig.wait(1);
        let counters = *rig.group.counters();
        let is_kept = expired == Expired::Deliver;
        assert_eq!(rig.group.queued(), if is_kept { 2 } else { 1 });
        assert_eq!((counters.expired, counters.missed_critical), if is_kept { (0, 0) } else { (1, 1) });
        assert_eq!(rig.dropped(DropReason::DeadlinePassed), u64::from(expired == Expired::Drop));
        let is_dead = expired == Expired::DeadLetter;
        assert_eq!(rig.dead, if is_dead { vec![(1, DropReason::DeadlinePassed)] } else { vec![] });
        assert_eq!(counters.dead_lettered(DropReason::DeadlinePassed), u64::from(is_dead));
        rig.back(1, 2, 10);
        assert_eq!(rig.take_sent(), if is_kept { vec![(1, 1), (1, 2)] } else { vec![(1, 2)] });
    }
}

#[test]
fn what_has_expired_is_never_delivered() {
    for expired in [Expired::Deliver, Expired::DeadLetter] {
        let mut rig = away(expired);
        let expires_at_us = Some(rig.now_us + S);
        rig.publish_as(1, Facts { expires_at_us, ..rig.facts(QOS_1) });
        rig.wait(S);
        rig.publish_as(2, Facts { expires_at_us, ..rig.facts(QOS_0) });
        rig.back(1, 2, 10);
        assert_eq!(rig.take_sent(), []);
        let is_dead = expired == Expired::DeadLetter;
        assert_eq!(rig.dropped(DropReason::MessageExpired), if is_dead { 0 } else { 2 });
        assert_eq!(rig.dead.len(), if is_dead { 2 } else { 0 });
        assert_eq!((rig.group.counters().expired, rig.group.counters().missed), (2, 0));
    }
}

#[test]
fn another_setting_holds_for_what_waits() {
    let mut rig = away(Expired::Deliver);
    rig.publish_as(1, due_in(&rig, QOS_1, MS));
    rig.wait(S);
    rig.group.set_settings(Settings { expired: Expired::DeadLetter, ..Settings::default() }, rig.now_us);
    rig.collect();
    assert_eq!(rig.dead, [(1, DropReason::DeadlinePassed)]);
}

#[test]
fn what_comes_back_too_late_ends_there() {
    let mut rig = Rig::new(Strategy::RoundRobin, Settings { expired: Expired::Drop, ..Settings::default() });
    rig.join(1, 10);
    rig.publish_as(1, due_in(&rig, QOS_1, MS));
    rig.now_us += S;
    rig.join(2, 10);
    rig.lost(1, &[]);
    assert_eq!(rig.take_sent(), [(1, 1)]);
    assert_eq!(rig.dropped(DropReason::DeadlinePassed), 1);
}

#[test]
fn a_group_with_nothing_to_do_sleeps() {
    let mut rig = Rig::of(1, 10);
    assert_eq!(rig.group.next_wake_us(rig.now_us), None);
    rig.publish(1, QOS_1);
    assert!(rig.group.next_wake_us(rig.now_us).is_some(), "its member may stall");
    assert!(rig.acknowledge(1, rig.last(1)));
    rig.wait(S);
    assert_eq!(rig.group.next_wake_us(rig.now_us), None);
}

#[test]
fn each_miss_is_told_where_that_is_set() {
    for tells_missed in [true, false] {
        let settings = Settings { tells_missed, expired: Expired::DeadLetter, ..Settings::default() };
        let mut rig = Rig::new(Strategy::RoundRobin, settings);
        rig.join(1, 1);
        rig.publish_as(1, due_in(&rig, QOS_1, 10 * MS));
        rig.publish_as(2, due_in(&rig, QOS_1, 20 * MS).critical());
        rig.publish_as(3, due_in(&rig, QOS_1, S));
        rig.wait(30 * MS);
        assert!(rig.acknowledge(1, rig.last(1)));
        assert!(rig.acknowledge(1, rig.last(1)));
        rig.publish_as(4, Facts { ingress_us: rig.now_us - 2 * MS, ..due_in(&rig, QOS_0, MS) });
        let all = [(None, 2, 20 * MS + 1), (Some(1), 1, 30 * MS), (None, 4, MS + 1)];
        assert_eq!(rig.missed, if tells_missed { all.to_vec() } else { vec![] });
        assert_eq!((rig.group.counters().missed, rig.group.counters().missed_critical), (3, 1));
        assert_eq!(rig.dead.len(), 2, "told and a dead letter");
    }
}

#[test]
fn what_expires_after_its_deadline_has_missed_it() {
    let mut rig = Rig::new(Strategy::RoundRobin, Settings { tells_missed: true, ..Settings::default() });
    rig.join(1, 10);
    rig.lost(1, &[]);
    for (message, deadline_us) in [(1, MS), (2, 2 * S)] {
        let expires_at_us = Some(rig.now_us + S);
        rig.publish_as(message, Facts { expires_at_us, ..due_in(&rig, QOS_1, deadline_us) });
    }
    rig.wait(3 * S);
    assert_eq!(rig.missed, [(None, 1, S)]);
    assert_eq!((rig.group.counters().expired, rig.group.counters().missed), (2, 1));
}

/// A message that comes too late was acknowledged like any other: a letter of it is not on disk yet, so the group has it in the
/// log until it is. One that is dropped at once need not be there.
#[test]
fn what_comes_too_late_is_logged_where_it_becomes_a_letter() {
    for (expired, becomes_a_letter) in [(Expired::DeadLetter, true), (Expired::Drop, false)] {
        let settings = Settings { expired, is_durable: true, ..Settings::default() };
        let mut rig = Rig::new(Strategy::RoundRobin, settings);
        let facts = Facts { entry: NonZeroU64::new(7), expires_at_us: Some(rig.now_us - 1), ..rig.facts(QOS_1) };
        assert_eq!(rig.group.publish(1, facts, rig.now_us), becomes_a_letter);
        let letters: Vec<_> = rig.group.take_actions().filter_map(logged_letter).collect();
        assert_eq!(letters, facts.entry.filter(|_| becomes_a_letter).as_slice());
        assert_eq!(rig.group.take_ended().count(), 0, "its end is told by who takes the letter");
    }
}

fn logged_letter(action: Action<u32, u32>) -> Option<NonZeroU64> {
    match action {
        Action::DeadLetter { facts, .. } => facts.entry,
        _ => None,
    }
}
