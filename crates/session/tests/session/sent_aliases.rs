//! Topic aliases that we use towards a client: only where it allows them, only where they save bytes, never across
//! connections.

use lapwing_codec::{Ack, Connect, ConnectProperties, Limits, Packet, Publish, QoS, Version, decode};
use lapwing_session::{Delivered, DropReason, Settings};
use proptest::prelude::*;

use crate::rig::{Rig, connect, connect_persistent, grant, id, packets, publish};

const TOPIC: &str = "spectrum/device-1/readings";

fn allowing(topic_alias_max: u16) -> Connect<'static> {
    let again = connect_persistent(Version::V5);
    Connect { properties: ConnectProperties { topic_alias_max, ..again.properties }, ..again }
}

/// Topic and alias of each PUBLISH that was sent since the last call.
fn named(rig: &mut Rig) -> Vec<(String, Option<u16>)> {
    let out = std::mem::take(&mut rig.out);
    let look = |packet: Packet<'_>| match packet {
        Packet::Publish(publish) => Some((publish.topic.to_owned(), publish.properties.topic_alias)),
        _ => None,
    };
    packets(&out, rig.version, look).into_iter().flatten().collect()
}

fn said(topic: &str, alias: Option<u16>) -> (String, Option<u16>) {
    (topic.to_owned(), alias)
}

/// A topic that comes again gets an alias, of QoS 0 and above alike. Shows 5.0: MQTT-3.1.2-26, MQTT-3.3.2-10.
#[test]
fn a_topic_that_comes_again_is_shortened() {
    for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let mut rig = Rig::connected(&allowing(1), Settings::default());
        rig.deliver_times(4, publish(TOPIC, qos, 1), &[grant(qos)]);
        let expected = [said(TOPIC, None), said(TOPIC, Some(1)), said("", Some(1)), said("", Some(1))];
        assert_eq!(named(&mut rig), expected, "{qos:?}");
    }
}

/// No alias for a client that allows none, that cannot know of any, or where we want none. Shows 5.0: MQTT-3.1.2-27.
#[test]
fn no_alias_where_none_is_allowed() {
    let none = Settings { topic_alias_sent_max: 0, ..Settings::default() };
    for (connect, settings) in
        [(allowing(0), Settings::default()), (allowing(10), none), (connect(Version::V311), Settings::default())]
    {
        let mut rig = Rig::connected(&connect, settings);
        rig.deliver_times(4, publish(TOPIC, QoS::AtMostOnce, 0), &[grant(QoS::AtMostOnce)]);
        assert_eq!(named(&mut rig), vec![said(TOPIC, None); 4]);
    }
}

/// An alias belongs to its connection: what is sent again, or queued, on the next one does not refer to it.
#[test]
fn a_new_connection_begins_without_aliases() {
    let settings = Settings { inflight_messages_max: 4, ..Settings::default() };
    let mut rig = Rig::connected(&allowing(3), settings);
    rig.deliver_times(6, publish(TOPIC, QoS::AtLeastOnce, 1), &[grant(QoS::AtLeastOnce)]);
    assert_eq!(named(&mut rig).last(), Some(&said("", Some(1))));
    assert!(!rig.disconnected().ended);
    rig.connect(&allowing(3));
    assert_eq!(named(&mut rig), vec![said(TOPIC, None); 4], "repeats have their whole topic");
    for n in 1..=2 {
        rig.done(Packet::PubAck(Ack::success(id(n))));
    }
    assert_eq!(named(&mut rig), [said(TOPIC, None), said(TOPIC, Some(1))], "what waited is new on this connection");
    assert!(!rig.disconnected().ended);
    rig.connect(&connect_persistent(Version::V311));
    assert_eq!(named(&mut rig), vec![said(TOPIC, None); 4]);
}

/// Where the three bytes of a new alias are too many the topic goes alone, and later too. Shows 5.0: MQTT-3.1.2-24.
#[test]
fn a_new_alias_keeps_to_the_clients_packet_size() {
    let plain = Publish::qos0(TOPIC, b"payload").encoded_len(Version::V5) as u32;
    for (room, expected) in [(3, said("", Some(1))), (2, said(TOPIC, None))] {
        let again = allowing(3);
        let properties = ConnectProperties { packet_bytes_max: Some(plain + room), ..again.properties };
        let mut rig = Rig::connected(&Connect { properties, ..again }, Settings::default());
        rig.deliver_times(3, publish(TOPIC, QoS::AtMostOnce, 0), &[grant(QoS::AtMostOnce)]);
        assert_eq!(named(&mut rig).last(), Some(&expected));
        let large = Publish { payload: &[b'x'; 100], ..publish(TOPIC, QoS::AtMostOnce, 0) };
        assert_eq!(rig.deliver(large, &[grant(QoS::AtMostOnce)]), Delivered::Dropped(DropReason::PacketTooLarge));
    }
}

