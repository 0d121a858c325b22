//! Messages that wait for their first subscriber: once, in order, within bounds.

use lapwing_codec::{Packet, QoS, SubscriptionOptions};
use lapwing_node::Handle;

use crate::client::{Client, Received};
use crate::packets::lasting;
use crate::{connect, eventually, ids_on_both_shards, metric, node};

pub(crate) const QOS1: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);
pub(crate) const SHARDS: [u32; 3] = [1, 2, 4];

fn in_memory(shards: u32, table: &str) -> Handle {
    node(&format!(r#"{{"shards": {shards}, "hold": {{"h/#": {{{table}}}}}}}"#))
}

pub(crate) fn waiting(node: &Handle) -> u64 {
    metric(node, "lapwing_hold_waiting_messages", "")
}

/// Takes `count` messages with QoS 1 and acknowledges them; returns their payloads.
pub(crate) fn take(client: &mut Client, count: usize) -> Vec<String> {
    let mut taken = Vec::new();
    for _ in 0..count {
        let received = client.receive();
        client.acknowledge(&received);
        taken.push(String::from_utf8(received.payload).unwrap());
    }
    taken
}

pub(crate) fn publish(client: &mut Client, topics: &[&str]) -> Vec<String> {
    let payloads: Vec<String> = (0..topics.len()).map(|n| format!("{n}")).collect();
    topics.iter().zip(&payloads).for_each(|(topic, payload)| client.publish_acked(topic, payload.as_bytes()));
    payloads
}

/// Does the first subscriber get what waits, in order over all topics, and the second nothing of it?
#[test]
fn the_first_subscriber_gets_what_waits_once() {
    for shards in SHARDS {
        let node = in_memory(shards, "");
        let mut sender = connect(&node, "sender");
        let sent = publish(&mut sender, &["h/1", "h/2", "h/1", "h/3", "h/2"]);
        eventually("all wait", || waiting(&node) == 5);
        let mut first = connect(&node, "first");
        first.subscribe("h/+", QOS1);
        assert_eq!(take(&mut first, 5), sent);
        let mut second = connect(&node, "second");
        second.subscribe("#", QOS1);
        second.expect_silence();
        sender.publish_acked("h/1", b"live");
        assert_eq!((take(&mut first, 1), take(&mut second, 1)), (vec!["live".into()], vec!["live".into()]));
        eventually("nothing waits", || waiting(&node) == 0);
        assert_eq!(metric(&node, "lapwing_hold_messages_released_total", ""), 6);
    }
}

/// Does what a filter does not match stay for the next one, and what is not held go as ever?
#[test]
fn what_is_not_matched_stays() {
    for shards in SHARDS {
        let node = in_memory(shards, "");
        let mut sender = connect(&node, "sender");
        publish(&mut sender, &["h/a", "h/b", "h/a"]);
        sender.publish("h/a", b"not held", QoS::AtMostOnce, None);
        sender.publish_acked("other", b"nobody");
        eventually("three wait", || waiting(&node) == 3);
        let mut first = connect(&node, "first");
        first.subscribe("h/b", QOS1);
        assert_eq!(take(&mut first, 1), ["1"]);
        first.subscribe("other", QOS1);
        first.expect_silence();
        first.subscribe("h/a", QOS1);
        assert_eq!(take(&mut first, 2), ["0", "2"]);
        first.expect_silence();
    }
}

/// Do messages wait again when the last subscriber has gone, whether it unsubscribed or its session ended, and does a new
/// one on the same filter get each once?
#[test]
fn they_wait_again_when_the_last_has_gone() {
    for shards in SHARDS {
        let node = in_memory(shards, "");
        let mut sender = connect(&node, "sender");
        for round in 0..50 {
            let mut receiver = connect(&node, &format!("receiver-{round}"));
            receiver.subscribe("h/#", QOS1);
            if round > 0 {
                assert_eq!(take(&mut receiver, 2), ["0", "1"], "{shards} shards, round {round}");
            }
            publish(&mut sender, &["h/x"]);
            assert_eq!(take(&mut receiver, 1), ["0"]);
            if round % 2 == 0 {
                receiver.unsubscribe("h/#");
                publish(&mut sender, &["h/x", "h/x"]);
                receiver.expect_silence();
            } else {
                receiver.disconnect();
                publish(&mut sender, &["h/x", "h/x"]);
            }
            eventually("two wait", || waiting(&node) == 2);
        }
    }
}

/// Publishers and subscribers that come and go all the time: is each message there once, and in order for its topic?
#[test]
fn each_goes_once_while_subscribers_come_and_go() {
    const MESSAGES: usize = 2_000;
    for shards in SHARDS {
        let node = in_memory(shards, "");
        let publisher = {
            let mut sender = connect(&node, "sender");
            std::thread::spawn(move || {
                for n in 0..MESSAGES {
                    sender.publish_acked(["h/a", "h/b"][n % 2], format!("{n}").as_bytes());
                }
            })
        };
        let mut got: [Vec<usize>; 2] = Default::default();
        let is_all = |got: &[Vec<usize>; 2]| [0, 1].map(|parity| got[parity].len()) == [MESSAGES / 2; 2];
        let note = |got: &mut [Vec<usize>; 2], receiver: &mut Client, received: &Received| {
            receiver.acknowledge(received);
            let n: usize = std::str::from_utf8(&received.payload).unwrap().parse().unwrap();
            got[n % 2].push(n);
        };
        let mut round = 0;
        while !is_all(&got) {
            round += 1;
            let mut receiver = connect(&node, &format!("receiver-{round}"));
            receiver.send_subscribe("h/#", QOS1);
            // What waits may come before the SUBACK, all that is left of it too.
            while let Some(received) = receiver.receive_or_suback() {
                note(&mut got, &mut receiver, &received);
            }
            if !is_all(&got) {
                let received = receiver.receive();
                note(&mut got, &mut receiver, &received);
            }
            // What is on its way to a subscriber when it cancels has been delivered to it: it takes it before it goes.
            receiver.send_unsubscribe("h/#");
            while let Some(received) = receiver.receive_or_unsuback() {
                note(&mut got, &mut receiver, &received);
            }
            // Behind the answer comes what waited for the window, which is smaller than what a fast publisher had left.
            let mut silent = false;
            while !silent {
                silent = true;
                receiver.send(&Packet::PingReq);
                while let Some(received) = receiver.receive_or_pong() {
                    note(&mut got, &mut receiver, &received);
                    silent = false;
                }
            }
            receiver.disconnect();
        }
        publisher.join().unwrap();
        for (parity, list) in got.iter().enumerate() {
            let expected: Vec<usize> = (0..MESSAGES).filter(|n| n % 2 == parity).collect();
            assert_eq!(*list, expected, "{shards} shards");
        }
    }
}

/// Is a session that is kept a subscriber although its client is away, and a group although it has nobody yet?
#[test]
fn kept_sessions_and_groups_are_subscribers() {
    for shards in SHARDS {
        let node = in_memory(shards, "");
        let mut sender = connect(&node, "sender");
        publish(&mut sender, &["h/1"]);
        let (mut sleeper, _) = Client::connect_with(&node, &lasting("sleeper"));
        sleeper.subscribe("h/1", QOS1);
        assert_eq!(take(&mut sleeper, 1), ["0"]);
        sleeper.disconnect();
        sender.publish_acked("h/1", b"while away");
        eventually("it does not wait in the hold", || waiting(&node) == 0);
        let (mut sleeper, _) = Client::connect_with(&node, &lasting("sleeper"));
        assert_eq!(take(&mut sleeper, 1), ["while away"]);
        publish(&mut sender, &["h/2", "h/2"]);
        eventually("they wait", || waiting(&node) == 2);
        let mut member = connect(&node, "member");
        member.subscribe("$share/g/h/2", QOS1);
        assert_eq!(take(&mut member, 2), ["0", "1"]);
        eventually("the group has them", || waiting(&node) == 0);
    }
    let node = node(r#"{"shards": 2, "hold": {"h/#": {}}, "groups": {"jobs": {"filters": ["h/jobs"]}}}"#);
    connect(&node, "sender").publish_acked("h/jobs", b"x");
    eventually("the declared group has it", || metric(&node, "lapwing_group_waiting_messages", "jobs") == 1);
    assert_eq!(waiting(&node), 0);
}

/// Are the bounds kept, each policy dropping what it says, and counted? Does what has waited too long go?
#[test]
fn bounds_policies_and_expiry() {
    for (policy, expected) in [("drop-oldest", ["3", "4"]), ("drop-newest", ["0", "1"])] {
        let node = in_memory(2, &format!(r#""messages": 2, "overflow": "{policy}""#));
        publish(&mut connect(&node, "sender"), &["h/1", "h/2", "h/1", "h/2", "h/1"]);
        eventually("three are dropped", || metric(&node, "lapwing_hold_messages_dropped_total", "overflow") == 3);
        eventually("that is told", || metric(&node, "lapwing_holds_losing_total", "") == 1);
        let lines = node.take_notices();
        assert_eq!(
            lines.iter().filter(|line| line.contains("hold h/# begins to lose messages")).count(),
            1,
            "{lines:?}"
        );
        assert!(
            !lines.iter().any(|line| line.contains("***")),
            "a name that looks like a token hides itself: {lines:?}"
        );
        let mut receiver = connect(&node, "receiver");
        receiver.subscribe("h/#", QOS1);
        assert_eq!(take(&mut receiver, 2), expected, "{policy}");
        receiver.expect_silence();
    }
    let node = in_memory(2, r#""expiry_ms": 50"#);
    publish(&mut connect(&node, "sender"), &["h/1", "h/2"]);
    eventually("they expire", || metric(&node, "lapwing_hold_messages_dropped_total", "expired") == 2);
    let mut receiver = connect(&node, "receiver");
    receiver.subscribe("h/#", QOS1);
    receiver.expect_silence();
}

/// Are bounds only for what waits? A subscriber gets a burst beyond them.
#[test]
fn a_burst_for_a_subscriber_is_not_bounded() {
    for shards in SHARDS {
        let node = in_memory(shards, r#""messages": 1"#);
        let mut receiver = connect(&node, "receiver");
        receiver.subscribe("h/#", QOS1);
        let mut sender = connect(&node, "sender");
        for n in 0..500_u16 {
            sender.publish("h/x", format!("{n}").as_bytes(), QoS::AtLeastOnce, Some(n + 1));
        }
        (0..500).for_each(|n| sender.expect_ack(n + 1));
        assert_eq!(take(&mut receiver, 500), (0..500).map(|n| n.to_string()).collect::<Vec<_>>());
    }
}

/// Is more than a client's window and buffer released at the client's pace, all of it?
#[test]
fn a_long_wait_is_released_at_the_pace_of_its_receiver() {
    const MESSAGES: usize = 3_000;
    let limits = r#""limits": {"queue_messages_max": 100, "inflight_messages_max": 20}"#;
    for shards in SHARDS {
        let node = node(&format!(r#"{{"shards": {shards}, "hold": {{"h/#": {{}}}}, {limits}}}"#));
        let mut sender = connect(&node, "sender");
        for n in 0..MESSAGES {
            sender.publish_acked("h/x", format!("{n}").as_bytes());
        }
        let mut receiver = connect(&node, "receiver");
        receiver.subscribe("h/#", QOS1);
        assert_eq!(take(&mut receiver, MESSAGES), (0..MESSAGES).map(|n| n.to_string()).collect::<Vec<_>>());
        receiver.expect_silence();
    }
}

/// Is the publisher no subscriber of its own messages when it says No Local, wherever the hold is?
#[test]
fn no_local_is_nobody() {
    let node = in_memory(2, "");
    for name in ids_on_both_shards() {
        let topic = format!("h/{name}");
        let mut both = connect(&node, &name);
        both.subscribe(&topic, SubscriptionOptions { no_local: true, ..QOS1 });
        both.publish_acked(&topic, b"x");
        eventually("it waits", || waiting(&node) == 1);
        let mut other = connect(&node, "other");
        other.subscribe(&topic, QOS1);
        assert_eq!(take(&mut other, 1), ["x"]);
        other.disconnect();
        both.expect_silence();
    }
}
