//! From the gateway to the client: messages become packets, or are answered here.

use lapwing_codec as codec;
use lapwing_codec::{Ack, Limits, Packet, PacketId, PublishProperties, ReasonCode, ReasonProperties, decode};

use crate::peer::Heard;
use crate::{
    Limits as SnLimits, Message, MsgId, Publish, PublishQoS, PublishTopic, QoS, Register, ReturnCode, SubAck, TopicAck,
    TopicId,
};

use super::Error;
use super::connecting::say;
use super::exchange::Awaited;
use super::translator::{Phase, Translator, VERSION};

impl Translator {
    /// Takes a datagram of the gateway; packets for the client are appended to `input`. What is no message, or none that
    /// belongs here, is counted: it may be late, or of somebody else.
    /// # Errors
    /// The connection is over.
    pub fn hear(&mut self, datagram: &[u8], input: &mut Vec<u8>, now_ms: u64) -> Result<(), Error> {
        match crate::decode(datagram, &SnLimits::PROTOCOL) {
            Ok(datagram) if datagram.forwarding.is_none() => self.take(&datagram.message, input, now_ms)?,
            _ => self.dropped += 1,
        }
        self.pump(now_ms)
    }

    fn take(&mut self, message: &Message<'_>, input: &mut Vec<u8>, now_ms: u64) -> Result<(), Error> {
        if self.phase == Phase::Asleep {
            // Late, or a probe: what matters comes again when the client awakes.
            self.dropped += 1;
            return Ok(());
        }
        self.drains(now_ms);
        match message {
            Message::ConnAck(code) => self.connected(*code, input),
            Message::WillTopicReq => self.will_topic_asked(now_ms),
            Message::WillMsgReq => self.will_message_asked(now_ms),
            Message::PingReq(_) => self.send(&Message::PingResp, "a PINGRESP"),
            Message::Disconnect(_) => self.dismissed(),
            _ if !matches!(self.phase, Phase::Connected | Phase::Awake | Phase::Leaving) => {
                self.dropped += 1;
                Ok(())
            }
            Message::Register(register) => self.register(register),
            Message::Publish(publish) => self.deliver(publish, input, now_ms),
            Message::PubRel(id) => {
                self.repeats.release(*id, &self.settings, now_ms);
                say(&Packet::PubRel(Ack::success(*id)), input)
            }
            Message::PingResp => match self.ping.take() {
                Some(ping) if ping.what == Awaited::PingResp => say(&Packet::PingResp, input),
                Some(_) => {
                    self.drained();
                    Ok(())
                }
                None => Ok(()),
            },
            _ => self.answered(message, input),
        }
    }

    /// DISCONNECT answers ours, or is the gateway's own.
    fn dismissed(&mut self) -> Result<(), Error> {
        let awaited = self.in_flight.as_ref().map(|exchange| exchange.what);
        if awaited == Some(Awaited::Asleep) {
            self.fallen_asleep();
            return Ok(());
        }
        let is_ours = awaited == Some(Awaited::Disconnect);
        if !is_ours && self.phase != Phase::Over {
            return Err(Error::Dismissed);
        }
        if is_ours {
            self.left();
        }
        Ok(())
    }

    /// Our DISCONNECT is through. A gateway that has heard it knows nobody here any more, and answers no second one: if its
    /// answer was lost, none comes.
    pub(super) fn left(&mut self) {
        self.through();
        (self.phase, self.ping) = (Phase::Over, None);
    }

    /// REGISTER: the gateway tells the id of a topic before a message of it (6.10).
    fn register(&mut self, register: &Register<'_>) -> Result<(), Error> {
        let max = self.settings.registrations_max;
        let code = match register.topic_id {
            None => ReturnCode::INVALID_TOPIC_ID,
            Some(id) if self.topics.learn(id, register.topic, max) => ReturnCode::ACCEPTED,
            Some(_) => ReturnCode::CONGESTION,
        };
        let topic = TopicId::wire(register.topic_id);
        self.send(&Message::RegAck(TopicAck { topic, msg_id: Some(register.msg_id), code }), "a REGACK")
    }

