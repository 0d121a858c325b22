//! From the client to the gateway: packets become messages, one in flight.

use lapwing_codec as codec;
use lapwing_codec::{Limits, Packet, PacketId, decode};

use crate::{
    Disconnect, Message, PingReq, Publish, PublishQoS, PublishTopic, QoS, Register, ReturnCode, ShortTopic, Subscribe,
    SubscribeTopic, TopicAck, Unsubscribe,
};

use super::exchange::{Awaited, Exchange};
use super::translator::{Phase, Translator, VERSION};
use super::{Error, Refusal};

/// Where a packet is that has been looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// It has gone, and nothing more is to be known of it.
    Through,
    /// It waits for an answer, and may have to be looked at again.
    Stays,
}

impl Translator {
    /// Sends what may go.
    pub(super) fn pump(&mut self, now_ms: u64) -> Result<(), Error> {
        while self.may_send() {
            let Some(packet) = self.waiting.pop_front() else { return self.lie_down(now_ms) };
            let then = self.start(&packet, now_ms);
            self.waiting.push_front(packet);
            if then? == Then::Through {
                self.through();
            }
        }
        Ok(())
    }

    /// Nothing goes between PUBREC and PUBREL, so that no message is in flight behind one that is not over. Who says goodbye
    /// releases nothing any more.
    fn may_send(&self) -> bool {
        let is_releasing = self.to_release.is_some() && self.phase != Phase::Leaving;
        self.in_flight.is_none() && !is_releasing && self.phase != Phase::Over
    }

    /// The first packet that waits is done with.
    pub(super) fn through(&mut self) {
        self.in_flight = None;
        self.is_told_again = false;
        self.codes.clear();
        if let Some(packet) = self.waiting.pop_front() {
            self.waiting_bytes -= packet.len();
        }
    }

    fn start(&mut self, packet: &[u8], now_ms: u64) -> Result<Then, Error> {
        // It was read by the same limits when it came.
        let Some((packet, _)) = decode(packet, VERSION, &Limits::PROTOCOL)? else { return Ok(Then::Through) };
        match packet {
            Packet::Connect(connect) => self.connect(&connect, now_ms)?,
            Packet::Publish(publish) => return self.publish(&publish, now_ms),
            Packet::PubRel(ack) => {
                self.release(ack.packet_id, now_ms)?;
                return Ok(Then::Stays);
            }
            Packet::Subscribe(subscribe) => self.subscribe(&subscribe, now_ms)?,
            Packet::Unsubscribe(unsubscribe) => self.unsubscribe(&unsubscribe, now_ms)?,
            Packet::Disconnect(_) => {
                let message = Message::Disconnect(Disconnect { duration_s: None });
                self.begin(Awaited::Disconnect, &message, "a DISCONNECT", now_ms)?;
            }
            _ => return Err(Error::NotSayable("a packet that only a broker sends cannot be said by a client")),
        }
        Ok(Then::Stays)
    }

    /// Sends a message, and waits for its answer.
    pub(super) fn begin(
        &mut self,
        awaited: Awaited,
        message: &Message<'_>,
        what: &'static str,
        now_ms: u64,
    ) -> Result<(), Error> {
        let exchange = self.encoded(awaited, message, what, now_ms)?;
        self.in_flight = Some(exchange);
        Ok(())
    }

    /// PINGREQ goes at once, whatever is in flight; one that is not answered yet is enough.
    pub(super) fn ping(&mut self, now_ms: u64) -> Result<(), Error> {
        let message = Message::PingReq(PingReq { client_id: None });
        let ping = self.encoded(Awaited::PingResp, &message, "a PINGREQ", now_ms)?;
        self.ping = Some(ping);
        Ok(())
    }

    pub(super) fn encoded(
        &mut self,
        awaited: Awaited,
        message: &Message<'_>,
        what: &'static str,
        now_ms: u64,
    ) -> Result<Exchange, Error> {
        let mut bytes = Vec::new();
        message.encode(&self.settings.limits, &mut bytes).map_err(|error| Error::of(error, what))?;
        self.datagrams.push_back(bytes.clone());
        Ok(Exchange::new(awaited, message.kind(), bytes, &self.settings, now_ms))
    }

