//! Clients that come once, with filters, groups, values and wills of their own: is a node as empty behind them as before?

use std::collections::BTreeMap;

use lapwing_codec::{Packet, Publish, QoS, SubscriptionOptions, Will};
use lapwing_node::Handle;

use crate::client::Client;
use crate::packets::{ConnectExt, lasting, publish, will};
use crate::{eventually, metric, node};

const CLIENTS: usize = 20;
/// What there is now, of everything that a client can leave behind.
const GAUGES: [&str; 12] = [
    "lapwing_connections",
    "lapwing_sessions",
    "lapwing_sessions_offline",
    "lapwing_subscriptions",
    "lapwing_shared_subscriptions",
    "lapwing_groups",
    "lapwing_group_waiting_messages",
    "lapwing_retained_messages",
    "lapwing_retained_bytes",
    "lapwing_messages_kept",
    "lapwing_journal_queued_messages",
    "lapwing_strangers",
];

fn gauges(node: &Handle) -> BTreeMap<&'static str, u64> {
    GAUGES.into_iter().map(|name| (name, metric(node, name, ""))).collect()
}

/// Leaves a session, a group, a value and a will, and a message that waits for each of the first two.
fn come_once(node: &Handle, number: usize) {
    let (id, topic) = (format!("once-{number}"), format!("one/{number}/off"));
    let will = Will { retain: true, ..will("wills/one", b"gone") };
    let mut client = Client::connect_with(node, &lasting(&id).with_will(will)).0;
    let options = SubscriptionOptions::new(QoS::AtLeastOnce);
    client.subscribe(&format!("one/{number}/+"), options);
    client.subscribe(&format!("$share/once/one/{number}/#"), options);
    drop(client);
    let mut sender = crate::connect(node, "sender");
    sender.send(&Packet::Publish(Publish { retain: true, ..publish(&topic, b"value", QoS::AtLeastOnce, Some(1)) }));
    sender.expect_ack(1);
}

/// Are there as many sessions, subscriptions, groups, retained messages and messages as before, once all have expired?
#[test]
fn one_off_clients_leave_a_node_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let limits = r#"{"session_expiry_s_max": 1, "message_expiry_s_default": 1}"#;
    let node =
        node(&format!(r#"{{"shards": 2, "durability": "disk", "data_dir": {:?}, "limits": {limits}}}"#, dir.path()));
    eventually("the node's own values are there", || metric(&node, "lapwing_messages_kept", "") > 0);
    let before = gauges(&node);
    (0..CLIENTS).for_each(|number| come_once(&node, number));
    assert_eq!(metric(&node, "lapwing_sessions_opened_total", ""), 2 * CLIENTS as u64);
    let mut now = gauges(&node);
    eventually("everything is as before", || {
        now = gauges(&node);
        now == before
    });
}
