//! QoS 1 and 2, both ways at once, over a link that loses, doubles and reorders a fifth of the datagrams.

use lapwing_sn::peer::Heard;
use lapwing_sn::peer::{
    Answer, Client, Context, Delivery, Event, InFlight, Outgoing, Overdue, Predefined, Repeats, Settings, Tick,
};
use lapwing_sn::{Message, MsgId, Publish, PublishQoS, PublishTopic, QoS, ReturnCode, TopicAck, TopicId, decode};

use crate::gateway::bytes;
use crate::link::{DELAY_MS_MAX, Link, To};

const MESSAGES: u8 = 60;

fn settings() -> Settings {
    let retry_ms = 2 * DELAY_MS_MAX + 10;
    Settings { retry_ms, retries_max: 1000, linger_ms: retry_ms - 1, ..Settings::default() }
}

/// One side of the books: what is to go, and what came.
#[derive(Default)]
struct Side {
    next: u8,
    completed: u8,
    came: Vec<u8>,
}

/// A device, made of the same parts as a gateway's client: sending and repeats are the same both ways.
struct Device {
    in_flight: InFlight,
    repeats: Repeats,
    books: Side,
}

struct World {
    qos: QoS,
    settings: Settings,
    predefined: Predefined,
    link: Link,
    client: Client,
    gateway: Side,
    device: Device,
    now_ms: u64,
}

impl World {
    fn new(seed: u64, qos: QoS, spoiled_percent: usize) -> Self {
        let mut predefined = Predefined::default();
        predefined.add(None, TopicId::MIN, "topic").unwrap();
        let (mut client, settings, mut out) = (Client::default(), settings(), Vec::new());
        let connect = bytes("09 04 04 01 0000 'abc'");
        let message = decode(&connect, &settings.limits).unwrap().message;
        let cx = &mut Context { settings: &settings, now_ms: 0, out: &mut out };
        client.handle(&message, &predefined, cx).unwrap();
        client.opened(ReturnCode::ACCEPTED, cx).unwrap();
        let device = Device { in_flight: InFlight::default(), repeats: Repeats::default(), books: Side::default() };
        let link = Link::new(seed, spoiled_percent);
        World { qos, settings, predefined, link, client, gateway: Side::default(), device, now_ms: 0 }
    }

    /// Runs until everything is through both ways.
    fn run(&mut self) {
        while self.gateway.completed < MESSAGES || self.device.books.completed < MESSAGES {
            self.now_ms += 1;
            assert!(self.now_ms < 3_600_000, "{} and {}", self.gateway.completed, self.device.books.completed);
            self.send_from_gateway();
            self.send_from_device();
            while let Some((to, datagram)) = self.link.arrived(self.now_ms) {
                match to {
                    To::Gateway => self.gateway_hears(&datagram),
                    To::Device => self.device_hears(&datagram),
                }
            }
        }
    }

    fn send_from_gateway(&mut self) {
        let mut out = Vec::new();
        let cx = &mut Context { settings: &self.settings, now_ms: self.now_ms, out: &mut out };
        assert_eq!(self.client.tick(cx), Tick::Nothing);
        if self.gateway.next < MESSAGES {
            let payload = [self.gateway.next];
            let message = Outgoing {
                topic: "topic",
                qos: self.qos,
                retain: false,
                dup: false,
                msg_id: MsgId::new(u16::from(self.gateway.next) + 1),
                payload: &payload,
            };
            let delivery = self.client.deliver(&message, &self.predefined, cx).unwrap();
            self.gateway.next += u8::from(delivery == Delivery::Sent);
        }
        self.link.send(To::Device, &mut out, self.now_ms);
    }

    fn send_from_device(&mut self) {
        let (mut out, device) = (Vec::new(), &mut self.device);
        let cx = &mut Context { settings: &self.settings, now_ms: self.now_ms, out: &mut out };
        assert_ne!(device.in_flight.tick(cx), Overdue::Lost);
        if device.in_flight.is_free() && device.books.next < MESSAGES {
            let publish = Publish {
                dup: false,
                qos: PublishQoS::Level(self.qos),
                retain: false,
                topic: PublishTopic::Predefined(TopicId::MIN),
                msg_id: MsgId::new(u16::from(device.books.next) + 1),
                payload: &[device.books.next],
            };
            device.in_flight.send(&Message::Publish(publish), cx).unwrap();
            device.books.next += 1;
        }
        self.link.send(To::Gateway, &mut out, self.now_ms);
    }

