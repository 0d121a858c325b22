//! Streams: what is acknowledged is on disk.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lapwing_codec::{Ack, Packet, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_envelope::Envelope;
use lapwing_node::{Config, Handle};
use lapwing_store::{Log, ReadLimits};

use crate::client::Client;
use crate::faulty_disk::{failing_sync_when, full_when};
use crate::packets::{ConnectExt, connect as plain, id, lasting};
use crate::{config, connect, eventually, metric};

pub fn streams(dir: &Path, shards: u32, more: &str) -> Config {
    config(&format!(
        r#"{{"shards": {shards}, "data_dir": {dir:?},
            "streams": {{"readings": {{"filter": "s/+/r", "partitions": 3, "segment_bytes": 1048576}}}} {more}}}"#
    ))
}

/// Every message of the stream: (partition, client, topic, payload, qos), in the order of offsets.
pub fn read_all(node: &Handle) -> Vec<(u32, String, String, Vec<u8>, u8)> {
    let streams = node.streams();
    let log = streams.reader().expect("the node has streams");
    let stream = log.stream("readings").expect("the stream of the tests");
    let mut all = Vec::new();
    for partition in &stream.partitions {
        let limits = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
        let from = partition.first_offset;
        log.read(stream.index, partition.partition, from, limits, None, &mut |record| {
            let (envelope, _) = Envelope::decode(record.body).expect("the node wrote an envelope");
            let (client, topic) = (envelope.client_id.to_owned(), envelope.topic.to_owned());
            all.push((partition.partition, client, topic, envelope.payload.to_vec(), envelope.qos));
            ControlFlow::Continue(())
        })
        .expect("the log can be read");
    }
    all
}

/// Is every acknowledged message in the stream at the moment of its acknowledgement, in the order of its client?
#[test]
fn what_is_acknowledged_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let node = Handle::start(streams(dir.path(), 2, "")).unwrap();
    for n in 0..4 {
        let client_id = format!("device-{n}");
        let mut client = connect(&node, &client_id);
        client.publish("elsewhere", b"not for the stream", QoS::AtMostOnce, None);
        for m in 0..20_u32 {
            client.publish_acked(&format!("s/{n}/r"), &m.to_be_bytes());
            let mine: Vec<_> = read_all(&node).into_iter().filter(|(_, client, ..)| *client == client_id).collect();
            assert_eq!(mine.len(), m as usize + 1);
            assert_eq!(mine.last().unwrap().3, m.to_be_bytes());
        }
    }
    assert_eq!(read_all(&node).len(), 80);
    assert!(read_all(&node).iter().map(|row| row.0).collect::<std::collections::BTreeSet<_>>().len() > 1);
}

/// Do acknowledgements leave in the order of the messages, although only some of them wait for the log?
#[test]
fn acknowledgements_keep_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let node = Handle::start(streams(dir.path(), 1, "")).unwrap();
    let mut client = connect(&node, "x");
    let order: Vec<u16> = (1..=60).collect();
    for &n in &order {
        let topic = if n % 3 == 0 { "s/x/r" } else { "other" };
        client.publish(topic, b"p", QoS::AtLeastOnce, Some(n));
    }
    order.iter().for_each(|&n| client.expect_ack(n));
}