    /// PUBLISH. What comes again is answered again; what waits for the client's answer is not.
    fn deliver(&mut self, publish: &Publish<'_>, input: &mut Vec<u8>, now_ms: u64) -> Result<(), Error> {
        let short;
        let topic = match publish.topic {
            PublishTopic::Short(name) => {
                short = name;
                Some(short.as_str())
            }
            PublishTopic::Registered(id) => self.topics.name(id),
            // Nobody told this client what its operator knows.
            PublishTopic::Predefined(_) => None,
        };
        let PublishQoS::Level(qos) = publish.qos else {
            self.dropped += 1;
            return Ok(());
        };
        let Some(topic) = topic else {
            let (topic, code) = (publish.topic.field(), ReturnCode::INVALID_TOPIC_ID);
            return self.send(&Message::PubAck(TopicAck { topic, msg_id: publish.msg_id, code }), "a PUBACK");
        };
        match self.repeats.publish(publish, &self.settings, now_ms) {
            Heard::New | Heard::Unanswered => {}
            Heard::Pending | Heard::Late => return Ok(()),
            Heard::Again => return self.answer_again(qos, publish),
        }
        if let (QoS::AtLeastOnce, Some(id)) = (qos, publish.msg_id) {
            self.last_heard = Some((id, publish.topic.field()));
        }
        let Publish { dup, retain, msg_id: packet_id, payload, .. } = *publish;
        let properties = PublishProperties::EMPTY;
        say(&Packet::Publish(codec::Publish { dup, qos, retain, topic, packet_id, properties, payload }), input)
    }

    fn answer_again(&mut self, qos: QoS, publish: &Publish<'_>) -> Result<(), Error> {
        let Some(id) = publish.msg_id else { return Ok(()) };
        if qos == QoS::ExactlyOnce {
            return self.send(&Message::PubRec(id), "a PUBREC");
        }
        let ack = TopicAck { topic: publish.topic.field(), msg_id: Some(id), code: ReturnCode::ACCEPTED };
        self.send(&Message::PubAck(ack), "a PUBACK")
    }

    /// What the gateway says of the message in flight; anything else is late.
    fn answered(&mut self, message: &Message<'_>, input: &mut Vec<u8>) -> Result<(), Error> {
        let awaited = self.in_flight.as_ref().map(|exchange| exchange.what);
        match (message, awaited) {
            (Message::RegAck(ack), Some(Awaited::RegAck(id))) if ack.msg_id == Some(id) => self.registered(ack),
            (Message::PubAck(ack), Some(Awaited::Published(id, qos))) if ack.msg_id == Some(id) => {
                return self.published(ack, id, qos, input);
            }
            // It refuses a message of QoS 0, which has no id.
            (Message::PubAck(TopicAck { msg_id: None, code, .. }), _) => self.unpublished(message, *code),
            (Message::PubRec(of), Some(Awaited::Published(id, QoS::ExactlyOnce))) if *of == id => {
                self.through();
                self.to_release = Some(id);
                return say(&Packet::PubRec(Ack::success(id)), input);
            }
            (Message::PubRec(of), Some(Awaited::PubComp(id))) if *of == id => {
                // PUBREL was lost.
                return self.send(&Message::PubRel(id), "a PUBREL");
            }
            (Message::PubComp(of), Some(Awaited::PubComp(id))) if *of == id => {
                self.completed(id);
                return say(&Packet::PubComp(Ack::success(id)), input);
            }
            (Message::SubAck(ack), Some(Awaited::SubAck(id))) if ack.msg_id == id => {
                return self.subscribed(ack, input);
            }
            (Message::UnsubAck(of), Some(Awaited::UnsubAck(id))) if *of == id => return self.unsubscribed(input),
            _ => self.dropped += 1,
        }
        Ok(())
    }

    /// REGACK: the message that waited for it goes next.
    fn registered(&mut self, ack: &TopicAck) {
        let topic = self.first_topic();
        let max = self.settings.registrations_max;
        match (ack.topic_id(), topic) {
            _ if !ack.code.is_accepted() => self.refused(ack.code),
            (Some(id), Some(topic)) if self.topics.learn(id, &topic, max) => self.in_flight = None,
            _ => self.refused(ReturnCode::CONGESTION),
        }
    }

    /// Where the first message that waits is to go.
    fn first_topic(&self) -> Option<String> {
        match decode(self.waiting.front()?, VERSION, &Limits::PROTOCOL) {
            Ok(Some((Packet::Publish(publish), _))) => Some(publish.topic.to_owned()),
            _ => None,
        }
    }

