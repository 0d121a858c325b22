//! A device behind a bad link: it says again what is not answered, and counts once what it hears again.

use std::collections::VecDeque;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use lapwing_sn::{
    Connect, Limits, Message, MsgId, PingReq, Publish, PublishQoS, QoS, ReturnCode, Subscribe, SubscribeTopic,
    TopicAck, decode,
};

use super::relay::Relay;
use crate::device::{msg_id, short};

/// How long it waits for an answer.
const RETRY: Duration = Duration::from_millis(20);

/// One device, whose message ids are those of its messages.
pub struct Sensor {
    socket: UdpSocket,
    client_id: &'static str,
    is_connected: bool,
    /// It was told that nobody knows it, or knows so itself: what it has heard late is new from its next CONNACK on.
    is_anew: bool,
    /// To be done, the first one under way.
    errands: VecDeque<Errand>,
    sent_at: Option<Instant>,
    is_repeat: bool,
    /// PUBLISH of QoS 2 that was not released.
    unreleased: Option<MsgId>,
    /// The last one that was: a copy of it may be late.
    released: Option<(MsgId, Vec<u8>)>,
    last_payload: Vec<u8>,
    /// What it has heard, in order, QoS 1 as often as it came.
    pub heard: Vec<(QoS, Vec<u8>)>,
}

/// What is to be done, until it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Errand {
    Subscribe(&'static str, QoS),
    Publish(QoS, u16),
    Release(u16),
}

impl Sensor {
    /// A device that speaks through a relay of this seed to the gateway at this port.
    pub fn new(client_id: &'static str, gateway: u16, seed: u64) -> (Sensor, Relay) {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.set_read_timeout(Some(RETRY)).expect("a socket");
        let relay = Relay::new(&socket, gateway, seed);
        socket.connect(relay.front()).expect("loopback");
        let sensor = Sensor {
            socket,
            client_id,
            is_connected: false,
            is_anew: false,
            errands: VecDeque::new(),
            sent_at: None,
            is_repeat: false,
            unreleased: None,
            released: None,
            last_payload: Vec::new(),
            heard: Vec::new(),
        };
        (sensor, relay)
    }

    pub fn subscribe(&mut self, filter: &'static str, qos: QoS) {
        self.errands.push_back(Errand::Subscribe(filter, qos));
    }

    /// A message to the topic `up`, whose payload is its id.
    pub fn publish(&mut self, qos: QoS, id: u16) {
        self.errands.push_back(Errand::Publish(qos, id));
    }

    /// Errands that are not done.
    pub fn owes(&self) -> usize {
        self.errands.len()
    }

    /// The gateway is another one, as the relay has been told.
    pub fn begin_anew(&mut self) {
        self.is_anew = true;
    }

    /// Different payloads of that QoS that were heard.
    pub fn different(&self, qos: QoS) -> usize {
        self.payloads(qos).collect::<std::collections::BTreeSet<_>>().len()
    }

    /// Payloads of that QoS, as they came.
    pub fn payloads(&self, qos: QoS) -> impl Iterator<Item = &[u8]> {
        self.heard.iter().filter(move |(of, _)| *of == qos).map(|(_, payload)| &payload[..])
    }

    /// Goes on until `is_done`.
    pub fn run(&mut self, what: &str, is_done: impl Fn(&Sensor) -> bool) {
        let (begun, mut bytes) = (Instant::now(), [0; 2048]);
        while !is_done(self) {
            assert!(begun.elapsed() < Duration::from_secs(60), "not within a minute: {what}; {} owed", self.owes());
            if self.sent_at.is_none_or(|at| at.elapsed() >= RETRY) {
                self.say_next();
            }
            // Nothing within the time, or a relay whose gateway is gone: said again.
            let Ok(len) = self.socket.recv(&mut bytes) else { continue };
            let message = decode(&bytes[..len], &Limits::PROTOCOL).expect("the node speaks MQTT-SN").message;
            self.hear(&message);
        }
    }

