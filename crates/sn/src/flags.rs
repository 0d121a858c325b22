//! The Flags field (5.3.4): one byte, of which each message uses a part.

use crate::{DecodeError, PublishQoS, QoS, Reason};

const DUP: u8 = 0b1000_0000;
const QOS: u8 = 0b0110_0000;
const QOS_SHIFT: u32 = 5;
const RETAIN: u8 = 0b0001_0000;
const WILL: u8 = 0b0000_1000;
const CLEAN_SESSION: u8 = 0b0000_0100;
const TOPIC_ID_TYPE: u8 = 0b0000_0011;

/// The byte; what a message does not use in it is not looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(pub(crate) u8);

/// What stands in the topic field.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TopicIdType {
    /// A registered topic id; in SUBSCRIBE and UNSUBSCRIBE the topic name itself.
    Normal = 0b00,
    Predefined = 0b01,
    Short = 0b10,
}

impl Flags {
    pub(crate) const fn dup(self) -> bool {
        self.0 & DUP != 0
    }

    pub(crate) const fn retain(self) -> bool {
        self.0 & RETAIN != 0
    }

    pub(crate) const fn will(self) -> bool {
        self.0 & WILL != 0
    }

    pub(crate) const fn clean_session(self) -> bool {
        self.0 & CLEAN_SESSION != 0
    }

    pub(crate) const fn publish_qos(self) -> PublishQoS {
        match QoS::from_u8((self.0 & QOS) >> QOS_SHIFT) {
            Some(qos) => PublishQoS::Level(qos),
            None => PublishQoS::MinusOne,
        }
    }

    /// The QoS of a message other than PUBLISH, where there is no -1. The flags stand at `at`.
    pub(crate) fn qos(self, at: usize) -> Result<QoS, DecodeError> {
        match self.publish_qos() {
            PublishQoS::Level(qos) => Ok(qos),
            PublishQoS::MinusOne => {
                Err(DecodeError::new(Reason::NotSupported, "a QoS of -1 in another message than PUBLISH", at))
            }
        }
    }

    /// The flags stand at `at`.
    pub(crate) fn topic_id_type(self, at: usize) -> Result<TopicIdType, DecodeError> {
        match self.0 & TOPIC_ID_TYPE {
            0b00 => Ok(TopicIdType::Normal),
            0b01 => Ok(TopicIdType::Predefined),
            0b10 => Ok(TopicIdType::Short),
            _ => Err(DecodeError::new(Reason::NotSupported, "a type of topic id that is reserved", at)),
        }
    }

    pub(crate) const fn with_dup(self, dup: bool) -> Self {
        if dup { Flags(self.0 | DUP) } else { self }
    }

    pub(crate) const fn with_qos(self, qos: PublishQoS) -> Self {
        let bits = match qos {
            PublishQoS::Level(qos) => qos as u8,
            PublishQoS::MinusOne => 0b11,
        };
        Flags(self.0 | bits << QOS_SHIFT)
    }

    pub(crate) const fn with_retain(self, retain: bool) -> Self {
        if retain { Flags(self.0 | RETAIN) } else { self }
    }

    pub(crate) const fn with_will(self, will: bool) -> Self {
        if will { Flags(self.0 | WILL) } else { self }
    }

    pub(crate) const fn with_clean_session(self, clean: bool) -> Self {
        if clean { Flags(self.0 | CLEAN_SESSION) } else { self }
    }

    pub(crate) const fn with_topic_id_type(self, kind: TopicIdType) -> Self {
        Flags(self.0 | kind as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_5_3_4_each_flag_has_its_bit() {
        assert!(Flags(0x80).dup() && !Flags(0x7F).dup());
        assert!(Flags(0x10).retain() && !Flags(0xEF).retain());
        assert!(Flags(0x08).will() && !Flags(0xF7).will());
        assert!(Flags(0x04).clean_session() && !Flags(0xFB).clean_session());
        let all = Flags::default().with_dup(true).with_retain(true).with_will(true).with_clean_session(true);
        assert_eq!(all, Flags(0x9C));
        let none = Flags::default().with_dup(false).with_retain(false).with_will(false).with_clean_session(false);
        assert_eq!(none, Flags(0));
    }

    #[test]
    fn section_5_3_4_qos_has_four_values() {
        for (bits, qos) in [(0x00, QoS::AtMostOnce), (0x20, QoS::AtLeastOnce), (0x40, QoS::ExactlyOnce)] {
            let level = PublishQoS::Level(qos);
            assert_eq!((Flags(bits | 0x9F).publish_qos(), Flags(bits).qos(2)), (level, Ok(qos)));
            assert_eq!(Flags::default().with_qos(level), Flags(bits));
        }
        assert_eq!(Flags(0x60).publish_qos(), PublishQoS::MinusOne);
        assert_eq!(Flags::default().with_qos(PublishQoS::MinusOne), Flags(0x60));
        assert_eq!(Flags(0x60).qos(2).map_err(|error| (error.reason, error.at)), Err((Reason::NotSupported, 2)));
    }

    #[test]
    fn section_5_3_4_topic_id_type_has_three_values_and_a_reserved_one() {
        for kind in [TopicIdType::Normal, TopicIdType::Predefined, TopicIdType::Short] {
            assert_eq!(Flags(kind as u8 | 0xFC).topic_id_type(2), Ok(kind));
            assert_eq!(Flags::default().with_topic_id_type(kind), Flags(kind as u8));
        }
        let error = Flags(0b11).topic_id_type(2).unwrap_err();
        assert_eq!((error.reason, error.at), (Reason::NotSupported, 2));
    }
}
