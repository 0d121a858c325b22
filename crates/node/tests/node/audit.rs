//! The audit trail of a running node, when somebody moves its file.

use std::fs;
use std::path::Path;

use lapwing_node::Handle;
use serde_json::{Value, json};

use crate::{connect, eventually, metric, node};

fn start(trail: &Path, on_failure: &str) -> Handle {
    node(&json!({"shards": 1, "audit": {"file": trail, "on_failure": on_failure}}).to_string())
}

fn numbers(trail: &Path) -> Vec<u64> {
    let text = fs::read_to_string(trail).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap()).collect()
}

/// A trail that is moved away while the node runs: is that an alarm, counted, and does the trail go on where it should lie,
/// without a number left out between both files?
#[test]
fn a_trail_that_was_moved_goes_on_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let (trail, aside) = (dir.path().join("audit.jsonl"), dir.path().join("aside"));
    let node = start(&trail, "go-on");
    let _client = connect(&node, "before");
    fs::rename(&trail, &aside).unwrap();
    let mut told = vec![];
    eventually("it is written again", || {
        told.extend(node.take_log());
        told.iter().any(|line| line.text == "the audit trail is written again")
    });
    let alarm =
        |text: &str| text.contains("the audit trail cannot be written") && text.contains("was moved or removed");
    assert!(told.iter().any(|line| line.is_alarm && alarm(&line.text)), "{told:?}");
    assert_eq!(metric(&node, "lapwing_audit_failures_total", ""), 1);
    node.stop().unwrap();
    let (before, after) = (numbers(&aside), numbers(&trail));
    assert!(!after.is_empty(), "the end, at least");
    let all: Vec<u64> = before.into_iter().chain(after).collect();
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
}

/// The same where nothing is to be done that is not written: does the node stop?
#[test]
fn a_node_that_needs_its_trail_stops_when_it_was_removed() {
    let dir = tempfile::tempdir().unwrap();
    let trail = dir.path().join("audit.jsonl");
    let node = start(&trail, "stop");
    fs::remove_file(&trail).unwrap();
    eventually("it stops", || node.failure().is_some());
    let failure = node.failure().unwrap();
    assert!(failure.message.contains("audit.jsonl was moved or removed"), "{}", failure.message);
    assert!(!trail.exists());
}
