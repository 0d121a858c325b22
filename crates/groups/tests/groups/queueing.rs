//! What waits, in which order, and what gives way.

use lapwing_dispatch::{Declaration, Report, Strategy};
use lapwing_groups::{DropReason, Epoch, Facts, Overflow, Settings};

use crate::rig::{MS, QOS_0, QOS_1, Rig};

/// One member that has room for one message, which it has: what comes waits.
fn busy(settings: Settings) -> Rig {
    let mut rig = Rig::new(Strategy::RoundRobin, settings);
    rig.join(1, 1);
    rig.publish(0, QOS_1);
    rig
}

/// Lets member 1 finish one message after the other; the messages in the order in which it got them.
fn work_off(rig: &mut Rig) -> Vec<u32> {
    let mut order = Vec::new();
    while let Some(sent) = rig.sent.pop() {
        order.push(sent.message);
        assert!(rig.acknowledge(1, sent.id.expect("QoS 1")));
    }
    order
}

#[test]
fn critical_goes_first_and_each_lane_keeps_its_order() {
    let mut rig = busy(Settings::default());
    for message in 1..=6 {
        let facts = rig.facts(QOS_1);
        rig.publish_as(message, if message % 3 == 0 { facts.critical() } else { facts });
    }
    assert_eq!(rig.group.view(rig.now_us).critical, 2);
    assert_eq!(work_off(&mut rig), [0, 3, 6, 1, 2, 4, 5]);
}

#[test]
fn nothing_is_bound_before_somebody_may_have_it() {
    let mut rig = busy(Settings::default());
    rig.publish(1, QOS_1);
    rig.publish(2, QOS_1);
    assert_eq!(rig.take_sent(), [(1, 0)]);
    rig.join(2, 1);
    assert_eq!(rig.take_sent(), [(2, 1)]);
    assert_eq!(rig.group.queued(), 1);
}

#[test]
fn when_it_is_full_bulk_gives_way_by_age() {
    for (overflow, left) in [(Overflow::DropOldest, [0, 4, 2, 3]), (Overflow::DropNewest, [0, 4, 1, 2])] {
        let mut rig = busy(Settings { queue_messages_max: 3, overflow, ..Settings::default() });
        (1..=3).for_each(|message| rig.publish(message, QOS_1));
        rig.publish_as(4, rig.facts(QOS_1).critical());
        assert_eq!(rig.dropped(DropReason::QueueFull), 1);
        assert_eq!(work_off(&mut rig), left, "{overflow:?}");
    }
}

#[test]
fn bulk_never_drives_out_critical() {
    for overflow in [Overflow::DropOldest, Overflow::DropNewest] {
        let mut rig = busy(Settings { queue_messages_max: 2, overflow, ..Settings::default() });
        (1..=2).for_each(|message| rig.publish_as(message, rig.facts(QOS_1).critical()));
        rig.publish(3, QOS_1);
        assert_eq!(work_off(&mut rig), [0, 1, 2], "{overflow:?}");
    }
}

#[test]
fn bytes_are_bounded_and_one_that_is_too_large_drives_nobody_out() {
    let mut rig = busy(Settings { queue_bytes_max: 30, ..Settings::default() });
    (1..=3).for_each(|message| rig.publish(message, QOS_1));
    rig.publish_as(9, Facts { bytes: 31, ..rig.facts(QOS_1) });
    assert_eq!(rig.group.view(rig.now_us).bytes, 30);
    rig.publish_as(4, Facts { bytes: 15, ..rig.facts(QOS_1) });
    assert_eq!(rig.dropped(DropReason::QueueFull), 3);
    assert_eq!(work_off(&mut rig), [0, 3, 4]);
}

#[test]
fn one_that_is_too_large_waits_alone() {
    let mut rig = busy(Settings { queue_bytes_max: 30, ..Settings::default() });
    rig.publish_as(9, Facts { bytes: 31, ..rig.facts(QOS_1) });
    assert_eq!((rig.group.view(rig.now_us).bytes, rig.dropped(DropReason::QueueFull)), (31, 0));
    assert_eq!(work_off(&mut rig), [0, 9]);
}

#[test]
fn what_comes_back_is_let_in_and_no_reason_to_drop_more_than_what_comes_next() {
    for settings in [
        Settings { queue_messages_max: 1, ..Settings::default() },
        Settings { queue_bytes_max: 10, ..Settings::default() },
    ] {
        let mut rig = Rig::new(Strategy::RoundRobin, settings);
        rig.join(1, 3);
        (0..3).for_each(|message| rig.publish(message, QOS_1));
        rig.lost(1, &[]);
        assert_eq!((rig.group.queued(), rig.dropped(DropReason::QueueFull)), (3, 0));
        rig.publish(3, QOS_1);
        assert_eq!((rig.group.queued(), rig.dropped(DropReason::QueueFull)), (3, 1));
    }
}

#[test]
fn narrower_bounds_hold_at_once() {
    let mut rig = busy(Settings::default());
    (1..=5).for_each(|message| rig.publish(message, QOS_1));
    rig.group.set_settings(Settings { queue_messages_max: 2, ..Settings::default() }, rig.now_us);
    assert_eq!((rig.group.queued(), rig.dropped(DropReason::QueueFull)), (2, 3));
}

