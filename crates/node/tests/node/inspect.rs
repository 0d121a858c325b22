//! A data folder of a real node: what a check says of it, what can be given up, and copies while the node runs.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use lapwing_codec::{Packet, QoS, SubscriptionOptions};
use lapwing_node::inspect::{DumpWanted, InspectError, RepairWanted, backup, check, dump, repair, restore};
use lapwing_node::{Handle, Slot};
use serde_json::Value;

use crate::client::Client;
use crate::packets::{lasting, publish};
use crate::{config, connect, eventually};

fn start_with(dir: &Path, limits: &str) -> Handle {
    Handle::start(config(&format!(
        r#"{{"shards": 2, "data_dir": {dir:?}, "durability": "disk", "limits": {{{limits}}},
            "streams": {{"all": {{"filter": "t/#"}}}}}}"#
    )))
    .expect("the node starts")
}

fn start(dir: &Path) -> Handle {
    start_with(dir, "")
}

/// Everything that a job tells.
pub fn told<T>(
    job: impl FnOnce(&mut dyn FnMut(Value) -> ControlFlow<()>) -> Result<T, InspectError>,
) -> (T, Vec<Value>) {
    let mut told = vec![];
    let result = job(&mut |value| {
        told.push(value);
        ControlFlow::Continue(())
    });
    (result.expect("the job ends"), told)
}

pub fn events<'v>(told: &'v [Value], kind: &str) -> Vec<&'v Value> {
    told.iter().filter(|value| value["event"] == kind).collect()
}

/// A folder in which 20 messages wait for a session that is away.
pub fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fill(&start(dir.path()));
    dir
}

fn fill(node: &Handle) {
    let (mut keeper, _) = Client::connect_with(node, &lasting("keeper"));
    keeper.subscribe("t/+", SubscriptionOptions::new(QoS::AtLeastOnce));
    drop(keeper);
    publish_numbers(&mut connect(node, "publisher"), 0..20);
    node.stop().unwrap();
}

fn publish_numbers(publisher: &mut Client, numbers: std::ops::Range<u32>) {
    for number in numbers {
        publisher.publish_acked("t/1", format!("secret-{number:05}").as_bytes());
    }
}

/// What waits for the session, as numbers.
fn waiting(dir: &Path) -> Vec<String> {
    let node = start(dir);
    let (mut keeper, present) = Client::connect_with(&node, &lasting("keeper"));
    assert!(present, "the session is there");
    let mut found = vec![];
    let mut marker = connect(&node, "marker");
    marker.publish_acked("t/2", b"end");
    loop {
        let received = keeper.receive();
        keeper.acknowledge(&received);
        let text = String::from_utf8(received.payload).unwrap();
        if text == "end" {
            break;
        }
        found.push(text);
    }
    node.stop().unwrap();
    found
}

/// The place of a message's payload in the log of the data groups.
pub fn find(dir: &Path, payload: &[u8]) -> (PathBuf, usize) {
    for entry in fs::read_dir(dir.join("log")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_file() { fs::read(&path).unwrap() } else { vec![] };
        if let Some(at) = bytes.windows(payload.len()).position(|window| window == payload) {
            return (path, at);
        }
    }
    panic!("no file has it");
}

pub fn spoil(dir: &Path, payload: &[u8]) -> PathBuf {
    let (path, at) = find(dir, payload);
    let mut bytes = fs::read(&path).unwrap();
    bytes[at] ^= 0x20;
    fs::write(&path, bytes).unwrap();
    path
}

