//! REGACK (5.4.11) and PUBACK (5.4.13): two messages of one shape.

use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, EncodeError, MsgId, ReturnCode, TopicId};

/// A REGACK or PUBACK; which one says the [`crate::Message`] around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicAck {
    /// The TopicId field: the id that was given, or what stood in that field of the PUBLISH, a short name also.
    pub topic: u16,
    /// What is answered; `None` in the PUBACK that refuses a PUBLISH of QoS 0, which has none.
    pub msg_id: Option<MsgId>,
    /// What became of it.
    pub code: ReturnCode,
}

impl TopicAck {
    /// The field as an id; `None` when its value is reserved.
    pub const fn topic_id(&self) -> Option<TopicId> {
        TopicId::new(self.topic)
    }

    /// A REGACK always has a message id.
    pub(crate) fn decode_regack(reader: Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.at() + 2;
        TopicAck::decode(reader)?.with_id("a message id of zero", at)
    }

    /// A PUBACK without a message id answers a PUBLISH of QoS 0, and such a one is answered only when it is refused.
    pub(crate) fn decode_puback(reader: Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.at() + 2;
        let ack = TopicAck::decode(reader)?;
        if ack.code.is_accepted() { ack.with_id("a message id of zero that is accepted", at) } else { Ok(ack) }
    }

    fn decode(mut reader: Reader<'_>) -> Result<Self, DecodeError> {
        let ack = TopicAck {
            topic: reader.u16()?,
            msg_id: MsgId::new(reader.u16()?),
            code: reader.u8().map(ReturnCode::from_u8)?,
        };
        reader.finish()?;
        Ok(ack)
    }

    fn with_id(self, what: &'static str, at: usize) -> Result<Self, DecodeError> {
        if self.msg_id.is_some() { Ok(self) } else { Err(DecodeError::malformed(what, at)) }
    }

    /// What [`TopicAck::decode_regack`] refuses is not written.
    pub(crate) fn check_regack(&self) -> Result<(), EncodeError> {
        match self.msg_id {
            Some(_) => Ok(()),
            None => Err(EncodeError::NotRepresentable("a REGACK without a message id")),
        }
    }

    /// What [`TopicAck::decode_puback`] refuses is not written.
    pub(crate) fn check_puback(&self) -> Result<(), EncodeError> {
        match self.msg_id {
            None if self.code.is_accepted() => {
                Err(EncodeError::NotRepresentable("a PUBACK that accepts and has no message id"))
            }
            _ => Ok(()),
        }
    }
}

impl Body for TopicAck {
    fn write(&self, sink: &mut impl Sink) {
        sink.u16(self.topic);
        sink.u16(self.msg_id.map_or(0, MsgId::get));
        sink.u8(self.code.value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{both_ways, not_representable, refused};
    use crate::{Message, Reason, ShortTopic};

    const ACK: TopicAck = TopicAck { topic: 0x0102, msg_id: Some(MsgId::MIN), code: ReturnCode::ACCEPTED };

    fn check(kind: u8, message: fn(TopicAck) -> Message<'static>) {
        both_ways(&format!("07 {kind:02X} 0102 0001 00"), message(ACK));
        for code in [ReturnCode::CONGESTION, ReturnCode::INVALID_TOPIC_ID, ReturnCode::NOT_SUPPORTED] {
            let refusal = TopicAck { topic: 0, code, ..ACK };
            both_ways(&format!("07 {kind:02X} 0000 0001 {:02X}", code.value()), message(refusal));
            assert_eq!(refusal.topic_id(), None);
        }
        assert_eq!(refused(&format!("06 {kind:02X} 0102 0001")).reason, Reason::CutShort);
        assert_eq!(refused(&format!("08 {kind:02X} 0102 0001 00 00")).reason, Reason::TrailingBytes);
        let error = refused(&format!("07 {kind:02X} 0102 0000 00"));
        assert_eq!((error.reason, error.at), (Reason::Malformed, 4));
        not_representable(message(TopicAck { msg_id: None, ..ACK }));
    }

    #[test]
    fn section_5_4_11_regack() {
        check(0x0B, Message::RegAck);
        assert_eq!(refused("07 0B 0102 0000 01").reason, Reason::Malformed);
        not_representable(Message::RegAck(TopicAck { msg_id: None, code: ReturnCode::CONGESTION, ..ACK }));
        assert_eq!(ACK.topic_id(), TopicId::new(0x0102));
    }

    #[test]
    fn section_5_4_13_puback() {
        check(0x0D, Message::PubAck);
    }

    #[test]
    fn section_5_4_13_puback_refuses_a_publish_of_qos_0() {
        let refusal = TopicAck { msg_id: None, code: ReturnCode::INVALID_TOPIC_ID, ..ACK };
        both_ways("07 0D 0102 0000 02", Message::PubAck(refusal));
    }

    #[test]
    fn section_5_4_13_puback_repeats_a_short_name() {
        let topic = u16::from_be_bytes(ShortTopic::new("ab").unwrap().bytes());
        both_ways("07 0D 'ab' 0001 00", Message::PubAck(TopicAck { topic, ..ACK }));
    }
}