#[test]
fn qos_0_goes_past_the_queue_or_is_dropped_under_a_name() {
    let mut rig = busy(Settings::default());
    rig.publish(1, QOS_1);
    rig.publish(2, QOS_0);
    assert_eq!(rig.sent.last().map(|sent| (sent.message, sent.id)), Some((2, None)));
    let paused = Report { is_paused: Some(true), ..Report::default() };
    rig.group.report(1, Epoch(1), &paused, rig.now_us).expect("a good report");
    rig.publish(3, QOS_0);
    rig.lost(1, &[]);
    rig.publish(4, QOS_0);
    assert_eq!((rig.dropped(DropReason::GroupBusy), rig.dropped(DropReason::GroupEmpty)), (1, 1));
    assert_eq!(rig.group.queued(), 2);
}

#[test]
fn who_is_away_finds_it_waiting() {
    let mut rig = Rig::of(2, 10);
    rig.lost(1, &[]);
    rig.lost(2, &[]);
    (1..=3).for_each(|message| rig.publish(message, QOS_1));
    assert_eq!((rig.take_sent(), rig.group.queued()), (vec![], 3));
    rig.back(2, 2, 10);
    assert_eq!(rig.take_sent(), [(2, 1), (2, 2), (2, 3)]);
}

#[test]
fn without_a_member_only_a_durable_group_keeps_anything() {
    let mut rig = Rig::new(Strategy::Auto, Settings::default());
    rig.publish(1, QOS_1);
    assert!(rig.group.is_over() && !rig.group.takes_messages());
    assert_eq!(rig.dropped(DropReason::GroupEmpty), 1);
    rig.group.set_settings(Settings { is_durable: true, ..Settings::default() }, rig.now_us);
    rig.publish(2, QOS_1);
    rig.join(1, 10);
    assert_eq!(rig.take_sent(), [(1, 2)]);
    rig.end(1, 1, &[]);
    assert_eq!((rig.group.queued(), rig.group.is_over()), (1, false));
    rig.group.set_settings(Settings::default(), rig.now_us);
    assert_eq!((rig.dropped(DropReason::GroupEnded), rig.group.is_over()), (1, true));
}

#[test]
fn who_is_paused_gets_nothing_until_it_says_so() {
    let mut rig = Rig::of(1, 10);
    let report = |is_paused| Report { is_paused: Some(is_paused), ..Report::default() };
    rig.group.report(1, Epoch(1), &report(true), rig.now_us).expect("a good report");
    rig.publish(1, QOS_1);
    assert_eq!(rig.take_sent(), []);
    rig.group.report(1, Epoch(1), &report(false), rig.now_us).expect("a good report");
    rig.collect();
    assert_eq!(rig.take_sent(), [(1, 1)]);
}

#[test]
fn who_stays_paused_is_tried_again_without_anything_coming() {
    let mut rig = Rig::of(1, 10);
    let paused = Report { is_paused: Some(true), ..Report::default() };
    rig.group.report(1, Epoch(1), &paused, rig.now_us).expect("a good report");
    rig.publish(1, QOS_1);
    rig.wait(60_000 * MS);
    assert_eq!(rig.take_sent(), [(1, 1)]);
}

#[test]
fn a_report_of_an_earlier_connection_is_not_believed() {
    let mut rig = Rig::of(1, 10);
    let report = Report { queue: Some(3), ..Report::default() };
    assert!(rig.group.report(1, Epoch(0), &report, rig.now_us).is_err());
    assert!(rig.group.report(7, Epoch(1), &report, rig.now_us).is_err());
    assert_eq!(rig.group.counters().stale_events, 2);
}

#[test]
fn the_view_tells_how_long_the_oldest_waits_and_what_members_have() {
    let mut rig = busy(Settings::default());
    assert_eq!(rig.group.view(rig.now_us).oldest_us, None);
    rig.publish_as(1, Facts { ingress_us: rig.now_us - 30 * MS, ..rig.facts(QOS_1) });
    rig.publish_as(2, rig.facts(QOS_1).critical());
    rig.now_us += 5 * MS;
    let view = rig.group.view(rig.now_us);
    assert_eq!((view.oldest_us, view.members, view.here, view.assigned), (Some(35 * MS), 1, 1, 1));
    assert!(view.backlog_s.is_some_and(|seconds| seconds > 0.0));
    let member = rig.group.member(1, rig.now_us).expect("it has joined");
    assert_eq!((member.assigned, member.tally.bound), (1, 1));
    assert_eq!(member.dispatch.map(|seen| (seen.inflight, seen.limit)), Some((1, 1)));
    rig.lost(1, &[]);
    let member = rig.group.member(1, rig.now_us).expect("its session lives");
    assert!(member.dispatch.is_none() && rig.group.view(rig.now_us).backlog_s.is_none());
}

#[test]
fn a_member_that_is_granted_qos_0_has_nothing_to_acknowledge_and_only_its_turn() {
    let mut rig = Rig::new(Strategy::Auto, Settings::default());
    rig.join_as(1, Declaration::processed(1, 100), QOS_0);
    rig.join_as(2, Declaration::processed(2, 100), QOS_1);
    for message in 0..100 {
        rig.publish(message, QOS_1);
        if let Some(id) = rig.sent.last().and_then(|sent| sent.id) {
            rig.now_us += MS;
            assert!(rig.acknowledge(2, id));
        }
    }
    let to_first = rig.sent.iter().filter(|sent| sent.to == 1).count();
    assert!((25..=60).contains(&to_first), "{to_first} of 100");
    assert_eq!(rig.group.counters().unacknowledged, to_first as u64);
    assert_eq!(rig.group.view(rig.now_us).assigned, 0);
}
