//! What an entry of one data group names in another: it was committed before. Each data group will have a log of its own, and a
//! crash, or a change of owner, takes what is not committed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lapwing_codec::{Ack, Packet, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_ledger::{Entry, Fact, Origin, Published};
use lapwing_node::Handle;
use lapwing_store::Log;
use lapwing_store::disk::OsDisk;
use lapwing_store::inspect::{DataFolder, RecordSource};

use crate::client::Client;
use crate::faulty_disk::hanging_sync_while;
use crate::packets::{ConnectExt, lasting, will};
use crate::{config, connect, eventually, metric, node};

const QOS2: SubscriptionOptions = SubscriptionOptions::new(QoS::ExactlyOnce);

/// The entries of a group or hold, with their commits and those of their ends.
type Kept = HashMap<u64, (usize, Option<usize>)>;

/// A journal, read from its beginning.
#[derive(Default)]
struct Walk {
    /// Commits so far: what lies behind a gap in its file, which is a commit record, belongs to the next.
    commits: usize,
    records: usize,
    end: (PathBuf, u64),
    /// By data group and index of each group and hold.
    entries: HashMap<(u16, u64), Kept>,
    names: usize,
}

impl Walk {
    fn of(dir: &Path) -> Walk {
        let folder = DataFolder::open(Arc::new(OsDisk), dir).expect("the folder is whole");
        let mut records = folder.records(&RecordSource::Journal).expect("it has a journal");
        let mut walk = Walk::default();
        loop {
            let some = records.read_some(1000).expect("it can be read");
            if some.is_empty() {
                return walk;
            }
            for record in some {
                let begin = (record.segment.clone(), record.at);
                walk.commits += usize::from(begin != walk.end);
                walk.end = (record.segment, record.at + record.bytes);
                walk.records += 1;
                if record.kind == "data" {
                    let entry = Entry::decode(&record.body).expect("it is an entry");
                    walk.take((record.partition as u16, record.index), &entry);
                }
            }
        }
    }

    fn take(&mut self, (data_group, index): (u16, u64), entry: &Entry<'_>) {
        match entry {
            Entry::GroupOpened(_) => _ = self.entries.insert((data_group, index), HashMap::new()),
            Entry::Published(published) => {
                self.check(published);
                for group in published.groups.iter() {
                    let entries = self.entries.get_mut(&(data_group, group.0)).expect("it was opened");
                    entries.insert(index, (self.commits, None));
                }
            }
            Entry::Progress(progress) => {
                for (keeper, fact) in progress.facts.iter() {
                    let entries = self.entries.get_mut(&(data_group, keeper.0));
                    if let (Some(entries), Fact::Finished { entry }) = (entries, fact) {
                        entries.get_mut(&entry).expect("it was there").1 = Some(self.commits);
                    }
                }
            }
            _ => {}
        }
    }

    /// What is named was committed before, and so were the ends of all before `settled`.
    fn check(&mut self, published: &Published<'_>) {
        let Some(Origin { data_group, session, use_number, settled, .. }) = published.origin else { return };
        let Some(entries) = self.entries.get(&(data_group, session.0)) else { return };
        let (committed, _) = entries.get(&use_number).expect("what is named is before it in the log");
        assert!(*committed < self.commits, "entry {use_number} of data group {data_group} was not committed yet");
        for (entry, (_, end)) in entries.iter().filter(|(entry, _)| **entry < settled) {
            assert!(end.is_some_and(|end| end < self.commits), "the end of {entry} was not committed yet");
        }
        self.names += 1;
    }
}

/// Publishes messages of QoS 2, so many at a time, and does all that they need.
fn publish(client: &mut Client, topics: &[&str], at_a_time: usize) {
    let (mut sent, mut done) = (0, 0);
    let mut send_next = |client: &mut Client| {
        if let Some(topic) = topics.get(sent) {
            client.publish(topic, format!("{sent}").as_bytes(), QoS::ExactlyOnce, Some(sent as u16 + 1));
            sent += 1;
        }
    };
    (0..at_a_time).for_each(|_| send_next(client));
    while done < topics.len() {
        let received = client.expect("PUBREC or PUBCOMP", |packet| match packet {
            Packet::PubRec(ack) => Some(Some(ack.packet_id)),
            Packet::PubComp(_) => Some(None),
            _ => None,
        });
        match received {
            Some(id) => {
                send_next(client);
                client.send(&Packet::PubRel(Ack::new(id, ReasonCode::Success)));
            }
            None => done += 1,
        }
    }
}

/// Takes so many messages, to the end of each.
fn take(client: &mut Client, count: usize) -> Vec<String> {
    let (mut taken, mut done) = (vec![], 0);
    while done < count {
        let (id, message) = client.expect("PUBLISH or PUBREL", |packet| match packet {
            Packet::Publish(publish) => {
                let payload = String::from_utf8_lossy(publish.payload).into_owned();
                Some((publish.packet_id?, Some((payload, publish.qos))))
            }
            Packet::PubRel(ack) => Some((ack.packet_id, None)),
            _ => None,
        });
        let (ack, qos) = (Ack::new(id, ReasonCode::Success), message.as_ref().map(|(_, qos)| *qos));
        client.send(&match qos {
            Some(QoS::ExactlyOnce) => Packet::PubRec(ack),
            Some(_) => Packet::PubAck(ack),
            None => Packet::PubComp(ack),
        });
        taken.extend(message.map(|(payload, _)| payload));
        done += usize::from(qos != Some(QoS::ExactlyOnce));
    }
    taken
}

