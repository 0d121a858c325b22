//! What a SUBSCRIBE or UNSUBSCRIBE is about.

use crate::flags::{Flags, TopicIdType};
use crate::read::Reader;
use crate::write::Sink;
use crate::{DecodeError, EncodeError, Limits, Reason, ShortTopic, TopicId, text};

/// The topic of a SUBSCRIBE or UNSUBSCRIBE: its TopicIdType and its last field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubscribeTopic<'a> {
    /// A topic filter; without wildcards a topic name, for which the gateway names an id.
    Filter(&'a str),
    /// An id that both sides know beforehand (6.7).
    Predefined(TopicId),
    /// A topic name of two bytes, which needs no id.
    Short(ShortTopic),
}

impl<'a> SubscribeTopic<'a> {
    /// Reads the last field; the flags stand at `flags_at`.
    pub(crate) fn decode(
        reader: &mut Reader<'a>,
        flags: Flags,
        flags_at: usize,
        limits: &Limits,
    ) -> Result<Self, DecodeError> {
        let topic = match flags.topic_id_type(flags_at)? {
            TopicIdType::Normal => SubscribeTopic::Filter(text::topic_filter(reader, limits)?),
            TopicIdType::Predefined => {
                let at = reader.at();
                SubscribeTopic::Predefined(TopicId::required(reader.u16()?, at)?)
            }
            TopicIdType::Short => {
                let at = reader.at();
                let field = reader.u16()?.to_be_bytes();
                let error = |what| DecodeError::new(Reason::InvalidTopicId, what, at);
                SubscribeTopic::Short(ShortTopic::from_bytes(field).map_err(error)?)
            }
        };
        reader.finish()?;
        Ok(topic)
    }

    pub(crate) fn check(self) -> Result<(), EncodeError> {
        if self == SubscribeTopic::Filter("") {
            return Err(EncodeError::NotRepresentable("an empty topic filter"));
        }
        Ok(())
    }

    pub(crate) const fn topic_id_type(self) -> TopicIdType {
        match self {
            SubscribeTopic::Filter(_) => TopicIdType::Normal,
            SubscribeTopic::Predefined(_) => TopicIdType::Predefined,
            SubscribeTopic::Short(_) => TopicIdType::Short,
        }
    }

    pub(crate) fn write(self, sink: &mut impl Sink) {
        match self {
            SubscribeTopic::Filter(filter) => sink.raw(filter.as_bytes()),
            SubscribeTopic::Predefined(id) => sink.u16(id.get()),
            SubscribeTopic::Short(topic) => sink.raw(&topic.bytes()),
        }
    }
}
