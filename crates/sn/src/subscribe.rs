//! SUBSCRIBE (5.4.15): one topic filter, topic name, predefined id or short name.

use crate::flags::Flags;
use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, EncodeError, Limits, Message, MsgId, PublishQoS, QoS, SubAck, SubscribeTopic};

/// A SUBSCRIBE message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribe<'a> {
    /// Sent before, perhaps.
    pub dup: bool,
    /// The quality of service that is asked for.
    pub qos: QoS,
    /// What SUBACK repeats.
    pub msg_id: MsgId,
    /// What it is about.
    pub topic: SubscribeTopic<'a>,
}

impl<'a> Subscribe<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let flags_at = reader.at();
        let flags = Flags(reader.u8()?);
        let msg_id = reader.packet_id()?;
        Subscribe::decode_rest(reader, flags, flags_at, msg_id, limits).map_err(|error| {
            error.answered(|code| Message::SubAck(SubAck { qos: QoS::AtMostOnce, topic_id: None, msg_id, code }))
        })
    }

    fn decode_rest(
        mut reader: Reader<'a>,
        flags: Flags,
        flags_at: usize,
        msg_id: MsgId,
        limits: &Limits,
    ) -> Result<Self, DecodeError> {
        let qos = flags.qos(flags_at)?;
        let topic = SubscribeTopic::decode(&mut reader, flags, flags_at, limits)?;
        Ok(Subscribe { dup: flags.dup(), qos, msg_id, topic })
    }
}

impl Body for Subscribe<'_> {
    fn check(&self) -> Result<(), EncodeError> {
        self.topic.check()
    }

    fn write(&self, sink: &mut impl Sink) {
        let flags = Flags::default().with_dup(self.dup).with_qos(PublishQoS::Level(self.qos));
        sink.u8(flags.with_topic_id_type(self.topic.topic_id_type()).0);
        sink.u16(self.msg_id.get());
        self.topic.write(sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{answered, both_ways, decoded, not_representable, refused};
    use crate::{Reason, ShortTopic, TopicId};

    const SUBSCRIBE: Subscribe<'_> =
        Subscribe { dup: false, qos: QoS::AtLeastOnce, msg_id: MsgId::MIN, topic: SubscribeTopic::Filter("a/b") };

    #[test]
    fn section_5_4_15_subscribe_by_name() {
        both_ways("08 12 20 0001 'a/b'", Message::Subscribe(SUBSCRIBE));
        both_ways("08 12 A0 0001 'a/b'", Message::Subscribe(Subscribe { dup: true, ..SUBSCRIBE }));
        assert_eq!(decoded("08 12 3C 0001 'a/b'"), Message::Subscribe(SUBSCRIBE), "the others are not used");
        not_representable(Message::Subscribe(Subscribe { topic: SubscribeTopic::Filter(""), ..SUBSCRIBE }));
        assert_eq!(refused("04 12 20 00").reason, Reason::CutShort);
    }

    #[test]
    fn section_6_9_subscribe_with_wildcards() {
        for filter in ["a/+", "a/#", "+/b", "$share/g/a/+"] {
            let topic = SubscribeTopic::Filter(filter);
            both_ways(
                &format!("{:02X} 12 20 0001 '{filter}'", 5 + filter.len()),
                Message::Subscribe(Subscribe { topic, ..SUBSCRIBE }),
            );
        }
        for filter in ["a/b+", "#/b", "a/##", "$share/g"] {
            let (at, answer) = answered(&format!("{:02X} 12 20 0001 '{filter}'", 5 + filter.len()));
            assert_eq!((at, answer), (5, vec![8, 0x13, 0, 0, 0, 0, 1, 0x03]), "{filter}");
        }
    }

    #[test]
    fn section_5_4_15_subscribe_by_predefined_id() {
        let topic = SubscribeTopic::Predefined(TopicId::new(0x0102).unwrap());
        both_ways("07 12 21 0001 0102", Message::Subscribe(Subscribe { topic, ..SUBSCRIBE }));
        for id in ["0000", "FFFF"] {
            let (at, answer) = answered(&format!("07 12 21 0001 {id}"));
            assert_eq!((at, answer), (5, vec![8, 0x13, 0, 0, 0, 0, 1, 0x02]));
        }
        assert_eq!(refused("06 12 21 0001 01").reason, Reason::CutShort);
        assert_eq!(refused("08 12 21 0001 0102 00").reason, Reason::TrailingBytes);
    }

    #[test]
    fn section_5_4_15_subscribe_by_short_name() {
        let topic = SubscribeTopic::Short(ShortTopic::new("ab").unwrap());
        both_ways("07 12 22 0001 'ab'", Message::Subscribe(Subscribe { topic, ..SUBSCRIBE }));
        assert_eq!(refused("06 12 22 0001 'a'").reason, Reason::CutShort);
        assert_eq!(refused("08 12 22 0001 'abc'").reason, Reason::TrailingBytes);
        assert_eq!(refused("07 12 22 0001 'a#'").reason, Reason::InvalidTopicId);
    }

    #[test]
    fn section_5_3_4_what_is_reserved_is_not_supported() {
        for flags in ["23", "60", "63"] {
            let (at, answer) = answered(&format!("08 12 {flags} 0001 'a/b'"));
            assert_eq!((at, answer), (2, vec![8, 0x13, 0, 0, 0, 0, 1, 0x03]), "{flags}");
        }
    }
}
