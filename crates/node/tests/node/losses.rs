//! Losses that somebody has accepted: whatever refers to what is gone is let go, and a node starts in any case.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lapwing_codec::{QoS, SubscriptionOptions, Will, WillProperties};
use lapwing_ledger::Lost;
use lapwing_node::Handle;
use lapwing_node::inspect::{RepairWanted, backup, check, repair};
use lapwing_store::disk::OsDisk;
use lapwing_store::inspect::DataFolder;
use serde_json::Value;

use crate::client::Client;
use crate::inspect::{events, find, spoil, told};
use crate::packets::{ConnectExt, lasting, will};
use crate::{config, connect, eventually, metric};

const QOS1: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);
/// Each is in one entry: for a session, for a consumer group, a retained message, a will.
const LOST: [&[u8]; 4] = [b"session-1", b"group-1", b"retained-1", b"last-words"];

fn start(dir: &Path) -> Handle {
    Handle::start(config(&format!(
        r#"{{"shards": 2, "data_dir": {dir:?}, "durability": "disk", "limits": {{"log_snapshot_bytes": 1}},
            "groups": {{"crew": {{"filters": ["g/#"]}}}}}}"#
    )))
    .expect("the node starts")
}

/// Whether snapshots have all that the log has.
fn is_covered(dir: &Path) -> bool {
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("copy");
    assert!(backup(dir, &copy, &mut |_| ControlFlow::Continue(())).expect("a copy"));
    let (_, seen) = told(|tell| check(&copy, tell));
    events(&seen, "group").iter().all(|group| group["snapshot_index"] == group["last_index"])
}

/// A folder in which snapshots refer to messages and a will.
fn covered() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path());
    let properties = WillProperties { delay_s: 3_000, ..Default::default() };
    let last_words = Will { properties, ..will("w/1", b"last-words") };
    let (mut keeper, _) = Client::connect_with(&node, &lasting("keeper").with_will(last_words));
    keeper.subscribe("s/+", QOS1);
    drop(keeper);
    let mut publisher = connect(&node, "publisher");
    for number in 0..3 {
        publisher.publish_acked("s/1", format!("session-{number}").as_bytes());
        publisher.publish_acked("g/1", format!("group-{number}").as_bytes());
        publisher.publish_retained(&format!("r/{number}"), format!("retained-{number}").as_bytes());
    }
    eventually("snapshots that have all of it", || is_covered(dir.path()));
    node.stop().unwrap();
    dir
}

/// The same, and they cannot be read any more; with their segment.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = covered();
    let mut segments: Vec<PathBuf> = LOST.iter().map(|payload| spoil(dir.path(), payload)).collect();
    segments.dedup();
    assert_eq!(segments.len(), 1);
    (dir, segments.remove(0))
}

fn accept(dir: &Path, segment: &Path) -> Vec<Value> {
    let accept_loss_of = vec![segment.to_str().unwrap().to_owned()];
    let (done, seen) = told(|tell| repair(dir, &RepairWanted { accept_loss_of, trial: false }, tell));
    assert!(done, "{seen:?}");
    seen
}

fn assert_received(client: &mut Client, expected: [&str; 2]) {
    let mut found = vec![];
    for _ in expected {
        let received = client.receive();
        client.acknowledge(&received);
        found.push(String::from_utf8(received.payload).unwrap());
    }
    found.sort_unstable();
    assert_eq!(found, expected);
    client.expect_silence();
}

/// A node has everything but what is lost, and nothing waits for that any more.
fn assert_the_rest_is_there(dir: &Path) {
    let node = start(dir);
    let (mut keeper, is_present) = Client::connect_with(&node, &lasting("keeper"));
    assert!(is_present, "the session is there, without its will");
    assert_received(&mut keeper, ["session-0", "session-2"]);
    let mut member = connect(&node, "member");
    member.subscribe("$share/crew/g/#", QOS1);
    assert_received(&mut member, ["group-0", "group-2"]);
    let mut reader = connect(&node, "reader");
    reader.subscribe("r/#", QOS1);
    assert_received(&mut reader, ["retained-0", "retained-2"]);
    eventually("nothing waits", || metric(&node, "lapwing_journal_queued_messages", "") == 0);
    node.stop().unwrap();
}

