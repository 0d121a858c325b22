//! Members that are lost, come back, are taken over, unsubscribe and end; what becomes of what they had.

use lapwing_dispatch::{Declaration, Stamps, Strategy};
use lapwing_groups::{DropReason, Epoch, MemberOptions, Presence, Settings, Written};

use crate::rig::{MS, QOS_1, QOS_2, Rig, S};

#[test]
fn what_a_lost_member_had_goes_to_others_first_and_in_its_old_order() {
    let mut rig = Rig::of(1, 3);
    (1..=5).for_each(|message| rig.publish(message, QOS_1));
    let written: Vec<_> = rig.sent.iter().filter(|sent| sent.message != 2).filter_map(|sent| sent.id).collect();
    rig.sent.clear();
    rig.lost(1, &written);
    rig.join(2, 10);
    let repeated: Vec<_> = rig.sent.iter().map(|sent| (sent.message, sent.is_repeated)).collect();
    assert_eq!(repeated, [(1, true), (2, false), (3, true), (4, false), (5, false)]);
    assert_eq!((rig.group.counters().moved, rig.group.counters().redelivered), (3, 2));
    assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.tally.moved), Some(3));
}

#[test]
fn a_late_puback_of_what_moved_is_counted_and_nothing_else() {
    let mut rig = Rig::of(2, 10);
    rig.publish(1, QOS_1);
    let first = rig.last(1);
    rig.lost(1, &[first]);
    assert!(!rig.acknowledge(1, first));
    rig.back(1, 2, 10);
    assert!(!rig.acknowledge(1, first));
    assert!(rig.acknowledge(2, rig.last(2)));
    let counters = rig.group.counters();
    assert_eq!((counters.late_acknowledgements, counters.acknowledged, counters.redelivered), (2, 1, 1));
}

#[test]
fn qos_2_that_was_written_stays_and_ends_on_a_later_connection() {
    let mut rig = Rig::of(2, 10);
    rig.publish(1, QOS_2);
    let id = rig.last(1);
    rig.take_sent();
    rig.lost(1, &[id]);
    // The second connection is lost before anything is written on it.
    rig.back(1, 2, 10);
    rig.group.lost(1, Epoch(2), Written::These(&[]), rig.now_us);
    rig.back(1, 3, 10);
    assert_eq!(rig.take_sent(), []);
    assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.assigned), Some(1));
    let stamps = Stamps { written_us: rig.now_us, read_us: rig.now_us };
    assert!(rig.acknowledge_at(1, Epoch(3), id, stamps));
    assert!(!rig.acknowledge_at(1, Epoch(3), id, stamps));
}

#[test]
fn qos_2_that_is_kept_counts_against_what_the_member_may_have() {
    let mut rig = Rig::of(1, 2);
    rig.publish(1, QOS_2);
    let id = rig.last(1);
    rig.lost(1, &[id]);
    rig.back(1, 2, 1);
    rig.publish(2, QOS_1);
    assert_eq!(rig.group.queued(), 1);
    let stamps = Stamps { written_us: rig.now_us, read_us: rig.now_us };
    assert!(rig.acknowledge_at(1, Epoch(2), id, stamps));
    assert_eq!(rig.group.queued(), 0);
}

#[test]
fn qos_2_that_was_not_written_moves() {
    let mut rig = Rig::of(2, 10);
    rig.publish(1, QOS_2);
    rig.lost(1, &[]);
    assert_eq!(rig.take_sent(), [(1, 1), (2, 1)]);
    assert_eq!(rig.group.counters().redelivered, 0);
}

#[test]
fn qos_2_ends_with_its_session() {
    let mut rig = Rig::of(2, 10);
    (1..=3).for_each(|message| rig.publish(message, QOS_2));
    let first = rig.sent[0].id.expect("QoS 2");
    rig.take_sent();
    rig.end(1, 1, &[first]);
    assert_eq!(rig.take_sent(), [(2, 3)]);
    assert_eq!(rig.dropped(DropReason::SessionEnded), 1);
    assert!(rig.group.member(1, rig.now_us).is_none());
}

#[test]
fn qos_2_of_who_is_granted_qos_1_moves_as_qos_1() {
    let mut rig = Rig::of(0, 10);
    rig.join_as(1, Declaration::processed(1, 10), QOS_1);
    rig.publish(1, QOS_2);
    let id = rig.last(1);
    rig.join(2, 10);
    rig.lost(1, &[id]);
    assert_eq!(rig.sent.last().map(|sent| (sent.to, sent.is_repeated)), Some((2, true)));
}

