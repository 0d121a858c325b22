//! Bounds that a client can count: each lets in just as many as it says, over all shards, and not one more; and whom none keeps out.

use std::thread;

use lapwing_codec::{
    Packet, Publish, PublishProperties, QoS, ReasonCode, Subscribe, SubscribeFiltersBuf, SubscribeProperties,
    SubscriptionOptions,
};
use lapwing_node::Handle;

use crate::client::Client;
use crate::packets::{connect as plain, id, lasting, publish};
use crate::{connect, eventually, metric, node};

/// What is set, `MOST` standing for the bound, and how many of so many tries come in.
type Row = (&'static str, fn(&Handle, usize) -> usize);

const ROWS: [Row; 20] = [
    (r#""limits": {"connections_max": MOST}"#, clients),
    (r#""listeners": [{"url": "tcp://127.0.0.1:0", "connections_max": MOST}]"#, clients),
    (r#""limits": {"sessions_per_identity_max": MOST}"#, clients),
    (r#""limits": {"sessions_offline_max": MOST}"#, sessions_offline),
    (r#""limits": {"client_id_bytes_max": MOST}"#, client_id_bytes),
    (r#""limits": {"connect_bytes_max": MOST}"#, connect_bytes),
    (r#""limits": {"subscriptions_per_session_max": MOST}"#, |node, tries| subscriptions(node, tries, "t/")),
    (r#""limits": {"filters_per_packet_max": MOST}"#, filters_of_a_packet),
    (r#""limits": {"groups_per_session_max": MOST}"#, |node, tries| subscriptions(node, tries, "$share/g/")),
    (r#""limits": {"groups_per_identity_max": MOST}"#, groups),
    (r#""dispatch": {"groups_max": MOST}"#, groups),
    (r#""dispatch": {"members_per_group_max": MOST}"#, members),
    (r#""limits": {"retained_messages_max": MOST}"#, retained),
    (r#""limits": {"retained_messages_per_identity_max": MOST}"#, retained),
    (r#""limits": {"receive_maximum": MOST}"#, received_unreleased),
    (r#""limits": {"inflight_messages_max": MOST}"#, sent_unacknowledged),
    (r#""limits": {"topic_alias_max": MOST}"#, aliases),
    (r#""limits": {"queue_messages_max": MOST}"#, queued),
    (r#""groups": {"g": {"filters": ["q/#"], "queue_messages_max": MOST}}"#, queued_in_a_group),
    (r#""hold": {"q/#": {"messages": MOST}}"#, held),
];

#[test]
fn each_bound_lets_in_as_many_as_it_says() {
    for (setting, take) in ROWS {
        // A CONNECT takes 15 bytes besides the client id.
        let mosts = if setting.contains("connect_bytes_max") { [16, 23] } else { [1, 8] };
        for (shards, most) in [(1, mosts[0]), (3, mosts[1])] {
            let node = node(&format!(r#"{{"shards": {shards}, {}}}"#, setting.replace("MOST", &most.to_string())));
            assert_eq!(take(&node, most + 5), most, "{setting} on {shards} shards");
        }
    }
}

/// The same where clients come to all shards at the same moment.
#[test]
fn sessions_of_an_identity_that_come_at_once() {
    for _ in 0..5 {
        let node = node(r#"{"shards": 4, "limits": {"sessions_per_identity_max": 12}}"#);
        let shared = &node;
        let come = |n| connected(shared, &format!("client-{n}"));
        let clients: Vec<_> = thread::scope(|scope| {
            let all: Vec<_> = (0..24).map(|n| scope.spawn(move || come(n))).collect();
            all.into_iter().filter_map(|client| client.join().expect("a client ends")).collect()
        });
        assert_eq!(clients.len(), 12);
    }
}

/// A client that stays, if it is let in; by a listener of its own, where there is one.
fn connected(node: &Handle, client_id: &str) -> Option<Client> {
    let mut client = Client::open_url(node.listeners().last().expect("it listens"));
    let mut bytes = Vec::new();
    Packet::Connect(lasting(client_id)).encode(client.version, &mut bytes).expect("it can be encoded");
    client.try_send_bytes(&bytes);
    (client.connack() == Some(ReasonCode::Success)).then_some(client)
}

fn clients(node: &Handle, tries: usize) -> usize {
    let all: Vec<_> = (0..tries).filter_map(|n| connected(node, &format!("client-{n}"))).collect();
    all.len()
}

fn sessions_offline(node: &Handle, tries: usize) -> usize {
    let clients: Vec<_> = (0..tries).filter_map(|n| connected(node, &format!("client-{n}"))).collect();
    clients.into_iter().for_each(Client::disconnect);
    let named = (0..tries).map(|n| Client::connect_with(node, &lasting(&format!("client-{n}"))));
    named.filter(|(_, present)| *present).count()
}

fn client_id_bytes(node: &Handle, tries: usize) -> usize {
    (1..=tries).filter(|len| connected(node, &"i".repeat(*len)).is_some()).count()
}

fn connect_bytes(node: &Handle, tries: usize) -> usize {
    let packet = |len: usize| {
        let (id, mut bytes) = ("i".repeat(len), Vec::new());
        Packet::Connect(plain(&id)).encode(lapwing_codec::Version::V5, &mut bytes).expect("it can be encoded");
        bytes
    };
    let is_taken = |bytes: &Vec<u8>| {
        let mut client = Client::open(node);
        client.try_send_bytes(bytes);
        client.connack() == Some(ReasonCode::Success)
    };
    (1..tries - 14).map(packet).filter(is_taken).map(|bytes| bytes.len()).max().expect("the smallest comes in")
}

fn subscriptions(node: &Handle, tries: usize, prefix: &str) -> usize {
    let mut client = connect(node, "client");
    let options = SubscriptionOptions::new(QoS::AtLeastOnce);
    (0..tries).filter(|n| !client.try_subscribe(&format!("{prefix}{n}"), options).is_error()).count()
}

fn filters_of_a_packet(node: &Handle, tries: usize) -> usize {
    let mut client = connect(node, "client");
    let mut filters = SubscribeFiltersBuf::new();
    let options = SubscriptionOptions::new(QoS::AtLeastOnce);
    (0..tries).for_each(|n| filters.push(&format!("t/{n}"), options).expect("short"));
    let (properties, filters) = (SubscribeProperties::default(), filters.as_ref());
    client.send(&Packet::Subscribe(Subscribe { packet_id: id(1), properties, filters }));
    client.expect("SUBACK", |packet| match packet {
        Packet::SubAck(ack) => Some(ack.reasons.iter().filter(|reason| !reason.is_error()).count()),
        _ => None,
    })
}

fn groups(node: &Handle, tries: usize) -> usize {
    let mut clients: Vec<_> = (0..tries).map(|n| connect(node, &format!("client-{n}"))).collect();
    let options = SubscriptionOptions::new(QoS::AtLeastOnce);
    let begins = |(n, client): &mut (usize, &mut Client)| {
        !client.try_subscribe(&format!("$share/group-{n}/t"), options).is_error()
    };
    clients.iter_mut().enumerate().map(|mut each| begins(&mut each)).filter(|begins| *begins).count()
}

fn members(node: &Handle, tries: usize) -> usize {
    let mut clients: Vec<_> = (0..tries).map(|n| connect(node, &format!("client-{n}"))).collect();
    let options = SubscriptionOptions::new(QoS::AtLeastOnce);
    clients.iter_mut().map(|client| client.try_subscribe("$share/g/t", options)).filter(|it| !it.is_error()).count()
}

/// All at once: the shard that keeps a message may be another than the one that acknowledges it. What is taken is kept.
fn retained(node: &Handle, tries: usize) -> usize {
    let mut client = connect(node, "client");
    for n in 0..tries {
        let message = publish("", b"x", QoS::AtLeastOnce, Some(n as u16 + 1));
        client.send(&Packet::Publish(Publish { retain: true, topic: &format!("t/{n}"), ..message }));
    }
    let mut is_taken = || {
        client.expect("PUBACK", |packet| match packet {
            Packet::PubAck(ack) => Some(!ack.reason.is_error()),
            _ => None,
        })
    };
    let taken = (0..tries).filter(|_| is_taken()).count();
    eventually("all are kept", || metric(node, "lapwing_retained_messages", "") as usize == taken);
    assert_eq!(metric(node, "lapwing_messages_dropped_total", "retained_full") as usize, tries - taken);
    taken
}

/// Whether a packet of one kind comes, or the end of the connection.
fn is_taken(client: &mut Client, packet: &Packet<'_>) -> bool {
    let mut bytes = Vec::new();
    packet.encode(client.version, &mut bytes).expect("it can be encoded");
    client.try_send_bytes(&bytes)
        && client.expect("an acknowledgement or DISCONNECT", |packet| match packet {
            Packet::PubAck(_) | Packet::PubRec(_) => Some(true),
            Packet::Disconnect(_) => Some(false),
            _ => None,
        })
}

fn received_unreleased(node: &Handle, tries: usize) -> usize {
    let mut client = connect(node, "client");
    let packet = |n: usize| Packet::Publish(publish("t", b"x", QoS::ExactlyOnce, Some(n as u16)));
    (1..=tries).take_while(|n| is_taken(&mut client, &packet(*n))).count()
}

fn aliases(node: &Handle, tries: usize) -> usize {
    let mut client = connect(node, "client");
    let packet = |n: usize| {
        let properties = PublishProperties { topic_alias: Some(n as u16), ..PublishProperties::EMPTY };
        Packet::Publish(Publish { properties, ..publish("t", b"x", QoS::AtLeastOnce, Some(5)) })
    };
    (1..=tries).take_while(|n| is_taken(&mut client, &packet(*n))).count()
}

fn sent_unacknowledged(node: &Handle, tries: usize) -> usize {
    let mut reader = connect(node, "reader");
    reader.subscribe("q/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    fill(node, tries);
    // What another shard has for it is there soon, but not with the acknowledgement.
    eventually("all are sent or wait", || metric(node, "lapwing_messages_delivered_total", "") == tries as u64);
    count(&mut reader, false)
}

fn fill(node: &Handle, tries: usize) {
    let mut client = connect(node, "publisher");
    (0..tries).for_each(|n| client.publish_acked(&format!("q/{n}"), b"x"));
}

/// What comes before the answer to a ping, acknowledged or not.
fn count(reader: &mut Client, acknowledges: bool) -> usize {
    let mut found = 0;
    reader.send(&Packet::PingReq);
    while let Some(received) = reader.receive_or_pong() {
        found += 1;
        if acknowledges {
            reader.acknowledge(&received);
        }
    }
    found
}

fn queued(node: &Handle, tries: usize) -> usize {
    let mut sleeper = Client::connect_with(node, &lasting("sleeper")).0;
    sleeper.subscribe("q/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    sleeper.disconnect();
    fill(node, tries);
    eventually("all have come", || metric(node, "lapwing_messages_delivered_total", "") == tries as u64);
    count(&mut Client::connect_with(node, &lasting("sleeper")).0, true)
}

/// Acknowledges what comes until `done`.
fn count_until(reader: &mut Client, what: &str, done: impl Fn() -> bool) -> usize {
    let mut found = 0;
    eventually(what, || {
        // Asked before the last look: what is done by now has been sent.
        let is_done = done();
        found += count(reader, true);
        is_done
    });
    found
}

fn queued_in_a_group(node: &Handle, tries: usize) -> usize {
    fill(node, tries);
    let number = |name: &str| metric(node, name, "") as usize;
    eventually("all have come", || number("lapwing_group_messages_published_total") == tries);
    let mut member = connect(node, "member");
    member.subscribe("$share/g/q/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    count_until(&mut member, "all have ended", || number("lapwing_group_messages_ended_total") == tries)
}

fn held(node: &Handle, tries: usize) -> usize {
    fill(node, tries);
    let number = |name: &str| metric(node, name, "") as usize;
    let gone = || number("lapwing_hold_messages_released_total") + number("lapwing_hold_messages_dropped_total");
    eventually("all have come", || number("lapwing_hold_messages_received_total") == tries);
    let mut reader = connect(node, "reader");
    reader.subscribe("q/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    let mut found = count_until(&mut reader, "all have gone", || gone() == tries);
    // Those of another shard are released there before they are here.
    let released = number("lapwing_hold_messages_released_total");
    eventually("the reader has them", || {
        found += count(&mut reader, true);
        found >= released
    });
    found
}

/// Does a client come back with the id that the broker gave it, where ids of others have to be shorter?
#[test]
fn an_id_that_was_given_is_not_too_long() {
    let node = node(r#"{"shards": 2, "limits": {"client_id_bytes_max": 23}}"#);
    let given = Client::open(&node).connect_given(&lapwing_codec::Connect { clean_start: true, ..lasting("") });
    assert!(given.len() > 23 && Client::connect_with(&node, &lasting(&given)).1, "{given}");
    let other = given.replace("lapwing", "another");
    assert_eq!(Client::try_connect(&node, &lasting(&other)), ReasonCode::ClientIdentifierNotValid);
}