    /// By an id that the gateway knows, or its two bytes; otherwise REGISTER goes first (6.5).
    fn publish(&mut self, publish: &codec::Publish<'_>, now_ms: u64) -> Result<Then, Error> {
        let topic = match (ShortTopic::new(publish.topic), self.topics.id(publish.topic)) {
            (Ok(short), _) => PublishTopic::Short(short),
            (_, Some(id)) => PublishTopic::Registered(id),
            (_, None) => {
                let msg_id = self.next_id();
                let register = Message::Register(Register { topic_id: None, msg_id, topic: publish.topic });
                self.begin(Awaited::RegAck(msg_id), &register, "a topic of this length", now_ms)?;
                return Ok(Then::Stays);
            }
        };
        let codec::Publish { qos, retain, packet_id, payload, .. } = *publish;
        let dup = publish.dup && packet_id.is_some();
        let message = Publish { dup, qos: PublishQoS::Level(qos), retain, topic, msg_id: packet_id, payload };
        let (message, what) = (Message::Publish(message), "a message of this size");
        match packet_id {
            Some(id) => self.begin(Awaited::Published(id, qos), &message, what, now_ms).map(|()| Then::Stays),
            None => self.send(&message, what).map(|()| Then::Through),
        }
    }

    /// PUBREL, now or for a message of an earlier connection.
    pub(super) fn release(&mut self, packet_id: PacketId, now_ms: u64) -> Result<(), Error> {
        self.begin(Awaited::PubComp(packet_id), &Message::PubRel(packet_id), "a PUBREL", now_ms)
    }

    /// One filter of them at a time: MQTT-SN has one in a message.
    fn subscribe(&mut self, subscribe: &codec::Subscribe<'_>, now_ms: u64) -> Result<(), Error> {
        let Some(next) = subscribe.filters.iter().nth(self.codes.len()) else { return Ok(()) };
        let (topic, qos) = (topic_of(next.filter), next.options.qos);
        let msg_id = self.next_id();
        let message = Message::Subscribe(Subscribe { dup: false, qos, msg_id, topic });
        self.begin(Awaited::SubAck(msg_id), &message, "a filter of this length", now_ms)
    }

    fn unsubscribe(&mut self, unsubscribe: &codec::Unsubscribe<'_>, now_ms: u64) -> Result<(), Error> {
        let Some(filter) = unsubscribe.filters.iter().nth(self.codes.len()) else { return Ok(()) };
        let msg_id = self.next_id();
        let message = Message::Unsubscribe(Unsubscribe { msg_id, topic: topic_of(filter) });
        self.begin(Awaited::UnsubAck(msg_id), &message, "a filter of this length", now_ms)
    }

    /// PUBACK of the client.
    pub(super) fn acknowledge(&mut self, packet_id: PacketId) -> Result<(), Error> {
        self.repeats.answered(QoS::AtLeastOnce, packet_id);
        let topic = self.last_heard.filter(|(id, _)| *id == packet_id).map_or(0, |(_, topic)| topic);
        let ack = TopicAck { topic, msg_id: Some(packet_id), code: ReturnCode::ACCEPTED };
        self.send(&Message::PubAck(ack), "a PUBACK")
    }

    /// PUBREC of the client.
    pub(super) fn received(&mut self, packet_id: PacketId) -> Result<(), Error> {
        self.repeats.answered(QoS::ExactlyOnce, packet_id);
        self.send(&Message::PubRec(packet_id), "a PUBREC")
    }

    /// The message in flight is refused, or cannot have a topic id: nobody gets it.
    pub(super) fn refused(&mut self, code: ReturnCode) {
        let first = self.waiting.front().map(|packet| decode(packet, VERSION, &Limits::PROTOCOL));
        match first {
            Some(Ok(Some((Packet::Publish(codec::Publish { packet_id: Some(packet_id), .. }), _)))) => {
                self.refusals.push(Refusal { packet_id, code });
            }
            _ => self.dropped += 1,
        }
        self.through();
    }
}

/// A name of two bytes without wildcards is said as it is; all else as text.
fn topic_of(filter: &str) -> SubscribeTopic<'_> {
    ShortTopic::new(filter).map_or(SubscribeTopic::Filter(filter), SubscribeTopic::Short)
}