#[test]
fn a_refusal_ends_a_message_and_nobody_else_gets_it() {
    let mut rig = Rig::of(2, 10);
    rig.publish(1, QOS_1);
    let id = rig.last(1);
    assert!(rig.group.refused(1, Epoch(1), id, rig.now_us));
    assert!(!rig.group.refused(1, Epoch(1), id, rig.now_us));
    rig.lost(1, &[]);
    assert_eq!(rig.take_sent(), [(1, 1)]);
    assert_eq!(rig.group.counters().refused, 1);
}

#[test]
fn a_refusal_makes_room() {
    let mut rig = Rig::of(1, 1);
    (1..=2).for_each(|message| rig.publish(message, QOS_1));
    assert!(rig.group.refused(1, Epoch(1), rig.last(1), rig.now_us));
    rig.collect();
    assert_eq!(rig.take_sent(), [(1, 1), (1, 2)]);
}

#[test]
fn what_a_member_cannot_have_and_what_it_hands_back_goes_to_another() {
    let mut rig = Rig::of(2, 10);
    rig.publish(1, QOS_1);
    assert!(rig.group.undeliverable(1, Epoch(1), rig.last(1), rig.now_us));
    rig.collect();
    let moved = rig.last(2);
    assert_eq!((rig.take_sent(), rig.dropped(DropReason::Undeliverable)), (vec![(1, 1), (2, 1)], 0));
    assert!(rig.acknowledge(2, moved));
    rig.publish(2, QOS_1);
    let id = rig.last(2);
    rig.unsubscribe(2);
    rig.take_sent();
    assert!(rig.group.handed_back(2, Epoch(1), id, rig.now_us));
    rig.collect();
    assert_eq!(rig.take_sent(), [(1, 2)]);
    assert!(rig.group.member(2, rig.now_us).is_none(), "it has left, and has nothing");
}

#[test]
fn who_unsubscribes_finishes_what_it_has_and_gets_no_more() {
    let mut rig = Rig::of(1, 10);
    rig.publish(1, QOS_1);
    let id = rig.last(1);
    rig.unsubscribe(1);
    assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.presence), Some(Presence::Leaving));
    assert!(!rig.group.takes_messages() && !rig.group.is_over());
    rig.publish(2, QOS_1);
    assert_eq!(rig.dropped(DropReason::GroupEmpty), 1);
    assert!(rig.acknowledge(1, id));
    assert!(rig.group.is_over());
}

#[test]
fn who_unsubscribed_and_is_lost_lets_go_of_qos_1() {
    let mut rig = Rig::of(2, 10);
    rig.publish(1, QOS_1);
    rig.unsubscribe(1);
    let id = rig.last(1);
    rig.lost(1, &[id]);
    assert_eq!(rig.take_sent(), [(1, 1), (2, 1)]);
    assert!(rig.group.member(1, rig.now_us).is_none());
}

#[test]
fn who_subscribes_again_keeps_what_it_has() {
    let mut rig = Rig::of(1, 1);
    rig.publish(1, QOS_1);
    let id = rig.last(1);
    rig.unsubscribe(1);
    rig.join(1, 1);
    rig.publish(2, QOS_1);
    assert_eq!(rig.group.queued(), 1, "its first message counts");
    assert!(rig.acknowledge(1, id));
    assert_eq!(rig.take_sent(), [(1, 1), (1, 2)]);
}

#[test]
fn new_options_hold_for_what_comes() {
    let mut rig = Rig::of(1, 10);
    rig.publish(1, QOS_2);
    rig.join_as(1, Declaration::processed(1, 10), QOS_1);
    rig.publish(2, QOS_2);
    let ids: Vec<_> = rig.sent.iter().filter_map(|sent| sent.id).collect();
    rig.join(2, 10);
    rig.lost(1, &ids);
    assert_eq!(rig.sent.last().map(|sent| sent.message), Some(2));
    assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.assigned), Some(1));
}

#[test]
fn a_connection_that_comes_before_the_end_of_the_last_one_ends_it() {
    let mut rig = Rig::of(2, 10);
    rig.publish(1, QOS_1);
    rig.publish(2, QOS_1);
    rig.publish(3, QOS_2);
    rig.take_sent();
    rig.back(1, 2, 10);
    // Any of it may have been written: QoS 2 stays, QoS 1 moves as a possible duplicate.
    assert_eq!(rig.sent.iter().map(|sent| (sent.message, sent.is_repeated)).collect::<Vec<_>>(), [(1, true)]);
    rig.lost(1, &[]);
    assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.presence), Some(Presence::Here));
    assert_eq!(rig.group.counters().stale_events, 1);
}

