//! What the operator hears while a client does its best that he hears nothing.

use lapwing_codec::{QoS, SubscriptionOptions};

use crate::client::Client;
use crate::packets::lasting;
use crate::{connect, eventually, metric, node};

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