    /// CONNECT, what is under way, or a sign of life.
    fn say_next(&mut self) {
        self.sent_at = Some(Instant::now());
        let dup = std::mem::replace(&mut self.is_repeat, true);
        if !self.is_connected {
            let client_id = self.client_id;
            return self.say(Message::Connect(Connect {
                will: false,
                clean_session: false,
                duration_s: 600,
                client_id,
            }));
        }
        match self.errands.front() {
            None => self.say(Message::PingReq(PingReq { client_id: None })),
            Some(Errand::Subscribe(filter, qos)) => {
                let topic = SubscribeTopic::Filter(filter);
                self.say(Message::Subscribe(Subscribe { dup, qos: *qos, msg_id: msg_id(9), topic }));
            }
            Some(Errand::Publish(qos, id)) => {
                let (qos, msg_id, payload) = (PublishQoS::Level(*qos), Some(msg_id(*id)), id.to_be_bytes());
                let topic = short("up");
                self.say(Message::Publish(Publish { dup, qos, retain: false, topic, msg_id, payload: &payload }));
            }
            Some(Errand::Release(id)) => self.say(Message::PubRel(msg_id(*id))),
        }
    }

    fn say(&self, message: Message<'_>) {
        let mut bytes = Vec::new();
        message.encode(&Limits::PROTOCOL, &mut bytes).expect("the test's message can be encoded");
        // Lost, if nobody is there.
        drop(self.socket.send(&bytes));
    }

    fn hear(&mut self, message: &Message<'_>) {
        match message {
            Message::ConnAck(ReturnCode::ACCEPTED) => self.connected(),
            // Of a gateway that goes, or has no room yet: said again.
            Message::ConnAck(_) => {}
            Message::Disconnect(_) => self.is_connected = false,
            Message::PingReq(_) => self.say(Message::PingResp),
            Message::Register(register) => {
                let topic = register.topic_id.expect("a gateway's REGISTER has the id").get();
                let ack = TopicAck { topic, msg_id: Some(register.msg_id), code: ReturnCode::ACCEPTED };
                self.say(Message::RegAck(ack));
            }
            Message::Publish(publish) => self.take(publish),
            Message::PubRel(id) => {
                if self.unreleased.take_if(|unreleased| *unreleased == *id).is_some() {
                    self.released = Some((*id, std::mem::take(&mut self.last_payload)));
                }
                self.say(Message::PubComp(*id));
            }
            Message::SubAck(ack) => {
                assert_eq!(ack.code, ReturnCode::ACCEPTED);
                self.done(|errand| matches!(errand, Errand::Subscribe(..)));
            }
            Message::PubAck(ack) if ack.code.is_accepted() => {
                self.done(
                    |errand| matches!(errand, Errand::Publish(QoS::AtLeastOnce, id) if ack.msg_id == MsgId::new(*id)),
                );
            }
            // Congestion: said again.
            Message::PubAck(_) | Message::PingResp => {}
            Message::PubRec(received) => {
                let is_it = |errand: &Errand| matches!(errand, Errand::Publish(QoS::ExactlyOnce, id) if msg_id(*id) == *received);
                if self.done(is_it) {
                    self.errands.push_front(Errand::Release(received.get()));
                    self.say_next();
                }
            }
            Message::PubComp(id) => {
                self.done(|errand| *errand == Errand::Release(id.get()));
            }
            other => panic!("{other:?}"),
        }
    }

    fn connected(&mut self) {
        self.is_connected = true;
        if std::mem::take(&mut self.is_anew) {
            self.released = None;
        }
        self.sent_at = None;
    }

    /// The first errand is done, if it is that one.
    fn done(&mut self, is_it: impl FnOnce(&Errand) -> bool) -> bool {
        let is_done = self.errands.front().is_some_and(is_it);
        if is_done {
            self.errands.pop_front();
            (self.sent_at, self.is_repeat) = (None, false);
        }
        is_done
    }

    fn take(&mut self, publish: &Publish<'_>) {
        let (Some(id), PublishQoS::Level(qos)) = (publish.msg_id, publish.qos) else { panic!("{publish:?}") };
        if qos == QoS::AtLeastOnce {
            self.heard.push((qos, publish.payload.to_vec()));
            let ack = TopicAck { topic: publish.topic.field(), msg_id: Some(id), code: ReturnCode::ACCEPTED };
            return self.say(Message::PubAck(ack));
        }
        let is_late = |(of, payload): &(MsgId, Vec<u8>)| *of == id && payload[..] == *publish.payload;
        if self.released.as_ref().is_some_and(is_late) {
            // An answer would be one to the next message of that id.
            return;
        }
        if self.unreleased != Some(id) {
            self.unreleased = Some(id);
            self.last_payload = publish.payload.to_vec();
            self.heard.push((qos, publish.payload.to_vec()));
        }
        self.say(Message::PubRec(id));
    }
}