#[test]
fn words_of_earlier_connections_change_nothing() {
    let mut rig = Rig::of(1, 10);
    // Nobody subscribes over a connection that is over.
    rig.lost(1, &[]);
    rig.join(1, 10);
    assert_eq!(rig.group.member(1, rig.now_us).map(|member| member.presence), Some(Presence::Away));
    rig.back(1, 2, 10);
    let options = MemberOptions { declaration: Declaration::processed(1, 10), qos_max: QOS_1 };
    rig.lost(1, &[]);
    rig.back(1, 2, 10);
    rig.group.join(1, Epoch(1), options, rig.now_us);
    rig.unsubscribe(1);
    rig.end(1, 1, &[]);
    assert_eq!(rig.group.counters().stale_events, 6);
    assert_eq!(
        rig.group.member(1, rig.now_us).map(|member| (member.presence, member.epoch.0)),
        Some((Presence::Here, 2))
    );
}

#[test]
fn a_full_group_lets_nobody_else_in_and_counts_it() {
    let mut rig = Rig::new(Strategy::RoundRobin, Settings { members_max: 2, ..Settings::default() });
    rig.join(1, 10);
    rig.join(2, 10);
    rig.lost(2, &[]);
    assert!(rig.group.can_join(1) && rig.group.can_join(2), "members already");
    assert!(!rig.group.can_join(3));
    assert_eq!(rig.group.counters().joins_refused, 1);
    rig.publish(1, QOS_1);
    rig.unsubscribe(1);
    assert!(rig.group.can_join(3), "who has unsubscribed is no member, whatever it still has");
    rig.join(3, 10);
    assert!(!rig.group.can_join(1));
    rig.group.set_settings(Settings { members_max: 3, ..*rig.group.settings() }, rig.now_us);
    assert!(rig.group.can_join(1));
}

#[test]
fn a_declaration_changes_in_place() {
    let mut rig = Rig::of(1, 1);
    rig.publish(1, QOS_1);
    rig.publish(2, QOS_1);
    assert_eq!(rig.take_sent(), [(1, 1)]);
    let seen = |rig: &Rig| rig.group.member(1, rig.now_us).and_then(|member| member.dispatch).unwrap();
    let other = |receive_max| Declaration { workers: 4, ..Declaration::standard(1, receive_max) };
    rig.group.redeclare(1, Epoch(2), other(10), rig.now_us);
    rig.group.redeclare(7, Epoch(1), other(10), rig.now_us);
    assert_eq!((rig.group.counters().stale_events, rig.group.queued()), (2, 1));
    rig.group.redeclare(1, Epoch(1), other(10), rig.now_us);
    rig.collect();
    assert_eq!(seen(&rig).inflight, 2, "there is room now, and what it had is still its");
    rig.now_us += 7 * MS;
    let (first, second) = (rig.sent[0].id.expect("QoS 1"), rig.group.member(1, rig.now_us));
    assert_eq!(second.map(|member| member.assigned), Some(2));
    let stamps = Stamps { written_us: rig.now_us - 7 * MS, read_us: rig.now_us };
    assert!(rig.acknowledge_at(1, Epoch(1), first, stamps));
    let before = seen(&rig);
    rig.join_as(1, other(5), QOS_1);
    let after = seen(&rig);
    assert_eq!((after.service_ms, after.picks, after.inflight), (before.service_ms, before.picks, 1));
    assert_eq!((before.limit, after.limit), (10, 5));
}

#[test]
fn a_durable_group_ends_when_it_had_nobody_and_nothing_for_so_long() {
    let settings = Settings { is_durable: true, expires_after_us: Some(10 * S), ..Settings::default() };
    let mut rig = Rig::new(Strategy::RoundRobin, settings);
    let rest = |rig: &mut Rig| {
        rig.wait(9 * S);
        assert!(!rig.group.is_over());
    };
    rest(&mut rig);
    rig.publish(1, QOS_1);
    rig.wait(100 * S);
    assert!(!rig.group.is_over(), "a message waits");
    rig.join(1, 10);
    assert!(rig.acknowledge(1, rig.last(1)));
    rig.wait(100 * S);
    assert!(!rig.group.is_over(), "it has a member");
    rig.end(1, 1, &[]);
    rest(&mut rig);
    rig.wait(2 * S);
    assert!(rig.group.is_over());
    rig.join(2, 10);
    assert!(!rig.group.is_over(), "somebody came before it was thrown away");
    rig.end(2, 1, &[]);
    rig.wait(11 * S);
    assert!(rig.group.is_over() && rig.group.next_wake_us(rig.now_us).is_none());
    rig.group.set_settings(Settings { expires_after_us: None, ..settings }, rig.now_us);
    assert!(!rig.group.is_over() && rig.group.next_wake_us(rig.now_us).is_none());
}