/// Is a folder whole after an orderly end, and does the check count what waits in it?
#[test]
fn a_whole_folder_is_told_file_by_file_and_group_by_group() {
    let dir = folder();
    let (whole, told) = told(|tell| check(dir.path(), tell));
    assert!(whole, "{told:?}");
    let files = events(&told, "file");
    assert!(files.iter().any(|file| file["kind"] == "segment" && file["records"].as_u64() > Some(20)), "{files:?}");
    let groups = events(&told, "group");
    let sum = |key: &str| groups.iter().map(|group| group[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((groups.len(), sum("sessions"), sum("queued"), sum("strays")), (16, 1, 20, 0));
    assert_eq!(events(&told, "result")[0]["damaged"], 0);
}

/// Does the dump say whose each entry is, and keep payloads to itself unless it is asked for them?
#[test]
fn the_dump_tells_what_entries_mean() {
    let dir = folder();
    let of = |wanted: DumpWanted| told(|tell| dump(dir.path(), &wanted, tell)).1;
    let all = of(DumpWanted::default());
    assert!(all.iter().any(|record| record["entry"] == "Opened" && record["client_id"] == "keeper"));
    let published: Vec<&Value> = all.iter().filter(|record| record["entry"] == "Published").collect();
    assert_eq!(published.len(), 20);
    assert!(published.iter().all(|record| record["topic"] == "t/1" && record["keepers"] == 1));
    assert!(!format!("{all:?}").contains("payload_hex"));
    let group = published[0]["group"].as_u64().unwrap() as u16;
    let some = of(DumpWanted { group: Some(group), payload: true, ..DumpWanted::default() });
    assert!(some.iter().all(|record| record["group"] == group));
    assert!(format!("{some:?}").contains("7365637265742d3030303030"), "secret-00000");
    let stream = of(DumpWanted { stream: Some("all".into()), ..DumpWanted::default() });
    assert_eq!(stream.iter().filter(|record| record["topic"] == "t/1").count(), 20);
    let wrong = dump(dir.path(), &DumpWanted { stream: Some("none".into()), ..DumpWanted::default() }, &mut |_| {
        ControlFlow::Continue(())
    });
    assert_eq!(wrong.unwrap_err().code(), "store_usage");
}

/// Is one body in the log once for each data group that keeps it, however many of its sessions sleep?
#[test]
fn a_body_is_written_once_for_each_data_group_that_keeps_it() {
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path());
    let sleepers: Vec<String> = (0..100).map(|number| format!("sleeper-{number}")).collect();
    for id in &sleepers {
        let (mut sleeper, _) = Client::connect_with(&node, &lasting(id));
        sleeper.subscribe("t/+", SubscriptionOptions::new(QoS::AtLeastOnce));
    }
    publish_numbers(&mut connect(&node, "publisher"), 0..1);
    node.stop().unwrap();
    let all = told(|tell| dump(dir.path(), &DumpWanted::default(), tell)).1;
    let published: Vec<&Value> = all.iter().filter(|record| record["entry"] == "Published").collect();
    let groups: Vec<u64> = published.iter().map(|record| record["group"].as_u64().unwrap()).collect();
    let of_sleepers: BTreeSet<u64> =
        sleepers.iter().map(|id| u64::from(Slot::of(id.as_bytes()).data_group())).collect();
    assert_eq!(groups.len(), of_sleepers.len(), "one entry for each of {of_sleepers:?}: {groups:?}");
    assert_eq!(groups.into_iter().collect::<BTreeSet<_>>(), of_sleepers);
    assert_eq!(published.iter().map(|record| record["keepers"].as_u64().unwrap()).sum::<u64>(), 100);
}

/// Does a node refuse to start with a damaged message, and start without it once its loss was accepted?
#[test]
fn a_message_that_cannot_be_read_is_given_up_by_name() {
    let dir = folder();
    let segment = spoil(dir.path(), b"secret-00007");
    let error = Handle::start(config(&format!(r#"{{"data_dir": {:?}, "durability": "disk"}}"#, dir.path())));
    let error = error.err().expect("it must not start").to_string();
    let name = segment.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(error.contains(&name) && error.contains("--accept-loss-of"), "{error}");
    let (whole, seen) = told(|tell| check(dir.path(), tell));
    assert!(!whole && events(&seen, "groups").len() == 1, "{seen:?}");
    let run = |accept: &[&str], trial| {
        let accept_loss_of = accept.iter().map(|name| (*name).to_owned()).collect();
        told(|tell| repair(dir.path(), &RepairWanted { accept_loss_of, trial }, tell))
    };
    let (done, seen) = run(&[], false);
    assert!(!done && events(&seen, "damage").len() == 1, "{seen:?}");
    let (done, trial) = run(&[&format!("log/{name}")], true);
    assert!(done, "{trial:?}");
    let loss = events(&trial, "loss")[0];
    assert_eq!(loss["count"], 1, "{loss}");
    assert_eq!(loss["perhaps_more"], false, "{loss}");
    assert_eq!(loss["remains"][0]["topic"], "t/1", "{loss}");
    let dropped = events(&trial, "dropped");
    assert!(dropped.is_empty(), "what was never applied is not referred to: {dropped:?}");
    assert!(!told(|tell| check(dir.path(), tell)).0, "a trial changes nothing");
    let ambiguous = RepairWanted { accept_loss_of: vec![name.clone()], trial: false };
    let refused = repair(dir.path(), &ambiguous, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(refused.to_string().contains("several segments"), "the stream has one of that name too: {refused}");
    let (done, real) = run(&[segment.to_str().unwrap()], false);
    assert_eq!((done, events(&real, "loss")[0]), (true, loss));
    assert!(told(|tell| check(dir.path(), tell)).0);
    let expected: Vec<String> = (0..20).filter(|n| *n != 7).map(|number| format!("secret-{number:05}")).collect();
    assert_eq!(waiting(dir.path()), expected);
    let (_, again) = run(&[&format!("log/{name}")], true);
    assert_eq!(events(&again, "whole").len(), 1);
}

/// Does a session let go of a lost message to which a snapshot refers, and of nothing else?
#[test]
fn what_refers_to_a_lost_message_is_told_and_let_go() {
    let dir = tempfile::tempdir().unwrap();
    let node = start_with(dir.path(), r#""log_snapshot_bytes": 1"#);
    let (mut keeper, _) = Client::connect_with(&node, &lasting("keeper"));
    keeper.subscribe("t/+", SubscriptionOptions::new(QoS::AtLeastOnce));
    drop(keeper);
    publish_numbers(&mut connect(&node, "publisher"), 0..20);
    eventually("a snapshot that has the messages", || {
        let names = fs::read_dir(dir.path().join("log/snapshots")).unwrap().map(|entry| entry.unwrap().file_name());
        let index = |name: &str| name.get(3..23).and_then(|digits| digits.parse::<u64>().ok());
        names.filter_map(|name| index(name.to_str()?)).any(|index| index >= 22)
    });
    node.stop().unwrap();
    let segment = spoil(dir.path(), b"secret-00007");
    let accept_loss_of = vec![segment.to_str().unwrap().to_owned()];
    let (done, seen) = told(|tell| repair(dir.path(), &RepairWanted { accept_loss_of, trial: false }, tell));
    let dropped = events(&seen, "dropped");
    assert!(done && dropped.len() == 1, "{seen:?}");
    assert_eq!(dropped[0]["client_id"], "keeper");
    assert_eq!(dropped[0]["messages"], 1);
    let (whole, seen) = told(|tell| check(dir.path(), tell));
    assert!(whole, "{seen:?}");
    let expected: Vec<String> = (0..20).filter(|n| *n != 7).map(|number| format!("secret-{number:05}")).collect();
    assert_eq!(waiting(dir.path()), expected);
}

/// Are wrong names, running nodes and wrong folders told apart from damage?
#[test]
fn what_was_not_meant_is_a_usage_error() {
    let dir = folder();
    let silent = &mut |_: Value| ControlFlow::Continue(());
    let wanted = RepairWanted { accept_loss_of: vec!["log/7.log".into()], trial: false };
    assert_eq!(repair(dir.path(), &wanted, silent).unwrap_err().code(), "store_usage");
    let node = start(dir.path());
    let errors = [
        check(dir.path(), silent).unwrap_err(),
        dump(dir.path(), &DumpWanted::default(), silent).unwrap_err(),
        repair(dir.path(), &RepairWanted::default(), silent).unwrap_err(),
        restore(dir.path(), &dir.path().join("../copy-of-one-in-use"), silent).map(drop).unwrap_err(),
        check(&dir.path().join("streams"), silent).unwrap_err(),
        backup(dir.path(), &dir.path().join("inside"), silent).map(drop).unwrap_err(),
        backup(dir.path(), dir.path().parent().unwrap(), silent).map(drop).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.code(), "store_usage", "{error}");
    }
    node.stop().unwrap();
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(repair(empty.path(), &RepairWanted::default(), silent).unwrap_err().code(), "store_usage");
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "nothing was made there");
}

/// Has a copy that was made under load all that was acknowledged before, and does a node start on what is restored of it?
#[test]
fn a_backup_of_a_running_node_has_what_was_acknowledged_before() {
    let (dir, place) = (folder(), tempfile::tempdir().unwrap());
    let (copy, restored) = (place.path().join("copy"), place.path().join("deep/restored"));
    let node = start(dir.path());
    let mut publisher = connect(&node, "publisher");
    publish_numbers(&mut publisher, 20..200);
    let load = std::thread::spawn(move || {
        // A window full of messages at a time, as fast as they are acknowledged.
        for number in 200..3_000_u32 {
            publisher.send(&Packet::Publish(publish(
                "t/1",
                format!("secret-{number:05}").as_bytes(),
                QoS::AtLeastOnce,
                Some(1),
            )));
            publisher.expect_ack(1);
        }
    });
    let (done, seen) = told(|tell| backup(dir.path(), &copy, tell));
    assert!(done && !events(&seen, "copied").is_empty());
    load.join().unwrap();
    node.stop().unwrap();
    assert!(told(|tell| restore(&copy, &restored, tell)).0);
    let found = waiting(&restored);
    assert!(found.len() >= 200, "{}", found.len());
    let expected = (0..).map(|number| format!("secret-{number:05}"));
    assert!(found.iter().cloned().eq(expected.take(found.len())), "in order, none missing");
    let again = backup(&copy, &restored, &mut |_| ControlFlow::Continue(()));
    assert_eq!(again.unwrap_err().code(), "store_usage", "what is there is not written over");
}

/// Is a folder that cannot be looked at told apart from a damaged one?
#[test]
fn what_cannot_be_opened_is_not_damaged() {
    let dir = folder();
    let silent = &mut |_: Value| ControlFlow::Continue(());
    fs::remove_file(dir.path().join("lock")).unwrap();
    fs::create_dir(dir.path().join("lock")).unwrap();
    let errors = [
        check(dir.path(), silent).unwrap_err(),
        dump(dir.path(), &DumpWanted::default(), silent).unwrap_err(),
        repair(dir.path(), &RepairWanted::default(), silent).unwrap_err(),
        check(&dir.path().join("format"), silent).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.code(), "store_usage", "{error}");
        assert!(!error.to_string().contains("the log failed"), "{error}");
    }
}

/// Is nothing left of a copy whose source is damaged, or that was broken off?
#[test]
fn a_copy_of_what_is_damaged_is_not_kept() {
    let (dir, place) = (folder(), tempfile::tempdir().unwrap());
    spoil(dir.path(), b"secret-00003");
    let copy = place.path().join("copy");
    let refused = backup(dir.path(), &copy, &mut |_| ControlFlow::Continue(()));
    assert!(refused.is_err());
    let broken_off = backup(folder().path(), &copy, &mut |_| ControlFlow::Break(()));
    assert!(!broken_off.unwrap());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}
