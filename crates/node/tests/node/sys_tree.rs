//! The tree of a running node: what its numbers count.

use lapwing_codec::{QoS, SubscriptionOptions};

use crate::{connect, eventually, metric, node};

/// Does the number of dropped messages have those of groups, while they are there and when they are over, and those of holds?
#[test]
fn messages_that_groups_and_holds_drop_are_dropped_messages() {
    let node = node(
        r#"{"shards": 2, "sys": {"interval_ms": 20}, "hold": {"held/#": {"messages": 2}},
            "groups": {"jobs": {"filters": ["jobs/#"], "queue_messages_max": 2}}}"#,
    );
    let mut watcher = connect(&node, "watcher");
    watcher.subscribe("$SYS/broker/publish/messages/dropped", SubscriptionOptions::new(QoS::AtMostOnce));
    let mut dropped = |expected: &str| {
        // Each number is more than the one before it: it ends, or there is none.
        while watcher.receive().payload != expected.as_bytes() {}
    };
    let mut sender = connect(&node, "sender");
    (0..5).for_each(|_| sender.publish_acked("jobs/1", b"x"));
    dropped("3");
    (0..7).for_each(|_| sender.publish_acked("held/1", b"x"));
    dropped("8");
    assert!(node.remove_group("jobs").unwrap());
    dropped("10");
    eventually("the group is over", || metric(&node, "lapwing_groups", "") == 0);
    let of = |name: &str| metric(&node, name, "");
    assert_eq!(of("lapwing_groups_ended_messages_dropped_total") + of("lapwing_hold_messages_dropped_total"), 10);
}
