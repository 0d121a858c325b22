//! REGISTER (5.4.10): a topic id for a topic name, asked for by a client or told by a gateway.

use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, EncodeError, Limits, Message, MsgId, ReturnCode, TopicAck, TopicId, text};

/// A REGISTER message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register<'a> {
    /// The id that the gateway has for the topic; `None` from a client, which asks for it. What a client says here counts
    /// for nothing.
    pub topic_id: Option<TopicId>,
    /// What REGACK repeats.
    pub msg_id: MsgId,
    /// The topic name, without wildcards.
    pub topic: &'a str,
}

impl<'a> Register<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let id_at = reader.at();
        let id = reader.u16()?;
        let msg_id = reader.packet_id()?;
        Register::decode_rest(reader, id, id_at, msg_id, limits).map_err(|error| {
            error.answered(|code: ReturnCode| Message::RegAck(TopicAck { topic: id, msg_id: Some(msg_id), code }))
        })
    }

    fn decode_rest(
        mut reader: Reader<'a>,
        id: u16,
        id_at: usize,
        msg_id: MsgId,
        limits: &Limits,
    ) -> Result<Self, DecodeError> {
        let topic_id = TopicId::optional(id, id_at)?;
        Ok(Register { topic_id, msg_id, topic: text::topic_name(&mut reader, limits)? })
    }
}

impl Body for Register<'_> {
    fn check(&self) -> Result<(), EncodeError> {
        if self.topic.is_empty() {
            return Err(EncodeError::NotRepresentable("an empty topic name"));
        }
        Ok(())
    }

    fn write(&self, sink: &mut impl Sink) {
        sink.u16(TopicId::wire(self.topic_id));
        sink.u16(self.msg_id.get());
        sink.raw(self.topic.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;
    use crate::check::{answered, both_ways, not_representable, refused};

    const REGISTER: Register<'_> = Register { topic_id: None, msg_id: MsgId::MIN, topic: "a/b" };

    #[test]
    fn section_5_4_10_register_of_a_client() {
        both_ways("09 0A 0000 0001 'a/b'", Message::Register(REGISTER));
        not_representable(Message::Register(Register { topic: "", ..REGISTER }));
        assert_eq!(refused("05 0A 0000 00").reason, Reason::CutShort);
    }

    #[test]
    fn section_5_4_10_register_of_a_gateway() {
        both_ways("09 0A 0102 0001 'a/b'", Message::Register(Register { topic_id: TopicId::new(0x0102), ..REGISTER }));
    }

    #[test]
    fn section_5_3_7_a_request_has_a_message_id() {
        let error = refused("09 0A 0000 0000 'a/b'");
        assert_eq!((error.reason, error.at, error.answer), (Reason::Malformed, 4, None));
    }

    #[test]
    fn section_6_5_wildcards_cannot_be_registered() {
        for topic in ["a/+", "a/#", "+/b", "###"] {
            let (at, answer) = answered(&format!("09 0A 0000 0001 '{topic}'"));
            assert_eq!((at, answer), (6, vec![7, 0x0B, 0, 0, 0, 1, 0x03]), "{topic}");
        }
    }

    #[test]
    fn section_5_3_11_a_reserved_topic_id_is_invalid() {
        assert_eq!(answered("09 0A FFFF 0001 'a/b'"), (2, vec![7, 0x0B, 0xFF, 0xFF, 0, 1, 0x02]));
    }
}
