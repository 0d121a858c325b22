//! PUBLISH (5.4.12): a message, in either direction.

use crate::flags::Flags;
use crate::header::LONG;
use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, EncodeError, Message, MsgId, PublishQoS, PublishTopic, Reason, TopicAck};

/// A PUBLISH message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publish<'a> {
    /// Sent before, perhaps; only with QoS 1 and 2.
    pub dup: bool,
    /// Quality of service.
    pub qos: PublishQoS,
    /// To be retained (to a gateway), or was retained (to a client).
    pub retain: bool,
    /// Its topic.
    pub topic: PublishTopic,
    /// Present exactly when the QoS is 1 or 2.
    pub msg_id: Option<MsgId>,
    /// The data.
    pub payload: &'a [u8],
}

/// Sets DUP in a PUBLISH as it was written, without a forwarder.
pub(crate) fn set_dup(message: &mut [u8]) {
    let flags_at = if message.first() == Some(&LONG) { 4 } else { 2 };
    if let Some(flags) = message.get_mut(flags_at) {
        *flags = Flags(*flags).with_dup(true).0;
    }
}

/// What stands in front of the data.
struct Head {
    flags: Flags,
    flags_at: usize,
    topic: u16,
    topic_at: usize,
    msg_id: Option<MsgId>,
}

impl<'a> Publish<'a> {
    #[inline]
    pub(crate) fn decode(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        let head = Head::decode(&mut reader)?;
        let topic = head.decode_topic().map_err(|error| head.answered(error))?;
        let qos = head.flags.publish_qos();
        Ok(Publish {
            dup: head.flags.dup() && qos.is_acknowledged(),
            qos,
            retain: head.flags.retain(),
            topic,
            msg_id: head.msg_id,
            payload: reader.rest(),
        })
    }
}

impl Head {
    /// The message id is relevant with QoS 1 and 2 only; otherwise it is not looked at.
    #[inline]
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let flags_at = reader.at();
        let flags = Flags(reader.u8()?);
        let topic_at = reader.at();
        let topic = reader.u16()?;
        let msg_id = if flags.publish_qos().is_acknowledged() {
            Some(reader.packet_id()?)
        } else {
            reader.u16()?;
            None
        };
        Ok(Head { flags, flags_at, topic, topic_at, msg_id })
    }

    /// The topic; who has no connection has registered none (6.8).
    #[inline]
    fn decode_topic(&self) -> Result<PublishTopic, DecodeError> {
        let topic = PublishTopic::decode(self.flags, self.flags_at, self.topic, self.topic_at)?;
        if self.flags.publish_qos() == PublishQoS::MinusOne && matches!(topic, PublishTopic::Registered(_)) {
            return Err(DecodeError::new(Reason::InvalidTopicId, "a registered topic id with QoS -1", self.topic_at));
        }
        Ok(topic)
    }

    /// A refused PUBLISH is answered by PUBACK in every QoS but -1, where nobody listens.
    #[cold]
    fn answered(&self, error: DecodeError) -> DecodeError {
        if self.flags.publish_qos() == PublishQoS::MinusOne {
            return error;
        }
        error.answered(|code| Message::PubAck(TopicAck { topic: self.topic, msg_id: self.msg_id, code }))
    }
}