/// Does QoS 2 go into the stream once, and QoS 0 soon?
#[test]
fn each_qos_goes_in_once() {
    let dir = tempfile::tempdir().unwrap();
    let node = Handle::start(streams(dir.path(), 1, "")).unwrap();
    let mut client = Client::connect_with(&node, &lasting("x")).0;
    client.publish("s/x/r", b"0", QoS::AtMostOnce, None);
    client.publish("s/x/r", b"2", QoS::ExactlyOnce, Some(5));
    client.expect("PUBREC", |packet| matches!(packet, Packet::PubRec(_)).then_some(()));
    let (mut client, present) = Client::connect_with(&node, &lasting("x"));
    assert!(present);
    client.send(&Packet::Publish(lapwing_codec::Publish {
        dup: true,
        ..crate::packets::publish("s/x/r", b"2", QoS::ExactlyOnce, Some(5))
    }));
    client.expect("PUBREC", |packet| matches!(packet, Packet::PubRec(_)).then_some(()));
    client.send(&Packet::PubRel(Ack::new(id(5), ReasonCode::Success)));
    client.expect("PUBCOMP", |packet| matches!(packet, Packet::PubComp(_)).then_some(()));
    let payloads: Vec<_> = read_all(&node).into_iter().map(|row| row.3).collect();
    assert_eq!(payloads, [b"0", b"2"]);
}

/// Is everything there after a node has been stopped in order, and does a dropped node lose nothing acknowledged?
#[test]
fn a_node_opened_again_has_everything() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..4_usize {
        let node = Handle::start(streams(dir.path(), 2, "")).unwrap();
        assert_eq!(read_all(&node).len(), round * 10);
        let mut client = connect(&node, "x");
        for _ in 0..10 {
            client.publish_acked("s/x/r", b"p");
        }
        if round % 2 == 0 {
            node.drain(std::time::Duration::from_secs(30)).unwrap();
            node.stop().unwrap();
        }
    }
}

/// With a full disk: are acknowledgements held and QoS 0 copies dropped under a name, does everything else flow, and does
/// it heal by itself?
#[test]
fn a_full_disk_holds_acknowledgements_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let full = Arc::new(AtomicBool::new(false));
    let disk = full_when(full.clone());
    let open = move |dir: &Path, config: &_, streams: &[_]| Log::open_on(disk, dir, config, streams);
    let node = Handle::start_with_log(streams(dir.path(), 1, ""), Box::new(open)).unwrap();
    let mut watcher = connect(&node, "watcher");
    watcher.subscribe("#", SubscriptionOptions::new(QoS::AtMostOnce));
    let mut device = connect(&node, "device");
    device.publish_acked("s/x/r", b"before");
    full.store(true, Ordering::Relaxed);
    device.publish("s/x/r", b"held", QoS::AtLeastOnce, Some(1));
    eventually("the alarm is raised", || metric(&node, "lapwing_log_disk_full", "") == 1);
    let mut other = connect(&node, "other");
    other.publish("s/x/r", b"qos 0", QoS::AtMostOnce, None);
    other.publish_acked("elsewhere", b"flows");
    device.expect_silence();
    let live: Vec<_> = (0..4).map(|_| watcher.receive().payload).collect();
    assert_eq!(live, [&b"before"[..], b"held", b"qos 0", b"flows"]);
    assert_eq!(metric(&node, "lapwing_messages_dropped_total", "stream_disk_full"), 1);
    assert_eq!(read_all(&node).len(), 1);
    full.store(false, Ordering::Relaxed);
    device.expect_ack(1);
    assert_eq!(read_all(&node).len(), 2);
    eventually("the alarm is over", || metric(&node, "lapwing_log_disk_full", "") == 0);
}

/// Does a drain name the full disk it waits for, and does a client that waits for the log get its acknowledgement before
/// it is sent away?
#[test]
fn a_drain_waits_for_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let full = Arc::new(AtomicBool::new(false));
    let disk = full_when(full.clone());
    let open = move |dir: &Path, config: &_, streams: &[_]| Log::open_on(disk, dir, config, streams);
    let node = Handle::start_with_log(streams(dir.path(), 1, ""), Box::new(open)).unwrap();
    let mut device = connect(&node, "device");
    full.store(true, Ordering::Relaxed);
    device.publish("s/x/r", b"held", QoS::AtLeastOnce, Some(1));
    eventually("the alarm is raised", || metric(&node, "lapwing_log_disk_full", "") == 1);
    let error = node.drain(std::time::Duration::from_millis(50)).unwrap_err();
    assert!(error.to_string().contains("disk is full"), "{error}");
    assert!(error.remedy().contains("space"), "{}", error.remedy());
    full.store(false, Ordering::Relaxed);
    node.drain(std::time::Duration::from_secs(30)).unwrap();
    device.expect_ack(1);
    device.expect_end(Some(ReasonCode::ServerShuttingDown));
}

