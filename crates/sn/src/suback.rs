//! SUBACK (5.4.16).

use crate::flags::Flags;
use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, MsgId, PublishQoS, QoS, ReturnCode, TopicId};

/// A SUBACK message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubAck {
    /// The quality of service that is granted.
    pub qos: QoS,
    /// The id that the topic's messages will have; `None` when it says nothing: a refusal, wildcards, a short name.
    pub topic_id: Option<TopicId>,
    /// What is answered.
    pub msg_id: MsgId,
    /// What became of it.
    pub code: ReturnCode,
}

impl SubAck {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, DecodeError> {
        let flags_at = reader.at();
        let qos = Flags(reader.u8()?).qos(flags_at)?;
        let id_at = reader.at();
        let topic_id = TopicId::optional(reader.u16()?, id_at)?;
        let ack = SubAck { qos, topic_id, msg_id: reader.packet_id()?, code: reader.u8().map(ReturnCode::from_u8)? };
        reader.finish()?;
        Ok(ack)
    }
}

impl Body for SubAck {
    fn write(&self, sink: &mut impl Sink) {
        sink.u8(Flags::default().with_qos(PublishQoS::Level(self.qos)).0);
        sink.u16(TopicId::wire(self.topic_id));
        sink.u16(self.msg_id.get());
        sink.u8(self.code.value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{both_ways, refused};
    use crate::{Message, Reason};

    const ACK: SubAck =
        SubAck { qos: QoS::ExactlyOnce, topic_id: Some(TopicId::MIN), msg_id: MsgId::MIN, code: ReturnCode::ACCEPTED };

    #[test]
    fn section_5_4_16_suback() {
        both_ways("08 13 40 0001 0001 00", Message::SubAck(ACK));
        both_ways("08 13 40 0000 0001 00", Message::SubAck(SubAck { topic_id: None, ..ACK }));
        assert_eq!(refused("07 13 40 0001 0001").reason, Reason::CutShort);
        assert_eq!(refused("09 13 40 0001 0001 00 00").reason, Reason::TrailingBytes);
    }

    #[test]
    fn section_5_4_16_suback_refuses() {
        for code in [ReturnCode::CONGESTION, ReturnCode::INVALID_TOPIC_ID, ReturnCode::NOT_SUPPORTED] {
            let refusal = SubAck { qos: QoS::AtMostOnce, topic_id: None, code, ..ACK };
            both_ways(&format!("08 13 00 0000 0001 {:02X}", code.value()), Message::SubAck(refusal));
        }
    }

    #[test]
    fn section_5_4_16_what_a_suback_cannot_say() {
        for (hex, reason, at) in [
            ("08 13 60 0001 0001 00", Reason::NotSupported, 2),
            ("08 13 40 FFFF 0001 00", Reason::InvalidTopicId, 3),
            ("08 13 40 0001 0000 00", Reason::Malformed, 5),
        ] {
            let error = refused(hex);
            assert_eq!((error.reason, error.at, error.answer), (reason, at, None), "{hex}");
        }
    }
}
