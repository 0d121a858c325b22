//! Declared groups: what is configured, what is on disk from before, and what ends with a group.

use std::path::Path;

use lapwing_codec::{QoS, SubscriptionOptions};
use lapwing_node::Handle;
use serde_json::{Value, json};

use crate::{connect, eventually, metric, node};

const ENDED: &str = "lapwing_groups_ended_messages_dropped_total";
const QOS1: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);

fn on_disk(dir: &Path, groups: Value) -> Handle {
    node(&json!({"shards": 2, "data_dir": dir, "groups": groups}).to_string())
}

/// Messages that wait for groups and sessions on disk.
fn queued(node: &Handle) -> u64 {
    metric(node, "lapwing_journal_queued_messages", "")
}

fn settings(node: &Handle, name: &str) -> Value {
    serde_json::from_str::<Value>(&node.group_settings_json()).unwrap()[name].clone()
}

/// Those that name and filter of a group are for.
fn groups(node: &Handle) -> Vec<(String, String, u64)> {
    let query = lapwing_node::GroupQuery { name: None, after: None, limit: 100, bytes_max: 1 << 20 };
    let page = node.groups(query).unwrap().groups;
    let read = |group: &String| {
        let group: Value = serde_json::from_str(group).unwrap();
        let text = |key: &str| group[key].as_str().unwrap().to_owned();
        (text("name"), text("filter"), group["waiting_bulk"].as_u64().unwrap())
    };
    page.iter().map(read).collect()
}

fn publish(node: &Handle, topic: &str, count: usize) {
    let mut sender = connect(node, "sender");
    (0..count).for_each(|_| sender.publish_acked(topic, b"x"));
}

/// A group is taken out with messages that wait, by command: are they counted, and told with their number?
#[test]
fn what_ends_with_a_group_is_counted_and_told() {
    let node = node(r#"{"shards": 2, "groups": {"jobs": {"filters": ["jobs/#"], "queue_messages_max": 50}}}"#);
    publish(&node, "jobs/1", 53);
    eventually("they wait", || groups(&node) == [("jobs".into(), "jobs/#".into(), 50)]);
    assert_eq!(metric(&node, ENDED, "queue_full"), 0, "they stand with their group");
    assert!(node.remove_group("jobs").unwrap());
    eventually("it is over", || groups(&node).is_empty());
    assert_eq!((metric(&node, ENDED, "group_ended"), metric(&node, ENDED, "queue_full")), (50, 3));
    let told = node.take_notices();
    let line = "group jobs on jobs/# has ended, and 50 messages with it that waited";
    assert_eq!(told.iter().filter(|told| told.contains(line)).count(), 1, "{told:?}");
}

/// A start with another filter under the name, and then the file is read again with another setting: does the group from
/// before keep what waits in it, over a crash too, and does it end by command alone?
#[test]
fn a_group_from_before_goes_on_when_the_file_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let first = on_disk(dir.path(), json!({"jobs": {"filters": ["jobs/#"]}}));
    publish(&first, "jobs/1", 5);
    first.stop().unwrap();
    let second = on_disk(dir.path(), json!({"jobs": {"filters": ["work/#"]}}));
    let both = [("jobs".into(), "jobs/#".into(), 5), ("jobs".into(), "work/#".into(), 0)];
    eventually("it is back", || groups(&second) == both);
    second.reload(&json!({"groups": {"jobs": {"filters": ["work/#"], "behind_ms": 20_000}}}).to_string()).unwrap();
    eventually("the file holds", || settings(&second, "jobs")["behind_ms"] == 20_000);
    publish(&second, "work/1", 1);
    assert_eq!((groups(&second)[0].clone(), queued(&second)), (both[0].clone(), 6));
    second.stop().unwrap();
    let third = on_disk(dir.path(), json!({"jobs": {"filters": ["work/#"]}}));
    eventually("it is back again", || groups(&third)[0] == both[0]);
    assert!(third.remove_group("jobs").unwrap());
    eventually("it is over", || groups(&third).is_empty() && queued(&third) == 0);
    assert_eq!(metric(&third, ENDED, "group_ended"), 6);
}