#[derive(Clone, Debug)]
enum Event {
    Message(usize, QoS),
    /// The client reads everything and acknowledges the oldest so many.
    Acknowledge(usize),
    /// The connection breaks, and the client comes back allowing so many.
    Reconnect(u16),
}

fn event() -> impl Strategy<Value = Event> {
    let qos = prop_oneof![Just(QoS::AtMostOnce), Just(QoS::AtLeastOnce)];
    prop_oneof![
        12 => (0..12_usize, qos).prop_map(|(topic, qos)| Event::Message(topic, qos)),
        3 => (0..6_usize).prop_map(Event::Acknowledge),
        1 => (0..8_u16).prop_map(Event::Reconnect),
    ]
}

const TOPICS: [&str; 12] = [
    "a",
    "short",
    "devices/1",
    "devices/2",
    "devices/3",
    "devices/4",
    "devices/5",
    "devices/6",
    "devices/7/deep/topic",
    "devices/8/deep/topic",
    "devices/9/deep/topic",
    "devices/10/deep/topic",
];

/// A client that keeps the aliases it is told, as a good one does.
struct Client {
    rig: Rig,
    max: u16,
    topics: Vec<Option<String>>,
    unacknowledged: Vec<u16>,
    received: Vec<(String, Vec<u8>)>,
}

impl Client {
    fn read(&mut self) {
        let out = std::mem::take(&mut self.rig.out);
        let mut rest = &out[..];
        while let Some((packet, len)) = decode(rest, Version::V5, &Limits::PROTOCOL).expect("valid bytes") {
            if let Packet::Publish(publish) = packet {
                self.take(&publish);
            }
            rest = &rest[len..];
        }
    }

    fn take(&mut self, publish: &Publish<'_>) {
        let topic = match publish.properties.topic_alias {
            None => publish.topic.to_owned(),
            Some(alias) => {
                assert!((1..=self.max).contains(&alias), "alias {alias} of {}", self.max);
                let known = &mut self.topics[usize::from(alias)];
                if !publish.topic.is_empty() {
                    *known = Some(publish.topic.to_owned());
                }
                known.clone().expect("an alias that was set on this connection")
            }
        };
        self.received.push((topic, publish.payload.to_vec()));
        if let Some(packet_id) = publish.packet_id.map(|id| id.get()).filter(|id| !self.unacknowledged.contains(id)) {
            self.unacknowledged.push(packet_id);
        }
    }

    fn reconnect(&mut self, max: u16) {
        // Everything unread is lost with the connection.
        self.rig.out.clear();
        self.unacknowledged.clear();
        (self.max, self.topics) = (max, vec![None; usize::from(max) + 1]);
        assert!(!self.rig.disconnected().ended);
        self.rig.connect(&allowing(max));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever comes, breaks and is sent again: each message arrives under its own topic.
    #[test]
    fn a_client_always_knows_the_topic(events in prop::collection::vec(event(), 1..200)) {
        let settings = Settings { inflight_messages_max: 5, topic_alias_sent_max: 6, ..Settings::default() };
        let rig = Rig::connected(&allowing(3), settings);
        let mut client =
            Client { rig, max: 3, topics: vec![None; 4], unacknowledged: Vec::new(), received: Vec::new() };
        for event in events {
            match event {
                Event::Message(n, qos) => {
                    let message = Publish { payload: TOPICS[n].as_bytes(), ..publish(TOPICS[n], qos, 1) };
                    let message = Publish { packet_id: message.packet_id.filter(|_| qos.is_acknowledged()), ..message };
                    let _ = client.rig.deliver(message, &[grant(qos)]);
                }
                Event::Acknowledge(count) => {
                    client.read();
                    for n in client.unacknowledged.drain(..count.min(client.unacknowledged.len())) {
                        client.rig.done(Packet::PubAck(Ack::success(id(n))));
                    }
                }
                Event::Reconnect(max) => client.reconnect(max),
            }
        }
        client.read();
        for (topic, payload) in &client.received {
            prop_assert_eq!(topic.as_bytes(), payload);
        }
    }
}
