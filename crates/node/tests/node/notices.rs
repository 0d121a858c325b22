//! What the operator hears while a client does its best that he hears nothing.

use lapwing_codec::{QoS, SubscriptionOptions};

use crate::client::Client;
use crate::packets::lasting;
use crate::{connect, eventually, ids_on_both_shards, metric, node};

const TOLD: &str = "lapwing_notices_total";
const LEFT_OUT: &str = "lapwing_notices_left_out_total";

/// One client makes hundreds of groups fall behind, thousands of times as many notices as anybody reads. Is the alarm of
/// memory that comes behind them told, in bounded lines, and everything that was left out counted?
#[test]
fn an_alarm_is_heard_in_a_flood() {
    const GROUPS: u64 = 600;
    let node = node(
        r#"{"shards": 2, "limits": {"notices_per_minute": 20, "memory_high_bytes": 8000000, "memory_max_bytes": 100000000}}"#,
    );
    let options = SubscriptionOptions::new(QoS::AtLeastOnce);
    let mut flapping = Client::connect_with(&node, &lasting("flapping")).0;
    for group in 0..GROUPS {
        flapping.subscribe(&format!("$share/g{group}/t"), options);
    }
    flapping.disconnect();
    let mut sender = connect(&node, "sender");
    sender.publish_acked("t", b"nobody is there to take it");
    let counted = || metric(&node, TOLD, "group") + metric(&node, LEFT_OUT, "group");
    eventually("every group has said that it is behind", || counted() >= GROUPS);
    eventually("the mark of memory is reached", || {
        sender.publish_acked("t", &[1; 50_000]);
        metric(&node, TOLD, "memory") == 1
    });
    let lines = node.take_notices();
    assert!(lines.iter().any(|line| line.contains("memory_high_bytes = 8000000")), "{lines:?}");
    // A slow machine may have begun the next minute meanwhile, with a line that says what the last one has left out.
    assert!(lines.len() <= 2 * 21 + 1, "{} lines", lines.len());
    assert!(metric(&node, LEFT_OUT, "group") >= GROUPS - 40);
    assert_eq!(metric(&node, LEFT_OUT, "memory") + metric(&node, "lapwing_notices_lost_total", ""), 0);
}

/// Who comes, leaves and resets is said by name too: ids, addresses, bytes and codes, whichever shard a client went to. Is a
/// client that has reset its connection still called by its address, and were the bytes of its CONNECT counted?
#[test]
fn what_a_line_says_is_there_by_name() {
    let node = node(r#"{"shards": 2}"#);
    let clients = ids_on_both_shards().map(|id| (connect(&node, &id), id));
    let addresses = clients.each_ref().map(|(client, _)| client.address());
    let ids = clients.map(|(client, id)| {
        client.reset();
        id
    });
    let mut said: Vec<serde_json::Value> = Vec::new();
    eventually("both have come and left", || {
        let facts = node.take_log().into_iter().filter_map(|line| line.facts);
        said.extend(facts.map(|facts| serde_json::from_str(&facts).expect("an object")));
        said.len() >= 4
    });
    for (id, address) in ids.iter().zip(addresses) {
        let of: Vec<_> = said.iter().filter(|facts| facts["client_id"] == *id).collect();
        assert!(
            of.iter().all(|facts| facts["address"] == address && facts["listener"] == node.listeners()[0]),
            "{of:?}"
        );
        let [came, left] = of[..] else { panic!("{said:?}") };
        assert_eq!((&came["event"], &came["session_present"]), (&"connected".into(), &false.into()));
        assert_eq!((&left["event"], &left["reason_code"]), (&"disconnected".into(), &serde_json::Value::Null));
        assert!(left["bytes_in"].as_u64() >= Some(id.len() as u64), "{left}");
    }
}