/// Is what a stopping node could not make durable counted, and nothing where its disk has room?
#[test]
fn what_a_stop_leaves_behind_is_counted() {
    for is_full in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let full = Arc::new(AtomicBool::new(false));
        let disk = full_when(full.clone());
        let open = move |dir: &Path, config: &_, streams: &[_]| Log::open_on(disk, dir, config, streams);
        let node = Handle::start_with_log(streams(dir.path(), 1, ""), Box::new(open)).unwrap();
        let mut device = connect(&node, "device");
        device.publish_acked("s/x/r", b"durable");
        full.store(is_full, Ordering::Relaxed);
        for n in 1..=50 {
            device.publish("s/x/r", b"waits", QoS::AtLeastOnce, Some(n));
        }
        // On a full disk some are taken in before the shard hears of it; the others stay with the device.
        let taken = || metric(&node, "lapwing_stream_messages_total", "") - 1;
        let alarm = || metric(&node, "lapwing_log_disk_full", "") == 1;
        eventually("they have come", || if is_full { taken() > 0 && alarm() } else { taken() == 50 });
        node.stop().unwrap();
        let left = if is_full { taken() } else { 0 };
        assert_eq!(metric(&node, "lapwing_messages_dropped_total", "stream_stopped"), left);
    }
}

/// Does a connection that goes on publishing into a full log come to be held, bounded, and go on afterwards?
#[test]
fn publishers_into_a_full_log_are_held() {
    let dir = tempfile::tempdir().unwrap();
    let full = Arc::new(AtomicBool::new(true));
    let disk = full_when(full.clone());
    let open = move |dir: &Path, config: &_, streams: &[_]| Log::open_on(disk, dir, config, streams);
    full.store(false, Ordering::Relaxed);
    let more = r#", "limits": {"log_lane_bytes": 20000}"#;
    let node = Handle::start_with_log(streams(dir.path(), 1, more), Box::new(open)).unwrap();
    full.store(true, Ordering::Relaxed);
    let mut device = connect(&node, "device");
    let payload = [0; 1000];
    for n in 1..=100 {
        device.publish("s/x/r", &payload, QoS::AtLeastOnce, Some(n));
    }
    eventually("it is held", || metric(&node, "lapwing_reads_held_total", "") > 0);
    assert!(metric(&node, "lapwing_stream_messages_total", "") < 30);
    full.store(false, Ordering::Relaxed);
    (1..=100).for_each(|n| device.expect_ack(n));
    assert_eq!(read_all(&node).len(), 100);
}

