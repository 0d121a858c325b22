//! UNSUBSCRIBE (5.4.17): the shape of SUBSCRIBE, without DUP and QoS.

use crate::flags::Flags;
use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, EncodeError, Limits, MsgId, SubscribeTopic};

/// An UNSUBSCRIBE message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsubscribe<'a> {
    /// What UNSUBACK repeats.
    pub msg_id: MsgId,
    /// What it is about.
    pub topic: SubscribeTopic<'a>,
}

impl<'a> Unsubscribe<'a> {
    /// A wrong one is not answered: UNSUBACK has no code to refuse it with.
    pub(crate) fn decode(mut reader: Reader<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let flags_at = reader.at();
        let flags = Flags(reader.u8()?);
        let msg_id = reader.packet_id()?;
        Ok(Unsubscribe { msg_id, topic: SubscribeTopic::decode(&mut reader, flags, flags_at, limits)? })
    }
}

impl Body for Unsubscribe<'_> {
    fn check(&self) -> Result<(), EncodeError> {
        self.topic.check()
    }

    fn write(&self, sink: &mut impl Sink) {
        sink.u8(Flags::default().with_topic_id_type(self.topic.topic_id_type()).0);
        sink.u16(self.msg_id.get());
        self.topic.write(sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{both_ways, decoded, not_representable, refused};
    use crate::{Message, Reason, ShortTopic, TopicId};

    fn unsubscribe(topic: SubscribeTopic<'static>) -> Message<'static> {
        Message::Unsubscribe(Unsubscribe { msg_id: MsgId::MIN, topic })
    }

    #[test]
    fn section_5_4_17_unsubscribe_by_name() {
        both_ways("08 14 00 0001 'a/#'", unsubscribe(SubscribeTopic::Filter("a/#")));
        assert_eq!(decoded("08 14 FC 0001 'a/#'"), unsubscribe(SubscribeTopic::Filter("a/#")), "not used");
        not_representable(unsubscribe(SubscribeTopic::Filter("")));
    }

    #[test]
    fn section_5_4_17_unsubscribe_by_predefined_id() {
        both_ways("07 14 01 0001 0007", unsubscribe(SubscribeTopic::Predefined(TopicId::new(7).unwrap())));
    }

    #[test]
    fn section_5_4_17_unsubscribe_by_short_name() {
        both_ways("07 14 02 0001 'ab'", unsubscribe(SubscribeTopic::Short(ShortTopic::new("ab").unwrap())));
    }

    #[test]
    fn section_5_4_17_a_wrong_one_is_not_answered() {
        for (hex, reason, at) in [
            ("08 14 00 0000 'a/b'", Reason::Malformed, 3),
            ("08 14 03 0001 'a/b'", Reason::NotSupported, 2),
            ("08 14 00 0001 'a#b'", Reason::NotSupported, 5),
            ("07 14 01 0001 0000", Reason::InvalidTopicId, 5),
            ("07 14 02 0001 '+/'", Reason::InvalidTopicId, 5),
            ("04 14 00 00", Reason::CutShort, 4),
        ] {
            let error = refused(hex);
            assert_eq!((error.reason, error.at, error.answer), (reason, at, None), "{hex}");
        }
    }
}