/// Does a repair take back every reference, by name, so that a check finds nothing?
#[test]
fn sessions_groups_topics_and_wills_let_go_of_what_is_lost() {
    let (dir, segment) = folder();
    let seen = accept(dir.path(), &segment);
    let loss = events(&seen, "loss")[0];
    assert_eq!(loss["count"], 4, "{loss}");
    let dropped = events(&seen, "dropped");
    let of = |key: &str, name: &str| dropped.iter().filter(|one| one[key] == name).collect::<Vec<_>>();
    assert_eq!(of("client_id", "keeper")[0]["messages"], 1, "{dropped:?}");
    assert_eq!(of("consumer_group", "crew g/#")[0]["messages"], 1, "{dropped:?}");
    assert_eq!((of("retained", "r/1").len(), of("will_of", "keeper").len()), (1, 1), "{dropped:?}");
    assert_eq!(dropped.len(), 4, "{dropped:?}");
    let (whole, seen) = told(|tell| check(dir.path(), tell));
    assert!(whole, "{seen:?}");
    assert_the_rest_is_there(dir.path());
}

/// Does a node start, and lose no more, when a repair was cut off between giving up and letting go?
#[test]
fn a_node_starts_while_something_still_refers_to_what_is_lost() {
    let (dir, segment) = folder();
    let folder = DataFolder::open(Arc::new(OsDisk), dir.path()).unwrap();
    let is_it = |path: &Path| dir.path().join(path) == segment;
    let file = folder.files().iter().find(|file| is_it(&file.path)).unwrap();
    let loss = folder.accept_loss(&OsDisk, file, &Lost::filling).unwrap().expect("a loss");
    assert_eq!(loss.ranges.iter().map(|range| range.last + 1 - range.first).sum::<u64>(), 4);
    let (whole, _) = told(|tell| check(dir.path(), tell));
    assert!(!whole, "a check tells what refers to it");
    let before = fs::read(&segment).unwrap();
    let refused = repair(dir.path(), &RepairWanted::default(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(refused.unwrap_err().code(), "store_refused");
    assert_eq!(fs::read(&segment).unwrap(), before, "without a word nothing is let go");
    assert_the_rest_is_there(dir.path());
    assert!(!events(&accept(dir.path(), &segment), "whole").is_empty(), "the repair goes on where it was");
    assert!(told(|tell| check(dir.path(), tell)).0);
}

/// Is no index given a second time where the end of a data group is lost, and its snapshot says how far it had come?
#[test]
fn a_data_group_goes_on_behind_its_snapshot() {
    let dir = covered();
    let (segment, at) = find(dir.path(), b"retained-1");
    let mut bytes = fs::read(&segment).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    // All but the last commits, which vouch for what was there.
    bytes[at..end - 300].fill(0);
    fs::write(&segment, bytes).unwrap();
    let seen = accept(dir.path(), &segment);
    let mended = events(&seen, "mended");
    let is_said = |one: &&Value| one["what"].as_str().is_some_and(|what| what.contains("goes on behind its snapshot"));
    assert!(mended.iter().any(is_said), "{seen:?}");
    let (whole, seen) = told(|tell| check(dir.path(), tell));
    assert!(whole, "{seen:?}");
    let node = start(dir.path());
    let mut publisher = connect(&node, "publisher");
    publisher.publish_retained("r/1", b"again");
    publisher.subscribe("r/1", QOS1);
    assert_eq!(publisher.receive().payload, b"again");
    node.stop().unwrap();
    drop(start(dir.path()));
}
