//! A node that ends serving and serves again within a process, on a log that stays open.

use std::net::TcpListener;
use std::path::Path;

use lapwing_codec::{Ack, Packet, QoS, SubscriptionOptions};
use lapwing_node::{Config, Extensions, Handle, OpenedLog};

use crate::client::Client;
use crate::inspect::spoil;
use crate::packets::{id, lasting};
use crate::{config, connect};

const QOS1: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);
const QOS2: SubscriptionOptions = SubscriptionOptions::new(QoS::ExactlyOnce);
const MESSAGES: u16 = 30;
const SHARE: &str = "$share/jobs/job/#";

fn on_disk(dir: &Path, shards: u32) -> Config {
    let groups = r#"{"jobs": {"filters": ["job/#"]}}"#;
    config(&format!(r#"{{"shards": {shards}, "data_dir": {dir:?}, "durability": "disk", "groups": {groups}}}"#))
}

/// Serves on what the serving before has given back.
fn serve(config: Config, log: &mut Option<OpenedLog>) -> Handle {
    Handle::serve(config, log.take(), Extensions::default()).expect("it serves")
}

/// All that was published in a round, in order, and nothing else.
fn expect_round(client: &mut Client, round: usize) {
    for n in 0..MESSAGES {
        let message = client.receive();
        assert_eq!(String::from_utf8(message.payload.clone()), Ok(format!("{round}/{n}")));
        client.acknowledge(&message);
    }
    client.expect_silence();
}

/// Does each serving have what was acknowledged in the one before: a session's messages in their order, those of a declared
/// group, what is retained, on any number of shards? And a start behind the last?
#[test]
fn the_next_serving_goes_on_where_this_one_ended() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = OpenedLog::open(&on_disk(dir.path(), 1)).unwrap();
    for (round, shards) in [1, 2, 3, 1].into_iter().enumerate() {
        let node = serve(on_disk(dir.path(), shards), &mut log);
        let (mut keeper, is_present) = Client::connect_with(&node, &lasting("keeper"));
        assert_eq!(is_present, round > 0, "round {round}");
        match round.checked_sub(1) {
            None => keeper.subscribe("t/#", QOS1),
            Some(before) => {
                expect_round(&mut keeper, before);
                let mut worker = connect(&node, "worker");
                worker.subscribe(SHARE, QOS1);
                expect_round(&mut worker, before);
                worker.unsubscribe(SHARE);
                worker.subscribe("state", QOS1);
                assert_eq!(String::from_utf8(worker.receive().payload), Ok(before.to_string()));
            }
        }
        drop(keeper);
        let mut sender = connect(&node, "sender");
        for n in 0..MESSAGES {
            let payload = format!("{round}/{n}").into_bytes();
            sender.publish_acked("t/1", &payload);
            sender.publish_acked("job/1", &payload);
        }
        sender.publish_retained("state", round.to_string().as_bytes());
        log = node.end_serving().unwrap();
        // One that nobody comes to changes nothing.
        log = serve(on_disk(dir.path(), shards), &mut log).end_serving().unwrap();
        assert!(log.is_some());
    }
    log.take().expect("it is there").close().unwrap();
    let node = Handle::start(on_disk(dir.path(), 2)).expect("the folder is free");
    let (mut keeper, is_present) = Client::connect_with(&node, &lasting("keeper"));
    assert!(is_present);
    expect_round(&mut keeper, 3);
}

/// Does a QoS 2 message whose publisher was between PUBREC and PUBREL come once?
#[test]
fn half_an_exchange_of_qos_2_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = OpenedLog::open(&on_disk(dir.path(), 2)).unwrap();
    let node = serve(on_disk(dir.path(), 2), &mut log);
    Client::connect_with(&node, &lasting("keeper")).0.subscribe("t/#", QOS2);
    let mut publisher = Client::connect_with(&node, &lasting("publisher")).0;
    publisher.publish("t/1", b"once", QoS::ExactlyOnce, Some(5));
    publisher.expect("PUBREC", |packet| matches!(packet, Packet::PubRec(_)).then_some(()));
    log = node.end_serving().unwrap();

    let node = serve(on_disk(dir.path(), 2), &mut log);
    let (mut publisher, is_present) = Client::connect_with(&node, &lasting("publisher"));
    assert!(is_present);
    publisher.publish("t/1", b"once", QoS::ExactlyOnce, Some(5));
    publisher.expect("PUBREC", |packet| matches!(packet, Packet::PubRec(_)).then_some(()));
    publisher.send(&Packet::PubRel(Ack::success(id(5))));
    publisher.expect("PUBCOMP", |packet| matches!(packet, Packet::PubComp(_)).then_some(()));
    let (mut keeper, _) = Client::connect_with(&node, &lasting("keeper"));
    let message = keeper.receive();
    assert_eq!((message.payload.as_slice(), message.qos), (&b"once"[..], QoS::ExactlyOnce));
    keeper.send(&Packet::PubRec(Ack::success(message.id.expect("QoS 2 has one"))));
    keeper.expect("PUBREL", |packet| matches!(packet, Packet::PubRel(_)).then_some(()));
    keeper.expect_silence();
}

