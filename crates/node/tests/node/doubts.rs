//! QoS 2 messages that a crash has caught on their way to several places: their publisher sends them again, and they come in
//! its order, once.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use lapwing_codec::{Ack, Connect, ConnectProperties, Packet, Publish, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_ledger::{
    DataGroupState, DeliveryOptions, Entry, KeeperId, KeepersBuf, List, Origin, Published, SubscriptionIds,
};
use lapwing_node::{Handle, Slot};
use lapwing_store::disk::OsDisk;
use lapwing_store::journal::{self, DataGroupId, Journal, JournalConfig};

use crate::client::Client;
use crate::packets::{id, lasting, publish};
use crate::streams::{read_all, streams};

const QOS2: SubscriptionOptions = SubscriptionOptions::new(QoS::ExactlyOnce);
const TOPIC: &str = "s/a/r";
/// The packet ids that the publisher has under way at the crash, in order.
const UNDER_WAY: [u16; 5] = [11, 12, 13, 14, 15];
/// Of these the sleeper's data group has what came behind its subscription; with the use numbers. The stream has nothing.
const ON_DISK: [(u16, u64); 2] = [(13, 3), (15, 5)];

fn start(dir: &Path) -> Handle {
    Handle::start(streams(dir, 2, r#", "durability": "disk""#)).expect("the node starts")
}

/// A folder as a crash leaves it between the commits of two data groups.
fn crashed() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let node = start(dir.path());
    Client::connect_with(&node, &lasting("publisher")).0.send(&Packet::PingReq);
    let (mut sleeper, _) = Client::connect_with(&node, &lasting("sleeper"));
    sleeper.subscribe(TOPIC, QOS2);
    drop(sleeper);
    node.stop().unwrap();

    let (mut writer, reader) = Journal::open_on(Arc::new(OsDisk), dir.path(), &JournalConfig::default()).unwrap();
    let group_of = |client: &str| DataGroupId(Slot::of(client.as_bytes()).data_group());
    let keeper_of = |client: &str| -> KeeperId {
        let mut state = DataGroupState::new();
        let replayed = reader.replay(&[1; 16], &mut |entry| {
            if entry.group == group_of(client) {
                state.apply(entry.index, entry.body).unwrap();
            }
            ControlFlow::Continue(())
        });
        replayed.unwrap();
        state.session(client).expect("it was opened").id()
    };
    let (publisher, sleeper) = (keeper_of("publisher"), keeper_of("sleeper"));
    for (packet_id, use_number) in ON_DISK {
        let (mut frame, mut body, mut keepers) = (Vec::new(), Vec::new(), KeepersBuf::new());
        let payload = payload(packet_id);
        Packet::Publish(publish(TOPIC, &payload, QoS::ExactlyOnce, Some(packet_id)))
            .encode(Version::V5, &mut frame)
            .unwrap();
        keepers.push(sleeper, DeliveryOptions { qos: 2, retain: false, ids: SubscriptionIds::EMPTY }).unwrap();
        let origin =
            Origin { data_group: group_of("publisher").0, session: publisher, packet_id, use_number, settled: 1 };
        let published = Published {
            frame: &frame,
            published_at_ms: 1,
            expires_at_ms: 0,
            publisher: 7,
            holder: None,
            origin: Some(origin),
            keepers: keepers.as_list(),
            groups: List::EMPTY,
            retained: None,
        };
        Entry::Published(published).encode(&mut body).unwrap();
        let group = group_of("sleeper");
        let (index, term) = (writer.next_index(group).unwrap(), reader.group(group).unwrap().last_term);
        let entry = journal::Entry {
            group,
            index,
            term,
            raft_index: 0,
            slot: 0,
            message_id: 0,
            appended_at_us: 1,
            body: &body,
        };
        writer.append(entry).unwrap();
        writer.commit().unwrap();
    }
    writer.close().unwrap();
    dir
}

fn payload(packet_id: u16) -> Vec<u8> {
    format!("m{packet_id}").into_bytes()
}

fn back(node: &Handle, client: &str) -> Client {
    let (client, is_present) = Client::connect_with(node, &lasting(client));
    assert!(is_present);
    client
}

/// Sends messages that were sent before, and waits for their PUBRECs.
fn send_again(publisher: &mut Client, packet_ids: &[u16]) {
    for packet_id in packet_ids {
        let payload = payload(*packet_id);
        let packet = publish(TOPIC, &payload, QoS::ExactlyOnce, Some(*packet_id));
        publisher.send(&Packet::Publish(Publish { dup: true, ..packet }));
    }
    packet_ids.iter().for_each(|packet_id| expect_pubrec(publisher, *packet_id));
}

fn expect_pubrec(publisher: &mut Client, packet_id: u16) {
    let came = publisher.expect("PUBREC", |packet| match packet {
        Packet::PubRec(ack) => Some((ack.packet_id, ack.reason.is_error())),
        _ => None,
    });
    assert_eq!(came, (id(packet_id), false));
}

fn release(publisher: &mut Client, packet_ids: &[u16]) {
    for packet_id in packet_ids {
        publisher.send(&Packet::PubRel(Ack::success(id(*packet_id))));
        let came = publisher.expect("PUBCOMP", |packet| match packet {
            Packet::PubComp(ack) => Some((ack.packet_id, ack.reason)),
            _ => None,
        });
        assert_eq!(came, (id(*packet_id), ReasonCode::Success));
    }
}

fn in_stream(node: &Handle) -> Vec<String> {
    read_all(node).into_iter().map(|(.., payload, _)| String::from_utf8(payload).unwrap()).collect()
}

/// Everything that the sleeper gets.
fn drain(node: &Handle, messages: usize) -> Vec<String> {
    let mut sleeper = back(node, "sleeper");
    let received: Vec<_> = (0..messages).map(|_| sleeper.receive()).collect();
    let ids: Vec<_> = received.iter().map(|message| message.id.expect("QoS 2")).collect();
    ids.iter().for_each(|id| sleeper.send(&Packet::PubRec(Ack::success(*id))));
    ids.iter().for_each(|_| sleeper.expect("PUBREL", |packet| matches!(packet, Packet::PubRel(_)).then_some(())));
    ids.iter().for_each(|id| sleeper.send(&Packet::PubComp(Ack::success(*id))));
    sleeper.expect_silence();
    received.into_iter().map(|message| String::from_utf8(message.payload).unwrap()).collect()
}

/// Does a stream get what its publisher sends again in the publisher's order, and who had some of it each of it once?
#[test]
fn what_is_sent_again_comes_in_its_order() {
    let dir = crashed();
    let node = start(dir.path());
    let mut publisher = back(&node, "publisher");
    assert_eq!(in_stream(&node), [""; 0], "nothing is sent on before its publisher says so");
    send_again(&mut publisher, &UNDER_WAY);
    assert_eq!(in_stream(&node), ["m11", "m12", "m13", "m14", "m15"]);
    release(&mut publisher, &UNDER_WAY);
    assert_eq!(drain(&node, 5), ["m13", "m15", "m11", "m12", "m14"], "the sleeper came in the midst of them");
    // The ids are free: what comes under them now is new, sent again or not.
    send_again(&mut publisher, &[13]);
    assert_eq!(drain(&node, 1), ["m13"]);
}

/// And when the node ends once more in the midst of that?
#[test]
fn doubts_outlive_the_next_start() {
    for sent in 0..=UNDER_WAY.len() {
        let dir = crashed();
        let node = start(dir.path());
        send_again(&mut back(&node, "publisher"), &UNDER_WAY[..sent]);
        node.stop().unwrap();
        let node = start(dir.path());
        let mut publisher = back(&node, "publisher");
        send_again(&mut publisher, &UNDER_WAY);
        release(&mut publisher, &UNDER_WAY);
        let stream = in_stream(&node);
        let first = |message: &String| stream.iter().position(|other| other == message);
        let firsts: Vec<_> = UNDER_WAY.iter().map(|id| first(&format!("m{id}")).expect("it is there")).collect();
        assert!(firsts.is_sorted(), "{sent} sent before: {stream:?}");
        let mut got = drain(&node, 5);
        got.sort_unstable();
        assert_eq!(got, ["m11", "m12", "m13", "m14", "m15"], "{sent} sent before");
    }
}

/// A publisher that has had the PUBREC releases the message: is it taken, and its id free?
#[test]
fn a_release_ends_the_doubt() {
    let dir = crashed();
    let node = start(dir.path());
    let mut publisher = back(&node, "publisher");
    release(&mut publisher, &[13, 15]);
    send_again(&mut publisher, &[13]);
    assert_eq!(
        (in_stream(&node), drain(&node, 3)),
        (vec!["m13".into()], vec!["m13".into(), "m15".into(), "m13".into()])
    );
}

/// A publisher whose session is to end with its connection from now on: is what it sends again still known?
#[test]
fn doubts_outlive_a_session_that_is_kept_no_more() {
    let dir = crashed();
    let node = start(dir.path());
    let properties = ConnectProperties { session_expiry_s: 0, ..Default::default() };
    let (mut publisher, is_present) = Client::connect_with(&node, &Connect { properties, ..lasting("publisher") });
    assert!(is_present);
    send_again(&mut publisher, &UNDER_WAY);
    assert_eq!(drain(&node, 5), ["m13", "m15", "m11", "m12", "m14"]);
}

/// A publisher that has forgotten its messages uses an id anew: is that another message?
#[test]
fn an_id_that_is_used_anew_is_another_message() {
    let dir = crashed();
    let node = start(dir.path());
    let mut publisher = back(&node, "publisher");
    publisher.publish(TOPIC, b"new", QoS::ExactlyOnce, Some(13));
    expect_pubrec(&mut publisher, 13);
    assert_eq!(
        (in_stream(&node), drain(&node, 3)),
        (vec!["new".into()], vec!["m13".into(), "m15".into(), "new".into()])
    );
}
