//! WILLTOPIC (5.4.7) and WILLTOPICUPD (5.4.22): where a client's will is published; empty, there is none any more.

use crate::flags::Flags;
use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, EncodeError, Limits, PublishQoS, QoS, text};

/// A WILLTOPIC or WILLTOPICUPD message that is not empty; which one says the [`crate::Message`] around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WillTopic<'a> {
    /// The will's quality of service.
    pub qos: QoS,
    /// Whether the will is retained.
    pub retain: bool,
    /// The will's topic name.
    pub topic: &'a str,
}

impl<'a> WillTopic<'a> {
    /// `None` for the empty message, which is a header and nothing else.
    pub(crate) fn decode(mut reader: Reader<'a>, limits: &Limits) -> Result<Option<Self>, DecodeError> {
        if reader.is_empty() {
            return Ok(None);
        }
        let flags_at = reader.at();
        let flags = Flags(reader.u8()?);
        let qos = flags.qos(flags_at)?;
        let topic = text::topic_name(&mut reader, limits)?;
        Ok(Some(WillTopic { qos, retain: flags.retain(), topic }))
    }
}

impl Body for Option<WillTopic<'_>> {
    fn check(&self) -> Result<(), EncodeError> {
        if self.is_some_and(|will| will.topic.is_empty()) {
            return Err(EncodeError::NotRepresentable("an empty will topic"));
        }
        Ok(())
    }

    fn write(&self, sink: &mut impl Sink) {
        if let Some(will) = self {
            sink.u8(Flags::default().with_qos(PublishQoS::Level(will.qos)).with_retain(will.retain).0);
            sink.raw(will.topic.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{answered, both_ways, decoded, not_representable, refused};
    use crate::{Message, Reason};

    const WILL: WillTopic<'_> = WillTopic { qos: QoS::AtLeastOnce, retain: true, topic: "w/t" };

    fn check(kind: u8, message: fn(Option<WillTopic<'static>>) -> Message<'static>) {
        both_ways(&format!("06 {kind:02X} 30 'w/t'"), message(Some(WILL)));
        let plain = WillTopic { qos: QoS::AtMostOnce, retain: false, ..WILL };
        both_ways(&format!("06 {kind:02X} 00 'w/t'"), message(Some(plain)));
        both_ways(&format!("02 {kind:02X}"), message(None));
        assert_eq!(decoded(&format!("06 {kind:02X} BF 'w/t'")), message(Some(WILL)), "the others are not used");
        let error = refused(&format!("06 {kind:02X} 60 'w/t'"));
        assert_eq!((error.reason, error.at), (Reason::NotSupported, 2), "there is no will of QoS -1");
        not_representable(message(Some(WillTopic { topic: "", ..WILL })));
    }

    #[test]
    fn section_5_4_7_willtopic() {
        check(0x07, Message::WillTopic);
    }

    #[test]
    fn section_5_4_22_willtopicupd() {
        check(0x1A, Message::WillTopicUpd);
    }

    /// Is an update that cannot be answered, as it has a message to be answered by?
    #[test]
    fn section_5_4_24_a_wrong_update_is_answered() {
        assert_eq!(answered("04 1A 00 '#'"), (3, vec![3, 0x1B, 0x03]));
        assert_eq!(answered("06 1A 60 'w/t'"), (2, vec![3, 0x1B, 0x03]));
        assert!(!refused("04 1A 00 '#'").ends_setup);
    }

    /// 6.2: does a will that cannot be refuse the CONNECT that it was asked for by?
    #[test]
    fn section_6_2_a_wrong_will_refuses_its_connect() {
        for hex in ["04 07 00 '#'", "06 07 60 'w/t'", "03 07 00", "04 07 00 FF"] {
            assert_eq!(answered(hex).1, [3, 0x05, 0x03], "{hex}");
            assert!(refused(hex).ends_setup, "{hex}");
        }
    }
}
