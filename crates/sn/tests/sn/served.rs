//! The gateway's end of a link that spoils datagrams: the session of one client, with numbered messages both ways.

use lapwing_sn::peer::{Answer, Client, Context, Delivery, Event, Outgoing, Predefined, Settings, Tick, WillChange};
use lapwing_sn::{Message, MsgId, QoS, ReturnCode, decode};

use crate::link::{DELAY_MS_MAX, Link, To};

/// With times for that link, and patience.
pub fn patient(settings: Settings) -> Settings {
    let retry_ms = 2 * DELAY_MS_MAX + 10;
    Settings { retry_ms, retries_max: 1000, linger_ms: retry_ms - 1, ..settings }
}

/// What a client of the gateway has said, and how far the messages are.
pub struct Served {
    pub settings: Settings,
    pub predefined: Predefined,
    client: Client,
    /// That messages to the client have, once it has subscribed; and so many are to go.
    topic: &'static str,
    messages: u8,
    /// That those from it have.
    topic_from: &'static str,
    pub is_subscribed: bool,
    pub is_left: bool,
    pub will: Option<Vec<u8>>,
    next: u8,
    pub completed: u8,
    pub came: Vec<u8>,
    /// Datagrams that fit into nothing any more, and are passed over.
    pub late: usize,
}

impl Served {
    pub fn new(topic: &'static str, topic_from: &'static str, messages: u8) -> Self {
        Served {
            settings: patient(Settings::default()),
            predefined: Predefined::default(),
            client: Client::default(),
            topic,
            messages,
            topic_from,
            is_subscribed: false,
            is_left: false,
            will: None,
            next: 0,
            completed: 0,
            came: Vec::new(),
            late: 0,
        }
    }

    /// Sends what is due, and the next message when the client may have one.
    pub fn step(&mut self, qos: QoS, link: &mut Link, now_ms: u64) {
        let mut out = Vec::new();
        let cx = &mut Context { settings: &self.settings, now_ms, out: &mut out };
        assert_ne!(self.client.tick(cx), Tick::Lost);
        if self.is_subscribed && self.next < self.messages {
            let (payload, msg_id) = ([self.next], MsgId::new(u16::from(self.next) + 1));
            let message = Outgoing { topic: self.topic, qos, retain: false, dup: false, msg_id, payload: &payload };
            let delivery = self.client.deliver(&message, &self.predefined, cx);
            self.next += u8::from(delivery == Ok(Delivery::Sent));
        }
        link.send(To::Device, &mut out, now_ms);
    }

    pub fn hear(&mut self, datagram: &[u8], link: &mut Link, now_ms: u64) {
        let message = decode(datagram, &self.settings.limits).expect("a message").message;
        let mut out = Vec::new();
        let cx = &mut Context { settings: &self.settings, now_ms, out: &mut out };
        match self.client.handle(&message, &self.predefined, cx).expect("every answer fits") {
            Event::Connect { will, .. } => {
                if let WillChange::Set { payload, .. } = will {
                    self.will = Some(payload);
                }
                self.client.opened(ReturnCode::ACCEPTED, cx).expect("fits");
            }
            Event::Publish { topic, payload, receipt, .. } => {
                assert_eq!(topic.as_str(), self.topic_from);
                self.came.push(payload[0]);
                let receipt = receipt.expect("QoS 1 or 2");
                self.client.published(receipt, ReturnCode::ACCEPTED, cx).expect("fits");
            }
            Event::Release(msg_id) => self.client.completed(msg_id, cx).expect("fits"),
            Event::Subscribe { filter, qos, request } => {
                self.is_subscribed |= filter.as_str() == "down/+";
                self.client.subscribed(request, Ok(qos), cx).expect("fits");
            }
            Event::Answered(Answer::Published(_) | Answer::Completed) => self.completed += 1,
            Event::Answered(Answer::Received) => {
                let Message::PubRec(msg_id) = message else { panic!("{message:?}") };
                assert_eq!(self.client.release_to(msg_id, cx), Ok(Delivery::Sent));
            }
            Event::Gone => self.is_left = true,
            Event::Nothing | Event::Answered(_) => {}
            // A part of the will, a goodbye that was heard.
            Event::OutOfState | Event::Unknown => self.late += 1,
            other => panic!("{other:?}"),
        }
        link.send(To::Device, &mut out, now_ms);
    }
}