    /// PUBACK. A gateway that has forgotten the topic's id is asked for another, once for a message.
    fn published(&mut self, ack: &TopicAck, id: PacketId, qos: QoS, input: &mut Vec<u8>) -> Result<(), Error> {
        match ack.code {
            ReturnCode::ACCEPTED if qos == QoS::AtLeastOnce => {
                self.through();
                return say(&Packet::PubAck(Ack::success(id)), input);
            }
            // One of QoS 2 is accepted by PUBREC.
            ReturnCode::ACCEPTED => self.dropped += 1,
            ReturnCode::INVALID_TOPIC_ID if !self.is_told_again => {
                self.forget_id(ack);
                (self.is_told_again, self.in_flight) = (true, None);
            }
            code => self.refused(code),
        }
        Ok(())
    }

    fn unpublished(&mut self, message: &Message<'_>, code: ReturnCode) {
        self.dropped += 1;
        if let (Message::PubAck(ack), ReturnCode::INVALID_TOPIC_ID) = (message, code) {
            self.forget_id(ack);
        }
    }

    fn forget_id(&mut self, ack: &TopicAck) {
        if let Some(id) = ack.topic_id() {
            self.topics.forget(id);
        }
    }

    /// PUBCOMP. A PUBREL of an earlier connection stands first among those that wait; one of this went by itself.
    fn completed(&mut self, id: PacketId) {
        let first = self.waiting.front().map(|packet| decode(packet, VERSION, &Limits::PROTOCOL));
        if matches!(first, Some(Ok(Some((Packet::PubRel(ack), _)))) if ack.packet_id == id) {
            self.through();
        } else {
            self.in_flight = None;
        }
    }

    /// SUBACK to one filter; the client's comes when all have theirs.
    fn subscribed(&mut self, ack: &SubAck, input: &mut Vec<u8>) -> Result<(), Error> {
        let Some((packet_id, filters)) = self.first_filters() else { return Ok(()) };
        if let (Some(id), true, Some(topic)) = (ack.topic_id, ack.code.is_accepted(), filters.get(self.codes.len())) {
            let max = self.settings.registrations_max;
            // Without room for it the gateway is asked again, when a message comes.
            self.topics.learn(id, topic, max);
        }
        self.codes.push(if ack.code.is_accepted() { granted(ack.qos) } else { ReasonCode::UnspecifiedError });
        self.in_flight = None;
        if self.codes.len() < filters.len() {
            return Ok(());
        }
        let codes = std::mem::take(&mut self.codes);
        self.through();
        let properties = ReasonProperties::EMPTY;
        say(&Packet::SubAck(codec::SubAck { packet_id, properties, reasons: &codes }), input)
    }

    fn unsubscribed(&mut self, input: &mut Vec<u8>) -> Result<(), Error> {
        let Some((packet_id, filters)) = self.first_filters() else { return Ok(()) };
        self.codes.push(ReasonCode::Success);
        self.in_flight = None;
        if self.codes.len() < filters.len() {
            return Ok(());
        }
        self.through();
        let properties = ReasonProperties::EMPTY;
        say(&Packet::UnsubAck(codec::UnsubAck { packet_id, properties, reasons: &[] }), input)
    }

    /// The SUBSCRIBE or UNSUBSCRIBE that waits first.
    fn first_filters(&self) -> Option<(MsgId, Vec<String>)> {
        match decode(self.waiting.front()?, VERSION, &Limits::PROTOCOL) {
            Ok(Some((Packet::Subscribe(one), _))) => {
                Some((one.packet_id, one.filters.iter().map(|filter| filter.filter.to_owned()).collect()))
            }
            Ok(Some((Packet::Unsubscribe(one), _))) => {
                Some((one.packet_id, one.filters.iter().map(str::to_owned).collect()))
            }
            _ => None,
        }
    }
}

const fn granted(qos: QoS) -> ReasonCode {
    match qos {
        QoS::AtMostOnce => ReasonCode::Success,
        QoS::AtLeastOnce => ReasonCode::GrantedQoS1,
        QoS::ExactlyOnce => ReasonCode::GrantedQoS2,
    }
}
