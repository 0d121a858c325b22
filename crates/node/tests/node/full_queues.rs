//! What acknowledged means where a queue is full: who is told, and what the operator sees.

use lapwing_codec::{Packet, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_node::Handle;

use crate::client::Client;
use crate::packets::{ConnectExt, connect as plain, lasting, publish};
use crate::{connect, eventually, ids_on_both_shards, metric, node};

const DROPPED: &str = "lapwing_messages_dropped_total";
const REFUSED: &str = "lapwing_publishes_refused_queue_full_total";
const QOS1: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);

/// A session that is subscribed to "t" and has no connection.
fn leave(node: &Handle, id: &str) {
    let mut receiver = Client::connect_with(node, &lasting(id)).0;
    receiver.subscribe("t", QOS1);
    receiver.disconnect();
}

/// The payloads that wait for a session; it is away again then, and the node knows.
fn waiting(node: &Handle, id: &str) -> Vec<Vec<u8>> {
    let mut receiver = Client::connect_with(node, &lasting(id)).0;
    receiver.send(&Packet::PingReq);
    let mut payloads = Vec::new();
    while let Some(received) = receiver.receive_or_pong() {
        receiver.acknowledge(&received);
        payloads.push(received.payload);
    }
    receiver.disconnect();
    payloads
}

/// The answers to messages that are sent without waiting.
fn publish_all(client: &mut Client, qos: QoS, payloads: &[&[u8]]) -> Vec<ReasonCode> {
    for (payload, id) in payloads.iter().zip(1..) {
        client.send(&Packet::Publish(publish("t", payload, qos, Some(id))));
    }
    let answer = |packet: &Packet<'_>| match packet {
        Packet::PubAck(ack) | Packet::PubRec(ack) => Some(ack.reason),
        _ => None,
    };
    payloads.iter().map(|_| client.expect("PUBACK or PUBREC", answer)).collect()
}

/// Under the policy `refuse`: is a message that a session somewhere has no room for refused to its 5.0 publisher as a whole, also
/// when many come at once, QoS 1 and 2; does one that cannot be told lose only the full session; and is all that was
/// acknowledged there when the client comes?
#[test]
fn no_room_is_refused_to_the_publisher() {
    const FULL: ReasonCode = ReasonCode::QuotaExceeded;
    const TAKEN: ReasonCode = ReasonCode::Success;
    let ids = ids_on_both_shards();
    for (shards, away, qos) in [
        (1, &ids[0], QoS::AtLeastOnce),
        (2, &ids[0], QoS::AtLeastOnce),
        (2, &ids[1], QoS::AtLeastOnce),
        (2, &ids[1], QoS::ExactlyOnce),
    ] {
        let limits = r#"{"queue_messages_max": 2, "queue_policy": "refuse"}"#;
        let node = node(&format!(r#"{{"shards": {shards}, "limits": {limits}}}"#));
        leave(&node, away);
        let mut reader = connect(&node, "reader");
        reader.subscribe("t", QOS1);
        let mut sender = connect(&node, "sender");
        let answers = publish_all(&mut sender, qos, &[b"1", b"2", b"3", b"4"]);
        assert_eq!(answers, [TAKEN, TAKEN, FULL, FULL], "{shards} {away}");
        assert_eq!((metric(&node, REFUSED, ""), metric(&node, DROPPED, "queue_full")), (2, 0));
        let mut old = Client::connect_with(&node, &plain("old").in_version(Version::V311)).0;
        old.publish_acked("t", b"5");
        eventually("one is dropped", || metric(&node, DROPPED, "queue_full") == 1);
        let seen: Vec<_> = (0..3).map(|_| reader.receive().payload).collect();
        assert_eq!(seen, [b"1", b"2", b"5"]);
        reader.expect_silence();
        assert_eq!(waiting(&node, away), [b"1", b"2"]);
        assert_eq!(publish_all(&mut sender, qos, &[b"6"]), [TAKEN]);
    }
}

/// Is the operator told once that a group loses what was acknowledged, and again once it had room meanwhile?
#[test]
fn the_first_loss_of_a_group_is_told() {
    let node = node(r#"{"shards": 2, "groups": {"jobs": {"filters": ["q"], "queue_messages_max": 2}}}"#);
    let mut sender = connect(&node, "sender");
    let told = || node.take_notices().iter().filter(|line| line.contains("group jobs of q begins to lose")).count();
    let lost = || metric(&node, "lapwing_group_messages_dropped_total", "queue_full");
    (0..5).for_each(|_| sender.publish_acked("q", b"x"));
    eventually("three are lost", || lost() == 3);
    eventually("it is told", || told() == 1);
    sender.publish_acked("q", b"x");
    eventually("one more is lost", || lost() == 4);
    assert_eq!((told(), metric(&node, "lapwing_groups_losing_total", "")), (0, 1));
    let mut member = connect(&node, "member");
    member.subscribe("$share/jobs/q", QOS1);
    for _ in 0..2 {
        let received = member.receive();
        member.acknowledge(&received);
    }
    member.disconnect();
    eventually("it is empty", || metric(&node, "lapwing_group_waiting_messages", "jobs") == 0);
    (0..5).for_each(|_| sender.publish_acked("q", b"x"));
    eventually("it is told again", || told() == 1);
    assert_eq!(metric(&node, "lapwing_groups_losing_total", ""), 2);
}

/// Is the operator told once that a session loses what was acknowledged, again when its client was there meanwhile, and is what
/// it lost shown with it?
#[test]
fn the_first_loss_is_told() {
    let node = node(r#"{"shards": 2, "limits": {"queue_messages_max": 2}}"#);
    leave(&node, "away");
    let mut sender = connect(&node, "sender");
    let told = || {
        let lines = node.take_notices().into_iter();
        lines.filter(|line| line.contains("client away is away and begins to lose messages")).count()
    };
    (0..5).for_each(|_| sender.publish_acked("t", b"x"));
    eventually("it is told", || told() == 1);
    sender.publish_acked("t", b"x");
    eventually("one more is lost", || metric(&node, DROPPED, "queue_full") == 4);
    assert_eq!((told(), metric(&node, "lapwing_sessions_losing_total", "")), (0, 1));
    assert_eq!(waiting(&node, "away").len(), 2);
    (0..5).for_each(|_| sender.publish_acked("t", b"x"));
    eventually("the client was there, so it is told again", || told() == 1);
    assert_eq!(metric(&node, "lapwing_sessions_losing_total", ""), 2);
}

/// Does a message that is larger than a queue may be wait alone, and drive nobody out?
#[test]
fn a_large_message_waits_alone() {
    for policy in ["drop-oldest", "drop-newest"] {
        let limits = format!(r#"{{"queue_bytes_max": 10000, "queue_policy": "{policy}"}}"#);
        let node = node(&format!(r#"{{"shards": 1, "limits": {limits}}}"#));
        leave(&node, "first");
        let mut sender = connect(&node, "sender");
        sender.publish_acked("t", &[1; 50_000]);
        assert_eq!(waiting(&node, "first"), [vec![1; 50_000]]);
        sender.publish_acked("t", b"small");
        leave(&node, "second");
        sender.publish_acked("t", b"small");
        sender.publish_acked("t", &[1; 50_000]);
        eventually("it is dropped for both", || metric(&node, DROPPED, "queue_full") >= 1);
        assert_eq!(waiting(&node, "second"), [b"small".to_vec()]);
    }
}