/// Where many bring a message each that is many times what may wait for the log: is nobody sent away, is each in the stream
/// once, and acknowledged?
#[test]
fn a_flood_for_the_log_waits_its_turn() {
    const DEVICES: usize = 24;
    let dir = tempfile::tempdir().unwrap();
    let more = r#", "durability": "disk", "limits": {"log_lane_bytes": 1024}"#;
    let node = Handle::start(streams(dir.path(), 2, more)).unwrap();
    for n in 0..4 {
        let mut sleeper = Client::connect_with(&node, &lasting(&format!("sleeper-{n}"))).0;
        sleeper.subscribe("s/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    }
    let connect = |n| {
        let version = if n % 2 == 0 { Version::V5 } else { Version::V311 };
        Client::connect_with(&node, &plain(&format!("device-{n}")).in_version(version)).0
    };
    let mut devices: Vec<Client> = (0..DEVICES).map(connect).collect();
    for round in 0..3 {
        for device in &mut devices {
            device.publish("s/x/r", &[round; 20_000], QoS::AtLeastOnce, Some(1));
            device.publish("s/x/r", &[round; 20_000], QoS::AtMostOnce, None);
        }
        devices.iter_mut().for_each(|device| device.expect_ack(1));
    }
    devices.iter_mut().for_each(Client::expect_silence);
    eventually("those that nobody waits for are there too", || read_all(&node).len() == 6 * DEVICES);
    assert_eq!(metric(&node, "lapwing_connections_closed_total", "quota_exceeded"), 0);
}

/// Does a failed sync stop the node, with a reason, and without an acknowledgement?
#[test]
fn a_failed_sync_stops_the_node() {
    let dir = tempfile::tempdir().unwrap();
    let failing = Arc::new(AtomicBool::new(false));
    let disk = failing_sync_when(failing.clone());
    let open = move |dir: &Path, config: &_, streams: &[_]| Log::open_on(disk, dir, config, streams);
    let node = Handle::start_with_log(streams(dir.path(), 2, ""), Box::new(open)).unwrap();
    let mut device = Client::connect_with(&node, &plain("device")).0;
    device.publish_acked("s/x/r", b"before");
    failing.store(true, Ordering::Relaxed);
    device.publish("s/x/r", b"lost", QoS::AtLeastOnce, Some(1));
    device.expect_end(None);
    assert!(!node.ready());
    let failure = node.failure().expect("the node says why");
    assert_eq!(failure.code, "store");
    assert!(failure.message.contains("sync"), "{}", failure.message);
    assert!(node.stop().is_err());
}

/// Does damage in the middle of a segment refuse to start, naming file and byte, and does a second node in the same folder?
#[test]
fn a_damaged_or_taken_folder_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let node = Handle::start(streams(dir.path(), 1, "")).unwrap();
    let taken = Handle::start(streams(dir.path(), 1, "")).err().expect("the folder is in use");
    assert_eq!(taken.code(), "data_folder");
    let mut client = connect(&node, "x");
    (0..100).for_each(|_| client.publish_acked("s/x/r", &[7; 100]));
    node.stop().unwrap();
    let folder = dir.path().join("streams/readings");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let segment = files.max_by_key(|path| std::fs::metadata(path).unwrap().len()).unwrap();
    let mut bytes = std::fs::read(&segment).unwrap();
    let at = bytes.windows(100).position(|window| window == [7; 100]).unwrap() + 50;
    bytes[at] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let damaged = Handle::start(streams(dir.path(), 1, "")).err().expect("damage is not skipped");
    assert_eq!(damaged.code(), "data_corrupt");
    let name = segment.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(damaged.to_string().contains(&name) && damaged.to_string().contains("byte"), "{damaged}");
}

/// Is the time at which a message was appended never before the time at which it came in?
#[test]
fn nothing_is_appended_before_it_came_in() {
    let dir = tempfile::tempdir().unwrap();
    let node = Handle::start(streams(dir.path(), 2, "")).unwrap();
    let mut client = connect(&node, "x");
    for n in 0..20_000_u32 {
        client.publish("s/x/r", &n.to_be_bytes(), QoS::AtMostOnce, None);
    }
    client.publish_acked("s/x/r", b"last");
    let streams = node.streams();
    let log = streams.reader().expect("the node has streams");
    let stream = log.stream("readings").expect("the stream of the tests");
    let (mut rows, mut early) = (0, 0);
    for partition in &stream.partitions {
        let limits = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
        log.read(stream.index, partition.partition, 0, limits, None, &mut |record| {
            let (envelope, _) = Envelope::decode(record.body).expect("the node wrote an envelope");
            rows += 1;
            early += u32::from(record.appended_at_us < envelope.ingress_at_us);
            ControlFlow::Continue(())
        })
        .expect("the log can be read");
    }
    assert_eq!((rows, early), (20_001, 0));
}
