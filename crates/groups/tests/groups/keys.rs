//! Order per key: a key waits while it is with a member that cannot have more, and others pass.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lapwing_dispatch::{Ask, Choose, Pick, Strategy};
use lapwing_groups::{Facts, Settings};

use crate::rig::{QOS_1, Rig, S};

fn keyed(members: u32, receive_max: u16) -> Rig {
    let mut rig = Rig::new(Strategy::KeyOrdered, Settings::default());
    (1..=members).for_each(|member| rig.join(member, receive_max));
    rig
}

fn publish(rig: &mut Rig, message: u32, key: u64) {
    rig.publish_as(message, Facts { key: Some(key), ..rig.facts(QOS_1) });
}

#[test]
fn a_key_waits_for_its_member_and_others_pass() {
    let mut rig = keyed(2, 2);
    (0..4).for_each(|message| publish(&mut rig, message, 7));
    let holder = rig.sent[0].to;
    assert_eq!(rig.take_sent(), [(holder, 0), (holder, 1)]);
    publish(&mut rig, 10, 8);
    assert_eq!(rig.take_sent(), [(3 - holder, 10)]);
    let view = rig.group.view(rig.now_us);
    assert_eq!((view.bulk, view.parked), (2, 2));
}

#[test]
fn room_with_a_member_is_room_for_any_key_that_it_has() {
    let mut rig = keyed(1, 2);
    for (message, key) in [(0, 7), (1, 8), (2, 8)] {
        publish(&mut rig, message, key);
    }
    let first = rig.sent[0].id.expect("QoS 1");
    assert_eq!(rig.take_sent(), [(1, 0), (1, 1)]);
    assert!(rig.acknowledge(1, first));
    assert_eq!(rig.take_sent(), [(1, 2)]);
}

#[test]
fn a_key_goes_on_as_its_member_gets_room_and_in_order() {
    let mut rig = keyed(3, 2);
    for message in 0..30 {
        publish(&mut rig, message, u64::from(message) % 3);
    }
    let mut order = Vec::new();
    while !rig.sent.is_empty() {
        let sent = rig.sent.remove(0);
        order.push(sent.message);
        rig.now_us += 1000;
        assert!(rig.acknowledge(sent.to, sent.id.expect("QoS 1")));
    }
    for key in 0..3 {
        let of_key: Vec<_> = order.iter().copied().filter(|message| message % 3 == key).collect();
        assert!(of_key.is_sorted() && of_key.len() == 10, "{of_key:?}");
    }
}

#[test]
fn a_key_that_is_lost_with_its_member_comes_back_before_what_waited_for_it() {
    let mut rig = keyed(2, 2);
    (0..4).for_each(|message| publish(&mut rig, message, 7));
    let holder = rig.sent[0].to;
    let ids: Vec<_> = rig.sent.iter().filter_map(|sent| sent.id).collect();
    rig.take_sent();
    rig.lost(holder, &ids);
    assert_eq!(rig.take_sent(), [(3 - holder, 0), (3 - holder, 1)]);
    assert_eq!(rig.group.view(rig.now_us).parked, 2);
}

#[test]
fn a_key_waits_for_who_has_unsubscribed_with_it_or_was_kicked() {
    for is_kicked in [false, true] {
        let mut rig = keyed(2, 1);
        publish(&mut rig, 0, 7);
        let (holder, id) = (rig.sent[0].to, rig.sent[0].id.expect("QoS 1"));
        if is_kicked {
            rig.wait(5 * S);
            assert_eq!(rig.kicked.len(), 1);
        } else {
            rig.unsubscribe(holder);
        }
        rig.take_sent();
        publish(&mut rig, 1, 7);
        publish(&mut rig, 2, 8);
        assert_eq!(rig.take_sent(), [(3 - holder, 2)]);
        let other = rig.group.member(3 - holder, rig.now_us).map(|member| member.assigned);
        assert_eq!(other, Some(1));
        if is_kicked {
            rig.lost(holder, &[id]);
            assert_eq!(rig.group.queued(), 2);
        } else {
            assert!(rig.acknowledge(holder, id));
            assert_eq!(rig.group.queued(), 1);
        }
    }
}

#[test]
fn nothing_stays_parked_under_a_strategy_that_knows_no_keys() {
    let mut rig = keyed(2, 2);
    (0..4).for_each(|message| publish(&mut rig, message, 7));
    rig.take_sent();
    rig.group.set_strategy(Strategy::LeastInflight, rig.now_us);
    rig.collect();
    assert_eq!(rig.take_sent().len(), 2);
}

/// Parks key 7, sends nobody anything, and counts how often it is asked.
struct Parks(Arc<AtomicUsize>);

impl Choose for Parks {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        self.0.fetch_add(1, Ordering::Relaxed);
        if ask.work().key == Some(7) { Pick::Park } else { Pick::Wait }
    }
}

#[test]
fn a_long_line_of_one_key_costs_one_question_a_change() {
    const MESSAGES: u32 = 10_000;
    let mut rig = keyed(1, 10);
    let asked = Arc::new(AtomicUsize::new(0));
    rig.group.set_chooser(Box::new(Parks(Arc::clone(&asked))), rig.now_us);
    (0..MESSAGES).for_each(|message| publish(&mut rig, message, 7));
    assert_eq!(asked.load(Ordering::Relaxed), 1, "the others stand behind the first without being asked for");
    (0..MESSAGES).for_each(|message| publish(&mut rig, message, 8));
    assert!(asked.load(Ordering::Relaxed) <= 2 + MESSAGES as usize);
    assert_eq!(rig.group.queued(), 2 * MESSAGES as usize);
}