    fn gateway_hears(&mut self, datagram: &[u8]) {
        let mut out = Vec::new();
        let cx = &mut Context { settings: &self.settings, now_ms: self.now_ms, out: &mut out };
        let message = decode(datagram, &self.settings.limits).unwrap().message;
        let event = self.client.handle(&message, &self.predefined, cx).unwrap();
        match event {
            Event::Publish { payload, receipt, .. } => {
                self.gateway.came.push(payload[0]);
                let receipt = receipt.expect("QoS 1 or 2");
                self.client.published(receipt, ReturnCode::ACCEPTED, cx).unwrap();
            }
            Event::Release(msg_id) => self.client.completed(msg_id, cx).unwrap(),
            Event::Answered(Answer::Published(_) | Answer::Completed) => self.gateway.completed += 1,
            Event::Answered(Answer::Received) => {
                let Message::PubRec(msg_id) = message else { panic!("{message:?}") };
                let released = self.client.release_to(msg_id, cx);
                assert_eq!(released, Ok(Delivery::Sent));
            }
            Event::Nothing | Event::Answered(_) => {}
            other => panic!("{other:?}"),
        }
        self.link.send(To::Device, &mut out, self.now_ms);
    }

    fn device_hears(&mut self, datagram: &[u8]) {
        let (mut out, device) = (Vec::new(), &mut self.device);
        let cx = &mut Context { settings: &self.settings, now_ms: self.now_ms, out: &mut out };
        let message = decode(datagram, &self.settings.limits).unwrap().message;
        match message {
            Message::Publish(publish) => {
                let (qos, msg_id) = (self.qos, publish.msg_id.expect("QoS 1 or 2"));
                let heard = device.repeats.publish(&publish, &self.settings, self.now_ms);
                if heard == Heard::New {
                    device.books.came.push(publish.payload[0]);
                    device.repeats.answered(qos, msg_id);
                }
                let ack = TopicAck { topic: 1, msg_id: Some(msg_id), code: ReturnCode::ACCEPTED };
                let answer = if qos == QoS::ExactlyOnce { Message::PubRec(msg_id) } else { Message::PubAck(ack) };
                if heard != Heard::Late {
                    answer.encode(&cx.settings.limits, cx.out).unwrap();
                }
            }
            Message::PubRel(msg_id) => {
                device.repeats.release(msg_id, &self.settings, self.now_ms);
                Message::PubComp(msg_id).encode(&cx.settings.limits, cx.out).unwrap();
            }
            other => {
                let answer = device.in_flight.answered(&other, cx);
                if let (Some(Answer::Received), Message::PubRec(msg_id)) = (answer, other) {
                    let release = Message::PubRel(msg_id);
                    device.in_flight.send(&release, cx).unwrap();
                }
                device.books.completed += u8::from(matches!(answer, Some(Answer::Published(_) | Answer::Completed)));
            }
        }
        self.link.send(To::Gateway, &mut out, self.now_ms);
    }

    /// What came, both ways.
    fn came(&self) -> [&[u8]; 2] {
        [&self.gateway.came, &self.device.books.came]
    }
}

/// Does each message of QoS 1 arrive, at least once?
#[test]
fn section_6_13_qos_1_at_least_once() {
    let mut repeated = 0;
    for seed in 1..=20 {
        let mut world = World::new(seed, QoS::AtLeastOnce, 20);
        world.run();
        for came in world.came() {
            assert!((0..MESSAGES).all(|n| came.contains(&n)), "seed {seed}: {came:?}");
            repeated += came.len() - usize::from(MESSAGES);
        }
    }
    assert!(repeated > 0, "the link doubles nothing");
}

/// Does each message of QoS 2 arrive exactly once, and in its order?
#[test]
fn section_6_13_qos_2_exactly_once() {
    let all: Vec<u8> = (0..MESSAGES).collect();
    for seed in 1..=40 {
        let mut world = World::new(seed, QoS::ExactlyOnce, 20);
        world.run();
        assert_eq!(world.came(), [&all[..], &all], "seed {seed}");
    }
}

/// Is a link that loses nothing a matter of moments: a millisecond a datagram, and one to begin the next?
#[test]
fn section_6_13_a_good_link_needs_no_second_time() {
    for (qos, each_ms) in [(QoS::AtLeastOnce, 3), (QoS::ExactlyOnce, 5)] {
        let mut world = World::new(1, qos, 0);
        world.run();
        assert!(world.now_ms <= u64::from(MESSAGES) * each_ms + 10, "{qos:?}: {} ms", world.now_ms);
    }
}
