//! What a PUBLISH says of its topic.

use crate::flags::{Flags, TopicIdType};
use crate::{DecodeError, Reason, ShortTopic, TopicId};

/// The topic of a PUBLISH: its TopicIdType and its TopicId field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublishTopic {
    /// The id that both sides registered for a topic name.
    Registered(TopicId),
    /// An id that both sides know beforehand (6.7).
    Predefined(TopicId),
    /// The topic name itself.
    Short(ShortTopic),
}

impl PublishTopic {
    /// The flags stand at `flags_at`, `field` at `field_at`.
    pub(crate) fn decode(flags: Flags, flags_at: usize, field: u16, field_at: usize) -> Result<Self, DecodeError> {
        Ok(match flags.topic_id_type(flags_at)? {
            TopicIdType::Normal => PublishTopic::Registered(TopicId::required(field, field_at)?),
            TopicIdType::Predefined => PublishTopic::Predefined(TopicId::required(field, field_at)?),
            TopicIdType::Short => PublishTopic::Short(
                ShortTopic::from_bytes(field.to_be_bytes())
                    .map_err(|what| DecodeError::new(Reason::InvalidTopicId, what, field_at))?,
            ),
        })
    }

    pub(crate) const fn topic_id_type(self) -> TopicIdType {
        match self {
            PublishTopic::Registered(_) => TopicIdType::Normal,
            PublishTopic::Predefined(_) => TopicIdType::Predefined,
            PublishTopic::Short(_) => TopicIdType::Short,
        }
    }

    /// The TopicId field on the wire, which PUBACK repeats.
    pub const fn field(self) -> u16 {
        match self {
            PublishTopic::Registered(id) | PublishTopic::Predefined(id) => id.get(),
            PublishTopic::Short(topic) => u16::from_be_bytes(topic.bytes()),
        }
    }
}