/// A file that is read again without a group's table, because half of it was written say: does a group with messages go on
/// with all of them, is that told, and do they come to its member once the file is whole; and has one without ended?
#[test]
fn a_reload_without_a_table_ends_no_group_that_has_messages() {
    let dir = tempfile::tempdir().unwrap();
    let node =
        on_disk(dir.path(), json!({"jobs": {"filters": ["jobs/#"], "workers": 2}, "idle": {"filters": ["idle"]}}));
    publish(&node, "jobs/1", 5);
    eventually("they wait", || groups(&node).contains(&("jobs".into(), "jobs/#".into(), 5)));
    let read = |groups: Value| node.reload(&json!({"groups": groups}).to_string()).unwrap();
    let with_all = [("jobs".into(), "jobs/#".into(), 5)];
    read(json!({"jobs": null, "idle": null}));
    let (mut told, line) = (vec![], "group jobs on jobs/# is not in the configuration any more, and has 5 messages");
    eventually("it is told", || {
        told.extend(node.take_notices());
        told.iter().any(|told| told.contains(line))
    });
    eventually("the other has ended", || groups(&node) == with_all);
    assert_eq!((&settings(&node, "jobs")["workers"], &settings(&node, "idle")), (&json!(2), &Value::Null));
    publish(&node, "jobs/1", 1);
    read(json!({"jobs": {"filters": ["jobs/#"]}}));
    let mut member = connect(&node, "member");
    member.subscribe("$share/jobs/jobs/#", QOS1);
    for _ in 0..6 {
        let received = member.receive();
        member.acknowledge(&received);
    }
    member.disconnect();
    eventually("it has nothing any more", || queued(&node) == 0);
    assert_eq!(metric(&node, ENDED, "group_ended"), 0);
    read(json!({"jobs": null}));
    eventually("it has ended", || groups(&node).is_empty());
}

/// A start whose table publishes dead letters to a topic that a group from before takes: does the table hold as it is
/// configured, for its own group, and does the other one keep what it has?
#[test]
fn what_is_configured_holds_for_what_it_declares() {
    let dir = tempfile::tempdir().unwrap();
    let first = on_disk(dir.path(), json!({"jobs": {"filters": ["jobs/#"]}}));
    publish(&first, "jobs/old", 3);
    first.stop().unwrap();
    let table = json!({
        "filters": ["jobs/in/#"], "strategy": "key-ordered", "queue_messages_max": 7, "expired": "dead-letter",
        "dead_letter_topic": "jobs/dead", "rules": [{"topics": ["jobs/in/#"], "deadline_ms": 20}],
    });
    let second = on_disk(dir.path(), json!({"jobs": table}));
    for (key, value) in table.as_object().unwrap().iter().filter(|(key, _)| *key != "rules") {
        assert_eq!(settings(&second, "jobs")[key], *value, "{key}");
    }
    let told = second.take_notices();
    let says = |line: &str| line.contains("jobs on jobs/#") && line.contains("without dead_letter_topic jobs/dead");
    assert!(told.iter().any(|told| says(told)), "{told:?}");
    let mut reader = connect(&second, "reader");
    reader.subscribe("jobs/dead", QOS1);
    publish(&second, "jobs/in/1", 1);
    assert_eq!(reader.receive().topic, "jobs/dead");
    // The message and its letter, which the old group does not make letters of.
    eventually("the other has it all", || {
        groups(&second) == [("jobs".into(), "jobs/#".into(), 5), ("jobs".into(), "jobs/in/#".into(), 0)]
    });
    assert!(second.remove_group("jobs").unwrap());
    eventually("all of that name is over", || groups(&second).is_empty() && queued(&second) == 0);
}

/// A start with as many tables as there may be, and a group on disk that none of them declares: is it there with all it has?
#[test]
fn a_group_from_before_is_there_beyond_the_number_of_tables() {
    let dir = tempfile::tempdir().unwrap();
    let first = on_disk(dir.path(), json!({"jobs": {"filters": ["jobs/#"]}}));
    publish(&first, "jobs/1", 5);
    first.stop().unwrap();
    let full: serde_json::Map<String, Value> = (0..1000).map(|n| (format!("t{n}-*"), json!({}))).collect();
    for _ in 0..2 {
        let full = on_disk(dir.path(), Value::Object(full.clone()));
        eventually("it is back", || groups(&full) == [("jobs".into(), "jobs/#".into(), 5)]);
        full.stop().unwrap();
    }
}

/// A declared group has ended by `expiry`: does another table that changes leave it alone, and does its own bring it back?
#[test]
fn a_group_that_has_expired_stays_away() {
    let node = node(r#"{"shards": 2, "groups": {"v": {"filters": ["v/#"], "expiry_ms": 20}}}"#);
    eventually("it expires", || groups(&node).is_empty());
    node.put_group("other", r#"{"behind_ms": 3000}"#).unwrap();
    node.put_group("more", r#"{"filters": ["more"]}"#).unwrap();
    assert_eq!(groups(&node), [("more".into(), "more".into(), 0)]);
    node.put_group("v", r#"{"filters": ["v/#"]}"#).unwrap();
    eventually("it is declared again", || groups(&node).len() == 2);
}