/// Are the ports free as soon as a serving is over, and nothing given back where nothing is kept?
#[test]
fn a_port_is_free_when_serving_is_over() {
    let mut in_memory = config(r#"{"shards": 1}"#);
    assert!(OpenedLog::open(&in_memory).unwrap().is_none());
    let node = serve(in_memory.clone(), &mut None);
    let listen = node.listeners();
    assert!(node.end_serving().unwrap().is_none());
    in_memory.listen.clone_from(&listen);
    let again = serve(in_memory, &mut None);
    assert_eq!(again.listeners(), listen);
    connect(&again, "somebody");
}

/// Does a node refuse to serve on the log of another folder, on one with other streams, and without the one that it needs?
#[test]
fn a_log_is_served_as_it_was_opened() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut with_stream = on_disk(dir.path(), 1);
    with_stream.streams = config(r#"{"data_dir": "d", "streams": {"readings": {"filter": "r/#"}}}"#).streams;
    for (wanted, key) in [(on_disk(other.path(), 1), "data_dir"), (with_stream, "streams")] {
        let log = OpenedLog::open(&on_disk(dir.path(), 1)).unwrap();
        let error = Handle::serve(wanted, log, Extensions::default()).err().expect("it is another");
        assert!(error.to_string().starts_with(&format!("configuration key {key}: is ")), "{error}");
    }
    let error =
        Handle::serve(on_disk(dir.path(), 1), None, Extensions::default()).err().expect("it would keep nothing");
    assert!(error.to_string().contains("no log was opened"), "{error}");
}

/// A folder in which the last commit brought a retained message, and the end of the log is named nowhere (if the machine has
/// not slept for so long meanwhile that the log thread had nothing else to do).
fn without_named_end() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let node = serve(on_disk(dir.path(), 1), &mut OpenedLog::open(&on_disk(dir.path(), 1)).unwrap());
    connect(&node, "sender").publish_retained("state", b"last-words");
    drop(node.end_serving().unwrap());
    dir
}

/// Whether damage in the last commit is known for that, and not for a write that a crash has cut: whoever closes the log names
/// its end.
fn is_end_named(dir: &Path) -> bool {
    spoil(dir, b"last-words");
    Handle::start(on_disk(dir, 1)).err().is_some_and(|error| error.code() == "data_corrupt")
}

/// Does a serving that fails give the log back as it was, whether its listeners or something behind them cannot be had?
#[test]
fn who_cannot_serve_has_the_log_and_tries_again() {
    let dir = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut on_taken_port = on_disk(dir.path(), 2);
    on_taken_port.listen = vec![format!("tcp://{}", taken.local_addr().unwrap())];
    let mut without_trail = on_disk(dir.path(), 2);
    without_trail.audit.file = Some(dir.path().join("nowhere/audit.jsonl"));

    let mut log = OpenedLog::open(&on_disk(dir.path(), 1)).unwrap();
    let node = serve(on_disk(dir.path(), 1), &mut log);
    Client::connect_with(&node, &lasting("keeper")).0.subscribe("t/#", QOS1);
    let mut sender = connect(&node, "sender");
    (0..MESSAGES).for_each(|n| sender.publish_acked("t/1", format!("0/{n}").as_bytes()));
    log = node.end_serving().unwrap();
    for (config, code) in [(on_taken_port, "address_in_use"), (without_trail, "config")] {
        let not_served = Handle::serve(config, log, Extensions::default()).err().expect("it cannot");
        assert_eq!(not_served.error.code(), code, "{not_served}");
        log = not_served.log;
    }
    let node = serve(on_disk(dir.path(), 2), &mut log);
    let (mut keeper, is_present) = Client::connect_with(&node, &lasting("keeper"));
    assert!(is_present);
    expect_round(&mut keeper, 0);
}

/// Does a start that fails behind the opening of its log close it, as a stop does?
#[test]
fn a_start_that_fails_closes_its_log() {
    let dir = without_named_end();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut on_taken_port = on_disk(dir.path(), 1);
    on_taken_port.listen = vec![format!("tcp://{}", taken.local_addr().unwrap())];
    let error = Handle::start(on_taken_port).err().expect("somebody has the port");
    assert_eq!(error.code(), "address_in_use");
    assert!(is_end_named(dir.path()));
}

/// Is the log closed as at a stop where the node has failed, and not its log, and is the failure what is returned?
#[cfg(debug_assertions)]
#[test]
fn a_serving_that_has_failed_closes_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let node = serve(on_disk(dir.path(), 1), &mut OpenedLog::open(&on_disk(dir.path(), 1)).unwrap());
    let mut sender = connect(&node, "sender");
    sender.publish_retained("state", b"last-words");
    sender.publish("$fault/panic", b"a shard fails", QoS::AtMostOnce, None);
    crate::eventually("it has failed", || node.failure().is_some());
    let failure = node.end_serving().expect_err("it has failed");
    assert_eq!(failure.code(), "defect");
    assert!(is_end_named(dir.path()));
}
