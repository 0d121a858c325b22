//! A client of MQTT 3.1.1 and a gateway, joined by a link that loses, doubles and reorders a fifth of the datagrams: will,
//! subscription, registration and messages both ways.

use lapwing_codec as codec;
use lapwing_codec::{Ack, Limits, Packet, QoS, ReasonCode, Version, Will, WillProperties};
use lapwing_sn::client::{self, Translator};

use crate::link::{DELAY_MS_MAX, Link, To};
use crate::served::{Served, patient};
use crate::translated::{connect, encoded, id, subscribe};

const MESSAGES: u8 = 40;

/// The longest that an old datagram is about.
const QUIET_MS: u64 = DELAY_MS_MAX + 2;

/// A client that publishes, and takes what comes.
struct Device {
    translator: Translator,
    input: Vec<u8>,
    connected_ms: Option<u64>,
    is_subscribed: bool,
    is_leaving: bool,
    next: u8,
    completed: u8,
    came: Vec<u8>,
}

struct World {
    qos: QoS,
    link: Link,
    device: Device,
    gateway: Served,
    now_ms: u64,
}

impl World {
    fn new(seed: u64, qos: QoS, spoiled_percent: usize) -> Self {
        let device = Device {
            translator: Translator::new(patient(client::settings())),
            input: Vec::new(),
            connected_ms: None,
            is_subscribed: false,
            is_leaving: false,
            next: 0,
            completed: 0,
            came: Vec::new(),
        };
        let gateway = Served::new("down/topic", "up/topic", MESSAGES);
        World { qos, link: Link::new(seed, spoiled_percent), device, gateway, now_ms: 0 }
    }

    /// From CONNECT to the answer to DISCONNECT.
    fn run(&mut self) {
        let properties = WillProperties::default();
        let will = Will { topic: "will", payload: b"bye", qos: QoS::AtMostOnce, retain: false, properties };
        self.device.write(&encoded(&Packet::Connect(connect(true, Some(will)))), 0);
        while !self.device.translator.is_over() {
            self.now_ms += 1;
            assert!(self.now_ms < 3_600_000, "{} and {}", self.gateway.completed, self.device.completed);
            self.device.step(self.qos, self.gateway.completed == MESSAGES, self.now_ms);
            self.device.send(&mut self.link, self.now_ms);
            self.gateway.step(self.qos, &mut self.link, self.now_ms);
            while let Some((to, datagram)) = self.link.arrived(self.now_ms) {
                match to {
                    To::Gateway => self.gateway.hear(&datagram, &mut self.link, self.now_ms),
                    To::Device => self.device.hear(&datagram, self.now_ms),
                }
            }
        }
    }
}

impl Device {
    fn write(&mut self, packets: &[u8], now_ms: u64) {
        assert_eq!(self.translator.write(packets, now_ms), Ok(packets.len()));
    }

    /// Subscribes, publishes all at once, and leaves when both sides are done. A CONNECT that is late begins another session
    /// at the gateway, so nothing is said before no copy of it is under way.
    fn step(&mut self, qos: QoS, is_done: bool, now_ms: u64) {
        self.translator.tick(now_ms).expect("the gateway is there");
        if self.connected_ms.is_some_and(|at_ms| now_ms == at_ms + QUIET_MS) {
            self.write(&subscribe(&[("other", QoS::AtMostOnce), ("down/+", qos)], 1000), now_ms);
            while self.next < MESSAGES {
                let payload = [self.next];
                let packet_id = Some(id(u16::from(self.next) + 1));
                let publish = codec::Publish { qos, packet_id, ..codec::Publish::qos0("up/topic", &payload) };
                self.write(&encoded(&Packet::Publish(publish)), now_ms);
                self.next += 1;
            }
        }
        if is_done && self.completed == MESSAGES && !self.is_leaving {
            self.is_leaving = true;
            let disconnect = codec::Disconnect { reason: ReasonCode::Success, properties: Default::default() };
            self.write(&encoded(&Packet::Disconnect(disconnect)), now_ms);
        }
    }

    fn send(&mut self, link: &mut Link, now_ms: u64) {
        while let Some(mut datagram) = self.translator.next_datagram() {
            link.send(To::Gateway, &mut datagram, now_ms);
        }
    }

    fn hear(&mut self, datagram: &[u8], now_ms: u64) {
        self.translator.hear(datagram, &mut self.input, now_ms).expect("the gateway knows us");
        let input = std::mem::take(&mut self.input);
        let mut rest = &input[..];
        while let Some((packet, len)) = codec::decode(rest, Version::V311, &Limits::PROTOCOL).expect("packets") {
            self.take(&packet, now_ms);
            rest = &rest[len..];
        }
        assert!(rest.is_empty(), "half a packet");
    }

    fn take(&mut self, packet: &Packet<'_>, now_ms: u64) {
        let answer = match packet {
            Packet::ConnAck(_) => return self.connected_ms = Some(now_ms),
            Packet::SubAck(ack) => {
                assert_eq!((ack.packet_id, ack.reasons.len()), (id(1000), 2));
                return self.is_subscribed = true;
            }
            Packet::PubAck(_) | Packet::PubComp(_) => return self.completed += 1,
            Packet::PubRec(ack) => Packet::PubRel(*ack),
            Packet::PubRel(ack) => Packet::PubComp(*ack),
            Packet::Publish(publish) => {
                assert_eq!(publish.topic, "down/topic");
                self.came.push(publish.payload[0]);
                let ack = Ack::success(publish.packet_id.expect("QoS 1 or 2"));
                if publish.qos == QoS::ExactlyOnce { Packet::PubRec(ack) } else { Packet::PubAck(ack) }
            }
            other => panic!("{other:?}"),
        };
        self.write(&encoded(&answer), now_ms);
    }
}

/// Does each message of QoS 1 arrive, at least once, both ways, with will and goodbye?
#[test]
fn section_6_13_a_client_of_mqtt_hears_and_is_heard_at_least_once() {
    let mut repeated = 0;
    for seed in 1..=20 {
        let mut world = World::new(seed, QoS::AtLeastOnce, 20);
        world.run();
        for came in [&world.gateway.came, &world.device.came] {
            assert!((0..MESSAGES).all(|n| came.contains(&n)), "seed {seed}: {came:?}");
            repeated += came.len() - usize::from(MESSAGES);
        }
        assert!(world.device.is_subscribed && world.gateway.is_left, "seed {seed}");
        assert_eq!(world.gateway.will.as_deref(), Some(&b"bye"[..]));
        assert!(world.device.translator.retransmissions() > 0);
    }
    assert!(repeated > 0, "the link doubles nothing");
}

/// Does each message of QoS 2 arrive exactly once and in its order, both ways?
#[test]
fn section_6_13_a_client_of_mqtt_hears_and_is_heard_exactly_once() {
    let all: Vec<u8> = (0..MESSAGES).collect();
    for seed in 1..=30 {
        let mut world = World::new(seed, QoS::ExactlyOnce, 20);
        world.run();
        assert_eq!([&world.gateway.came, &world.device.came], [&all, &all], "seed {seed}");
    }
}

/// Does a link that loses nothing need no second time?
#[test]
fn section_6_13_a_good_link_needs_no_retransmission() {
    let mut world = World::new(1, QoS::ExactlyOnce, 0);
    world.run();
    assert_eq!((world.device.translator.retransmissions(), world.device.translator.dropped()), (0, 0));
}
