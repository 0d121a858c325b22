//! Hooks that fail, are late, or hang: the declared policy, and nobody else disturbed.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lapwing_codec::{Packet, QoS, ReasonCode, SubscriptionOptions};
use lapwing_node::{HookAnswer, HookCall, HookFailure, HookMessage, HookName, Hooks, Interests};

use crate::client::Client;
use crate::hook_double::{Barrier, Double, message, node};
use crate::packets::{self, will};
use crate::{connect, eventually, metric};

fn ack_reason(client: &mut Client) -> ReasonCode {
    client.expect("PUBACK", |packet| match packet {
        Packet::PubAck(ack) => Some(ack.reason),
        _ => None,
    })
}

/// Fails each time in another way.
struct Failing {
    calls: usize,
}

impl Hooks for Failing {
    fn interests(&self) -> Interests {
        Interests::NONE.with(HookName::Publish)
    }

    fn call(&mut self, calls: &[HookCall]) -> Result<Vec<HookAnswer>, HookFailure> {
        self.calls += 1;
        let wrong = HookMessage { topic: "a/#".into(), ..message(&calls[0]).clone() };
        match self.calls {
            1 => Ok(vec![HookAnswer::Failed; calls.len()]),
            2 => Err(HookFailure { what: "no database".into() }),
            3 => Ok(Vec::new()),
            4 => panic!("a defect of the hook's"),
            5 => Ok(vec![HookAnswer::Admit(None); calls.len()]),
            6 => Ok(vec![HookAnswer::Change(Box::new(wrong)); calls.len()]),
            _ => Ok(vec![HookAnswer::Refuse { reason: ReasonCode::Banned, text: None }; calls.len()]),
        }
    }
}

