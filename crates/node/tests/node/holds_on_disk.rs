//! Messages that wait for their first subscriber, over a restart.

use std::path::Path;

use lapwing_codec::{Ack, Packet, QoS, ReasonCode, SubscriptionOptions};
use lapwing_node::Handle;

use crate::client::Client;
use crate::holds::{QOS1, SHARDS, publish, take, waiting};
use crate::packets::{id, lasting};
use crate::{connect, eventually, metric, node};

const QOS2: SubscriptionOptions = SubscriptionOptions::new(QoS::ExactlyOnce);

fn on_disk(dir: &Path, shards: u32) -> Handle {
    node(&format!(r#"{{"shards": {shards}, "data_dir": {dir:?}, "hold": {{"h/#": {{}}}}}}"#))
}

/// Stops a node in order: what has been released is finished.
fn stop(node: Handle) {
    node.drain(std::time::Duration::from_secs(10)).unwrap();
    node.stop().unwrap();
}

/// Is what waits there after a restart, and what a kept session took not once more?
#[test]
fn what_waits_is_on_disk() {
    for shards in SHARDS {
        let dir = tempfile::tempdir().unwrap();
        let node = on_disk(dir.path(), shards);
        let mut sender = connect(&node, "sender");
        publish(&mut sender, &["h/a", "h/b", "h/a"]);
        sender.publish("h/b", b"exactly", QoS::ExactlyOnce, Some(3));
        sender.expect("PUBREC", |packet| matches!(packet, Packet::PubRec(_)).then_some(()));
        sender.send(&Packet::PubRel(Ack::new(id(3), ReasonCode::Success)));
        sender.expect("PUBCOMP", |packet| matches!(packet, Packet::PubComp(_)).then_some(()));
        drop(sender);
        stop(node);

        let node = on_disk(dir.path(), shards);
        let (mut sleeper, _) = Client::connect_with(&node, &lasting("sleeper"));
        assert_eq!(waiting(&node), 4);
        sleeper.subscribe("h/b", QOS2);
        assert_eq!(sleeper.receive().payload, b"1");
        assert_eq!(sleeper.receive().payload, b"exactly");
        eventually("the session has two", || metric(&node, "lapwing_hold_messages_released_total", "") == 2);
        drop(sleeper);
        stop(node);

        let node = on_disk(dir.path(), shards);
        let (mut sleeper, present) = Client::connect_with(&node, &lasting("sleeper"));
        eventually("two wait", || waiting(&node) == 2);
        assert!(present);
        let mut again = [sleeper.receive().payload, sleeper.receive().payload];
        again.sort();
        assert_eq!(again, [b"1".to_vec(), b"exactly".to_vec()], "each once, QoS 2 that is under way before the rest");
        sleeper.expect_silence();
        let mut receiver = connect(&node, "receiver");
        receiver.subscribe("#", QOS1);
        assert_eq!(take(&mut receiver, 2), ["0", "2"]);
        eventually("two are released", || metric(&node, "lapwing_hold_messages_released_total", "") == 2);
        drop(receiver);
        stop(node);
        let node = on_disk(dir.path(), shards);
        drop(connect(&node, "anybody"));
        assert_eq!(waiting(&node), 0, "{shards} shards");
    }
}

/// Does a hold that is not configured any more give what is left in it, and tell the operator?
#[test]
fn a_hold_that_is_gone_gives_what_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let node = on_disk(dir.path(), 2);
    publish(&mut connect(&node, "sender"), &["h/a", "h/b"]);
    stop(node);
    let without = format!(r#"{{"shards": 2, "data_dir": {:?}}}"#, dir.path());
    let again = crate::node(&without);
    let tells = |node: &Handle, what: &str| {
        let notices = node.take_notices();
        notices.iter().any(|notice| notice.contains("hold \"h/#\"") && notice.contains(what))
    };
    eventually("the operator is told", || tells(&again, "2 messages"));
    let mut sender = connect(&again, "sender");
    sender.publish_acked("h/a", b"nobody");
    let mut receiver = connect(&again, "receiver");
    receiver.subscribe("h/#", QOS1);
    assert_eq!(take(&mut receiver, 2), ["0", "1"]);
    receiver.expect_silence();
    drop(receiver);
    stop(again);
    let last = crate::node(&without);
    let mut receiver = connect(&last, "receiver");
    receiver.subscribe("h/#", QOS1);
    receiver.expect_silence();
    assert!(!tells(&last, ""), "nothing is left of it");
}