impl Body for Publish<'_> {
    fn check(&self) -> Result<(), EncodeError> {
        let what = match self.qos {
            qos if qos.is_acknowledged() != self.msg_id.is_some() => {
                "a PUBLISH whose QoS and message id do not go together"
            }
            qos if self.dup && !qos.is_acknowledged() => "DUP in a PUBLISH that is not acknowledged",
            PublishQoS::MinusOne if matches!(self.topic, PublishTopic::Registered(_)) => {
                "a registered topic id with QoS -1"
            }
            _ => return Ok(()),
        };
        Err(EncodeError::NotRepresentable(what))
    }

    #[inline]
    fn write(&self, sink: &mut impl Sink) {
        let flags = Flags::default()
            .with_dup(self.dup)
            .with_qos(self.qos)
            .with_retain(self.retain)
            .with_topic_id_type(self.topic.topic_id_type());
        sink.u8(flags.0);
        sink.u16(self.topic.field());
        sink.u16(self.msg_id.map_or(0, MsgId::get));
        sink.raw(self.payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{answered, both_ways, decoded, not_representable, refused};
    use crate::{QoS, ShortTopic, TopicId};

    const QOS_0: PublishQoS = PublishQoS::Level(QoS::AtMostOnce);
    const QOS_1: PublishQoS = PublishQoS::Level(QoS::AtLeastOnce);
    const QOS_2: PublishQoS = PublishQoS::Level(QoS::ExactlyOnce);

    fn publish() -> Publish<'static> {
        let topic = PublishTopic::Registered(TopicId::new(0x0102).unwrap());
        Publish { dup: false, qos: QOS_0, retain: false, topic, msg_id: None, payload: b"23" }
    }

    fn short() -> PublishTopic {
        PublishTopic::Short(ShortTopic::new("ab").unwrap())
    }

    #[test]
    fn section_5_4_12_publish_of_qos_0() {
        both_ways("09 0C 00 0102 0000 '23'", Message::Publish(publish()));
        both_ways("07 0C 10 0102 0000", Message::Publish(Publish { retain: true, payload: b"", ..publish() }));
        assert_eq!(refused("06 0C 00 0102 00").reason, Reason::CutShort);
        let same = Message::Publish(publish());
        assert_eq!(decoded("09 0C 8C 0102 0007 '23'"), same, "what is not relevant is not looked at");
    }

    #[test]
    fn section_5_4_12_publish_of_qos_1_and_2() {
        let msg_id = MsgId::new(7);
        both_ways("09 0C 20 0102 0007 '23'", Message::Publish(Publish { qos: QOS_1, msg_id, ..publish() }));
        both_ways("09 0C C0 0102 0007 '23'", Message::Publish(Publish { qos: QOS_2, dup: true, msg_id, ..publish() }));
        for flags in ["20", "40"] {
            let error = refused(&format!("09 0C {flags} 0102 0000 '23'"));
            assert_eq!((error.reason, error.at, error.answer), (Reason::Malformed, 5, None));
        }
    }

    #[test]
    fn section_6_8_publish_of_qos_minus_1() {
        let minus = Publish { qos: PublishQoS::MinusOne, topic: short(), ..publish() };
        both_ways("09 0C 62 'ab' 0000 '23'", Message::Publish(minus));
        let topic = PublishTopic::Predefined(TopicId::MIN);
        both_ways("09 0C 61 0001 0000 '23'", Message::Publish(Publish { topic, ..minus }));
        for (hex, at) in [("60 0102", 3), ("61 0000", 3), ("62 'a+'", 3), ("63 0102", 2)] {
            let error = refused(&format!("07 0C {hex} 0000"));
            assert_eq!((error.at, error.answer), (at, None), "nobody hears an answer to {hex}");
        }
        not_representable(Message::Publish(Publish { topic: publish().topic, ..minus }));
    }

    #[test]
    fn section_6_7_predefined_ids_and_short_names() {
        both_ways("09 0C 02 'ab' 0000 '23'", Message::Publish(Publish { topic: short(), ..publish() }));
        let topic = PublishTopic::Predefined(TopicId::MAX);
        both_ways("09 0C 01 FFFE 0000 '23'", Message::Publish(Publish { topic, ..publish() }));
        assert_eq!(answered("09 0C 22 'a#' 0007 '23'"), (3, vec![7, 0x0D, b'a', b'#', 0, 7, 0x02]));
    }

    #[test]
    fn section_5_3_11_a_reserved_topic_id_is_invalid() {
        for flags in [0x00, 0x01] {
            for id in [0x00, 0xFF] {
                let hex = format!("09 0C {flags:02X} {id:02X}{id:02X} 0000 '23'");
                assert_eq!(answered(&hex), (3, vec![7, 0x0D, id, id, 0, 0, 0x02]), "{hex}");
            }
        }
    }

    #[test]
    fn section_5_3_4_a_reserved_type_of_topic_id_is_not_supported() {
        assert_eq!(answered("09 0C 23 0102 0007 '23'"), (2, vec![7, 0x0D, 1, 2, 0, 7, 0x03]));
    }

    #[test]
    fn section_5_4_12_qos_dup_and_message_id_go_together() {
        let msg_id = MsgId::new(7);
        not_representable(Message::Publish(Publish { msg_id, ..publish() }));
        not_representable(Message::Publish(Publish { qos: QOS_1, ..publish() }));
        not_representable(Message::Publish(Publish { dup: true, ..publish() }));
    }
}