/// From a hold to a kept group and to a kept session, from the group to a kept member: is everything that is named committed
/// before, on one shard and on several, and does each message come once and in the order of its topic?
#[test]
fn what_an_entry_names_was_committed_before_it() {
    for shards in [1, 2, 4] {
        let dir = tempfile::tempdir().unwrap();
        let node = node(&format!(r#"{{"shards": {shards}, "data_dir": {:?}, "hold": {{"h/#": {{}}}}}}"#, dir.path()));
        let (mut alone, _) = Client::connect_with(&node, &lasting("alone"));
        alone.subscribe("h/+", QOS2);
        let (mut member, _) = Client::connect_with(&node, &lasting("member"));
        member.subscribe("$share/crew/h/+", QOS2);
        member.subscribe("$share/crew/g/+", QOS2);
        let mut sender = connect(&node, "sender");
        for _ in 0..4 {
            publish(&mut sender, &["h/a", "h/b", "h/a", "g/a", "g/a", "h/c", "g/b", "h/a"], 8);
            assert_eq!(take(&mut alone, 5), ["0", "1", "2", "5", "7"], "{shards} shards");
            let of_topic_a = |payload: &String| ["0", "2", "7"].contains(&payload.as_str());
            let taken = take(&mut member, 8);
            assert_eq!(taken.iter().filter(|it| of_topic_a(it)).collect::<Vec<_>>(), ["0", "2", "7"], "{taken:?}");
        }
        // Each while the one before goes from hold to receivers and ends.
        publish(&mut sender, &["h/a"; 40], 1);
        let all: Vec<_> = (0..40).map(|n| format!("{n}")).collect();
        assert_eq!((take(&mut alone, 40), take(&mut member, 40)), (all.clone(), all), "{shards} shards");
        drop((alone, member, sender));
        node.drain(Duration::from_secs(30)).unwrap();
        node.stop().unwrap();
        let walk = Walk::of(dir.path());
        // Of each round five for the session, five for the group, and eight of the group for its member; then three of each.
        assert_eq!(walk.names, 4 * 18 + 3 * 40, "{shards} shards");
        assert!(walk.commits < walk.records, "some commits have several records");
    }
}

/// A node of one shard on a disk that does not answer a sync while the lock is held.
fn on_hanging_disk(dir: &Path, json: &str) -> (Handle, Arc<Mutex<()>>) {
    let hold = Arc::new(Mutex::new(()));
    let disk = hanging_sync_while(hold.clone());
    let open = move |dir: &Path, config: &_, streams: &[_]| Log::open_on(disk, dir, config, streams);
    let json = format!(r#"{{"shards": 1, "data_dir": {dir:?}, "durability": "disk", {json}}}"#);
    (Handle::start_with_log(config(&json), Box::new(open)).expect("the node starts"), hold)
}

/// While the disk does not answer: is QoS 2 with nobody, does QoS 1 of another publisher and topic pass and that behind it not, and
/// does all come when the disk has it?
fn waits_for_its_commit(filter: &str, [topic, other]: [&str; 2]) {
    let dir = tempfile::tempdir().unwrap();
    let tables = r#""hold": {"h/#": {}}, "groups": {"crew": {"filters": ["g/+"]}}"#;
    let (node, hold) = on_hanging_disk(dir.path(), tables);
    let mut receiver = connect(&node, "receiver");
    receiver.subscribe(filter, QOS2);
    let mut sender = connect(&node, "sender");
    let held = hold.lock().unwrap();
    sender.publish(topic, b"exactly", QoS::ExactlyOnce, Some(1));
    sender.publish(topic, b"behind it", QoS::AtLeastOnce, Some(2));
    sender.expect_silence();
    connect(&node, "another").publish(other, b"passes", QoS::AtLeastOnce, Some(1));
    assert_eq!(take(&mut receiver, 1), ["passes"]);
    receiver.expect_silence();
    drop(held);
    assert_eq!(take(&mut receiver, 2), ["exactly", "behind it"]);
    receiver.expect_silence();
    node.stop().unwrap();
}

#[test]
fn qos_2_of_a_hold_is_offered_when_its_entry_is_committed() {
    waits_for_its_commit("h/+", ["h/a", "h/b"]);
}

#[test]
fn qos_2_of_a_group_is_bound_when_its_entry_is_committed() {
    waits_for_its_commit("$share/crew/g/+", ["g/a", "g/b"]);
}

/// A client that goes while the disk does not answer: does its will of QoS 2 go out when the entry that names it is committed?
#[test]
fn a_will_goes_out_when_its_entry_is_committed() {
    let dir = tempfile::tempdir().unwrap();
    let (node, hold) = on_hanging_disk(dir.path(), r#""limits": {}"#);
    let mut receiver = connect(&node, "receiver");
    receiver.subscribe("w", QOS2);
    let held = hold.lock().unwrap();
    let mut mortal = Client::open(&node);
    let connect = lasting("mortal").with_will(lapwing_codec::Will { qos: QoS::ExactlyOnce, ..will("w", b"gone") });
    mortal.send(&Packet::Connect(connect.in_version(Version::V5)));
    eventually("it is there", || metric(&node, "lapwing_connections", "") == 2);
    drop(mortal);
    eventually("it has gone", || metric(&node, "lapwing_connections", "") == 1);
    receiver.expect_silence();
    drop(held);
    assert_eq!(receiver.receive().payload, b"gone");
    node.stop().unwrap();
}
