//! Members that stop answering, and groups that fall behind.

use lapwing_dispatch::{Declaration, Stamps};
use lapwing_groups::{Epoch, MemberOptions, Notice, Presence, Settings};

use crate::rig::{MS, QOS_1, QOS_2, Rig, S};

/// Two members; the first gets a message and says nothing.
fn stalled() -> Rig {
    let mut rig = Rig::of(2, 10);
    rig.publish(1, QOS_1);
    rig.publish(2, QOS_2);
    rig.publish(3, QOS_2);
    let second = rig.last(2);
    assert!(rig.acknowledge(2, second));
    rig.wait(5 * S);
    rig
}

#[test]
fn who_stalls_is_kicked_once_and_what_it_had_moves_when_its_connection_is_over() {
    let mut rig = stalled();
    assert_eq!(rig.kicked, [(1, Epoch(1))]);
    assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.presence), Some(Presence::Kicked));
    let had: Vec<_> = rig.sent.iter().filter(|sent| sent.to == 1).filter_map(|sent| sent.id).collect();
    rig.take_sent();
    rig.wait(5 * S);
    assert_eq!(rig.take_sent(), [], "it may still have it");
    rig.lost(1, &had);
    assert_eq!(rig.take_sent(), [(2, 1)], "QoS 2 stays");
    assert_eq!((rig.group.counters().kicks, rig.kicked.len()), (1, 1));
}

/// Who finishes nothing before it is sent away: is it named, at the second time and not again?
#[test]
fn who_stalls_twice_in_a_row_is_named_once() {
    let mut rig = Rig::of(1, 1);
    rig.publish(1, QOS_1);
    for stalls in 1..=4 {
        rig.wait(100 * S);
        assert_eq!(rig.kicked.len(), stalls);
        let told = if stalls < 2 { vec![] } else { vec![Notice::StallsAgain { member: 1 }] };
        assert_eq!(rig.notices, told);
        rig.group.lost(1, Epoch(stalls as u64), lapwing_groups::Written::Unknown, rig.now_us);
        rig.back(1, stalls as u64 + 1, 1);
    }
}

#[test]
fn a_puback_that_crosses_the_kick_still_counts() {
    let mut rig = stalled();
    let first = rig.sent[0].id.expect("QoS 1");
    rig.take_sent();
    assert!(rig.acknowledge(1, first));
    rig.lost(1, &[]);
    assert_eq!(rig.take_sent(), [(2, 3)], "the other one was not written");
    assert_eq!(rig.group.counters().redelivered, 0);
}

#[test]
fn a_kicked_member_gets_nothing_and_is_readmitted_with_one_message_at_a_time() {
    let mut rig = stalled();
    rig.take_sent();
    (4..8).for_each(|message| rig.publish(message, QOS_1));
    assert!(rig.take_sent().iter().all(|&(to, _)| to == 2));
    rig.lost(1, &[]);
    rig.take_sent();
    rig.back(1, 2, 10);
    (8..14).for_each(|message| rig.publish(message, QOS_1));
    assert_eq!(rig.take_sent().iter().filter(|&&(to, _)| to == 1).count(), 1);
    assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.tally.kicks), Some(1));
}

#[test]
fn whoever_answers_in_time_is_left_alone() {
    let mut rig = Rig::of(1, 10);
    for message in 0..40 {
        rig.publish(message, QOS_1);
        let written_us = rig.now_us;
        rig.wait(500 * MS);
        let stamps = Stamps { written_us, read_us: rig.now_us };
        assert!(rig.acknowledge_at(1, Epoch(1), rig.last(1), stamps));
    }
    assert_eq!(rig.kicked, []);
}

#[test]
fn a_group_says_once_that_it_falls_behind_and_once_that_it_has_caught_up() {
    let mut rig = Rig::of(1, 1);
    rig.group.set_settings(Settings { behind_s: 0.5, ..Settings::default() }, rig.now_us);
    // By its first estimate, 20 ms a message, that is a second of work.
    (0..50).for_each(|message| rig.publish(message, QOS_1));
    rig.wait(300 * MS);
    assert!(matches!(rig.notices[..], [Notice::FellBehind { backlog_s: Some(_) }]), "{:?}", rig.notices);
    let mut left = Vec::new();
    for _ in 0..50 {
        let id = rig.last(1);
        let written_us = rig.now_us;
        rig.wait(20 * MS);
        assert!(rig.acknowledge_at(1, Epoch(1), id, Stamps { written_us, read_us: rig.now_us }));
        left.push((rig.group.queued(), rig.notices.len()));
    }
    rig.wait(S);
    assert!(matches!(rig.notices[1..], [Notice::CaughtUp { .. }]), "{:?}", rig.notices);
    let told_at = left.iter().find(|(_, notices)| *notices == 2).map_or(0, |(queued, _)| *queued);
    assert!(told_at < 25, "below half: {told_at}");
    assert_eq!(rig.group.counters().fell_behind, 1);
}

#[test]
fn a_group_whose_members_are_all_away_is_behind_as_soon_as_anything_waits() {
    let mut rig = Rig::of(1, 10);
    rig.lost(1, &[]);
    rig.publish(1, QOS_1);
    rig.wait(S);
    assert_eq!(rig.notices, [Notice::FellBehind { backlog_s: None }]);
    assert_eq!(rig.group.next_wake_us(rig.now_us), None, "there is nothing to do until one is back");
    rig.back(1, 2, 10);
    rig.wait(300 * MS);
    assert!(matches!(rig.notices[1..], [Notice::CaughtUp { backlog_s: Some(_) }]));
}

#[test]
fn who_acknowledges_on_receipt_is_named_once() {
    let mut rig = Rig::of(0, 1);
    rig.group.set_strategy(lapwing_dispatch::Strategy::Auto, rig.now_us);
    (1..=3).for_each(|member| rig.join_as(member, Declaration::standard(u64::from(member), 100), QOS_1));
    for message in 0..600 {
        rig.publish(message, QOS_1);
        rig.now_us += 5 * MS;
        let Some(sent) = rig.sent.pop() else { continue };
        let stamps = Stamps { written_us: rig.now_us - 5 * MS, read_us: rig.now_us - 5 * MS + 20 };
        rig.acknowledge_at(sent.to, Epoch(1), sent.id.expect("QoS 1"), stamps);
    }
    assert_eq!(rig.notices.len(), 1, "{:?}", rig.notices);
    assert!(matches!(rig.notices[0], Notice::AcknowledgesOnReceipt { .. }));
}

#[test]
fn who_subscribes_again_between_kick_and_close_is_not_chosen_and_not_kicked_again() {
    let mut rig = stalled();
    rig.unsubscribe(1);
    rig.join(1, 10);
    assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.presence), Some(Presence::Kicked));
    rig.wait(5 * S);
    assert_eq!(rig.kicked, [(1, Epoch(1))]);
    rig.lost(1, &[]);
    rig.back(1, 2, 10);
    assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.presence), Some(Presence::Here));
    let options = MemberOptions { declaration: Declaration::processed(1, 10), qos_max: QOS_1 };
    rig.group.join(1, Epoch(2), options, rig.now_us);
    assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.presence), Some(Presence::Here));
}