/// Does every kind of failure meet the policy, counted, with a word for the operator?
#[test]
fn each_failure_meets_the_policy() {
    for (policy, dropped) in [("refuse", 7), ("pass", 0)] {
        let json = format!(r#"{{"shards": 1, "hooks": {{"timeout_ms": 60000, "on_failure": "{policy}"}}}}"#);
        let node = node(&json, Box::new(Failing { calls: 0 }));
        let mut client = connect(&node, "one");
        for n in 1..=7 {
            client.publish("t", b"", QoS::AtLeastOnce, Some(n));
            let reason = ack_reason(&mut client);
            assert_eq!(reason == ReasonCode::ImplementationSpecificError, policy == "refuse", "{n}: {reason:?}");
            assert_eq!(reason.is_error(), policy == "refuse");
        }
        assert_eq!(metric(&node, "lapwing_messages_dropped_total", "hook_failed"), dropped);
        assert_eq!(metric(&node, "lapwing_hook_failures_total", "failed"), 7);
        assert!(node.take_notices().iter().any(|notice| notice.contains("no database")), "the first reason is told");
        node.stop().unwrap();
    }
}

/// Does a hook that hangs make work late, and hold up nobody whose packets it does not judge, nor the end of the node?
#[test]
fn a_hook_that_hangs_holds_up_only_what_it_judges() {
    for (policy, refused) in [("refuse", true), ("pass", false)] {
        let barrier = Barrier::default();
        let held = barrier.clone();
        let json = format!(r#"{{"shards": 2, "hooks": {{"timeout_ms": 2000, "on_failure": "{policy}"}}}}"#);
        let node = node(
            &json,
            Double::new(&[HookName::Publish], move |_| {
                held.pass();
                HookAnswer::Pass
            }),
        );
        let mut receiver = connect(&node, "receiver");
        receiver.subscribe("t", SubscriptionOptions::new(QoS::AtMostOnce));
        let mut sender = connect(&node, "sender");
        sender.publish("t", b"1", QoS::AtLeastOnce, Some(1));
        barrier.somebody_waits();
        let begun = Instant::now();
        for n in 0..100 {
            let mut other = connect(&node, &format!("other-{n}"));
            other.subscribe("t", SubscriptionOptions::new(QoS::AtMostOnce));
            other.expect_silence();
        }
        let others_took = begun.elapsed();
        assert_eq!(ack_reason(&mut sender).is_error(), refused);
        assert!(others_took < Duration::from_secs(60), "a hundred clients took {others_took:?}");
        if !refused {
            assert_eq!(receiver.receive().payload, b"1");
        }
        receiver.expect_silence();
        assert_eq!(metric(&node, "lapwing_hook_failures_total", "late"), 1);
        assert_eq!(metric(&node, "lapwing_messages_dropped_total", "hook_late"), u64::from(refused));
        let begun = Instant::now();
        node.stop().unwrap();
        assert!(node.has_abandoned_hooks() && begun.elapsed() < Duration::from_secs(30));
        barrier.open();
    }
}

/// Is a full queue answered at once, bounded by what the thread still has, and free again when the thread is?
#[test]
fn a_full_queue_meets_the_policy_at_once() {
    let barrier = Barrier::default();
    let held = barrier.clone();
    let json = r#"{"shards": 1, "hooks": {"timeout_ms": 60000, "queue": 2}}"#;
    let node = node(
        json,
        Double::new(&[HookName::Publish], move |_| {
            held.pass();
            HookAnswer::Pass
        }),
    );
    let mut waiting: Vec<Client> = (0..2).map(|n| connect(&node, &format!("waiting-{n}"))).collect();
    for client in &mut waiting {
        client.publish("t", b"", QoS::AtLeastOnce, Some(1));
        eventually("it is asked", || metric(&node, "lapwing_hook_waiting", "decisions") > 0);
    }
    eventually("both are asked", || metric(&node, "lapwing_hook_waiting", "decisions") == 2);
    let mut refused = connect(&node, "refused");
    refused.publish("t", b"", QoS::AtLeastOnce, Some(1));
    assert_eq!(ack_reason(&mut refused), ReasonCode::ImplementationSpecificError);
    assert_eq!(metric(&node, "lapwing_messages_dropped_total", "hook_queue_full"), 1);
    barrier.open();
    for client in &mut waiting {
        assert!(!ack_reason(client).is_error());
    }
    eventually("nothing waits", || metric(&node, "lapwing_hook_waiting", "decisions") == 0);
    refused.publish("t", b"", QoS::AtLeastOnce, Some(1));
    assert!(!ack_reason(&mut refused).is_error());
}

/// Is there room for those who were let in, however many knock?
#[test]
fn a_flood_at_the_door_leaves_room_inside() {
    let barrier = Barrier::default();
    let held = barrier.clone();
    let json = r#"{"shards": 1, "hooks": {"timeout_ms": 60000, "queue": 8}}"#;
    let hooks = Double::new(&[HookName::Connect, HookName::Publish], move |call| {
        if matches!(call, HookCall::Connect(call) if call.client.client_id.starts_with("stranger")) {
            held.pass();
        }
        HookAnswer::Pass
    });
    let node = node(json, hooks);
    let mut inside = connect(&node, "inside");
    let mut strangers: Vec<Client> = (0..20).map(|_| Client::open(&node)).collect();
    for (n, stranger) in strangers.iter_mut().enumerate() {
        stranger.send(&Packet::Connect(packets::connect(&format!("stranger-{n}"))));
    }
    eventually("the door is full", || metric(&node, "lapwing_hook_failures_total", "queue_full") == 16);
    assert_eq!(metric(&node, "lapwing_hook_waiting", "decisions"), 4, "half of the queue");
    inside.publish("t", b"", QoS::AtLeastOnce, Some(1));
    eventually("it is asked", || metric(&node, "lapwing_hook_waiting", "decisions") == 5);
    barrier.open();
    assert!(!ack_reason(&mut inside).is_error());
}

/// Strangers by the dozen wait for an `on_connect` that was fast and is slow now; is a client that is in judged before all but
/// the one it finds there?
#[test]
fn who_is_in_is_judged_before_those_at_the_door() {
    let (barrier, later) = (Barrier::default(), Barrier::default());
    let (held, held_later) = (barrier.clone(), later.clone());
    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = order.clone();
    let hooks = Double::new(&[HookName::Connect, HookName::Publish], move |call| {
        let is_stranger = matches!(call, HookCall::Connect(call) if call.client.client_id.starts_with("stranger"));
        if is_stranger {
            held.pass();
            if seen.lock().unwrap().len() > 20 {
                held_later.pass();
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        seen.lock().unwrap().push(is_stranger);
        HookAnswer::Pass
    });
    let node = node(r#"{"shards": 2, "hooks": {"timeout_ms": 50000}}"#, hooks);
    let waiting = || metric(&node, "lapwing_hook_waiting", "decisions");
    let mut inside = connect(&node, "inside");
    let mut strangers: Vec<Client> = (0..100).map(|_| Client::open(&node)).collect();
    for (n, stranger) in strangers.iter_mut().enumerate() {
        stranger.send(&Packet::Connect(packets::connect(&format!("stranger-{n}"))));
    }
    barrier.somebody_waits();
    eventually("all are at the door", || waiting() == 100);
    barrier.open();
    later.somebody_waits();
    let (at_the_door, judged) = (waiting(), order.lock().unwrap().len());
    inside.publish("t", b"", QoS::AtLeastOnce, Some(1));
    eventually("it is asked", || waiting() == at_the_door + 1);
    later.open();
    assert!(!ack_reason(&mut inside).is_error());
    let order = order.lock().unwrap();
    let before = order.iter().skip(judged).take_while(|is_stranger| **is_stranger).count();
    assert!(before <= 10, "{before} strangers before it: the one that is under way, and no batch of them");
}

/// Are observations beyond the queue lost and counted, and never in the way of a message?
#[test]
fn observations_beyond_the_queue_are_counted() {
    let barrier = Barrier::default();
    let held = barrier.clone();
    let node = node(
        r#"{"shards": 1, "hooks": {"queue": 3}}"#,
        Double::new(&[HookName::Published], move |_| {
            held.pass();
            HookAnswer::Pass
        }),
    );
    let mut client = connect(&node, "one");
    client.publish_acked("t", b"");
    barrier.somebody_waits();
    for _ in 0..10 {
        client.publish_acked("t", b"");
    }
    assert_eq!(metric(&node, "lapwing_hook_failures_total", "queue_full"), 7);
    barrier.open();
    eventually("the others are told", || metric(&node, "lapwing_hook_calls_total", "on_published") == 4);
}

/// Is a will without a verdict published or dropped as declared, and does a node that drains wait for it?
#[test]
fn a_will_without_a_verdict_meets_the_policy() {
    let barrier = Barrier::default();
    let held = barrier.clone();
    let json = r#"{"shards": 1, "hooks": {"timeout_ms": 200, "on_failure": "pass"}}"#;
    let node = node(
        json,
        Double::new(&[HookName::Publish], move |_| {
            held.pass();
            HookAnswer::Pass
        }),
    );
    let will = packets::ConnectExt::with_will(packets::connect("dying"), will("wills/1", b"x"));
    let (_dying, _) = Client::connect_with(&node, &will);
    node.drain(Duration::from_secs(30)).unwrap();
    assert_eq!(metric(&node, "lapwing_wills_published_total", ""), 1);
    barrier.open();
}

/// Does a slow hook get smaller batches, so that it is in time for all whom it can serve?
#[test]
fn batches_shrink_for_a_slow_hook() {
    let json = r#"{"shards": 1, "hooks": {"timeout_ms": 8000}}"#;
    let node = node(
        json,
        Double::new(&[HookName::Connect], |_| {
            // Slow by design: this is the work of the hook, nothing is waited for.
            std::thread::sleep(Duration::from_millis(10));
            HookAnswer::Pass
        }),
    );
    let mut clients: Vec<Client> = (0..400).map(|_| Client::open(&node)).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        client.send(&Packet::Connect(packets::connect(&format!("client-{n}"))));
    }
    for client in &mut clients {
        let reason = client.expect("CONNACK", |packet| match packet {
            Packet::ConnAck(ack) => Some(ack.reason),
            _ => None,
        });
        assert_eq!(reason, ReasonCode::Success);
    }
    assert!(metric(&node, "lapwing_hook_batches_total", "") > 4, "not all in a few large ones");
}
