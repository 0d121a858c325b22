//! QoS 1 and 2, both ways at once, over a link that loses, doubles and reorders a fifth of the datagrams.

use lapwing_sn::peer::{Answer, Context, Heard, InFlight, Overdue, Repeats, Settings};
use lapwing_sn::{Message, MsgId, Publish, PublishQoS, PublishTopic, QoS, ReturnCode, TopicAck, TopicId, decode};

use crate::gateway::bytes;
use crate::link::{Link, To};
use crate::served::{Served, patient};

const MESSAGES: u8 = 60;

/// A device, made of the same parts as a gateway's client: sending and repeats are the same both ways.
#[derive(Default)]
struct Device {
    in_flight: InFlight,
    repeats: Repeats,
    next: u8,
    completed: u8,
    came: Vec<u8>,
}

struct World {
    qos: QoS,
    settings: Settings,
    link: Link,
    gateway: Served,
    device: Device,
    now_ms: u64,
}

impl World {
    fn new(seed: u64, qos: QoS, spoiled_percent: usize) -> Self {
        let mut gateway = Served::new("topic", "topic", MESSAGES);
        gateway.predefined.add(None, TopicId::MIN, "topic").unwrap();
        // It is connected before the world begins: the answer goes nowhere.
        gateway.hear(&bytes("09 04 04 01 0000 'abc'"), &mut Link::new(0, 100), 0);
        gateway.is_subscribed = true;
        let (settings, link) = (patient(Settings::default()), Link::new(seed, spoiled_percent));
        World { qos, settings, link, gateway, device: Device::default(), now_ms: 0 }
    }

    /// Runs until everything is through both ways.
    fn run(&mut self) {
        while self.gateway.completed < MESSAGES || self.device.completed < MESSAGES {
            self.now_ms += 1;
            assert!(self.now_ms < 3_600_000, "{} and {}", self.gateway.completed, self.device.completed);
            self.gateway.step(self.qos, &mut self.link, self.now_ms);
            self.send_from_device();
            while let Some((to, datagram)) = self.link.arrived(self.now_ms) {
                match to {
                    To::Gateway => self.gateway.hear(&datagram, &mut self.link, self.now_ms),
                    To::Device => self.device_hears(&datagram),
                }
            }
        }
        assert_eq!(self.gateway.late, 0, "nothing is out of its place");
    }

    fn send_from_device(&mut self) {
        let (mut out, device) = (Vec::new(), &mut self.device);
        let cx = &mut Context { settings: &self.settings, now_ms: self.now_ms, out: &mut out };
        assert_ne!(device.in_flight.tick(cx), Overdue::Lost);
        if device.in_flight.is_free() && device.next < MESSAGES {
            let publish = Publish {
                dup: false,
                qos: PublishQoS::Level(self.qos),
                retain: false,
                topic: PublishTopic::Predefined(TopicId::MIN),
                msg_id: MsgId::new(u16::from(device.next) + 1),
                payload: &[device.next],
            };
            device.in_flight.send(&Message::Publish(publish), cx).unwrap();
            device.next += 1;
        }
        self.link.send(To::Gateway, &mut out, self.now_ms);
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
                    device.came.push(publish.payload[0]);
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
                device.completed += u8::from(matches!(answer, Some(Answer::Published(_) | Answer::Completed)));
            }
        }
        self.link.send(To::Gateway, &mut out, self.now_ms);
    }

    /// What came, both ways.
    fn came(&self) -> [&[u8]; 2] {
        [&self.gateway.came, &self.device.came]
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
