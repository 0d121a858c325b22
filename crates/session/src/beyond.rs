//! What a message has too much of: it is refused alone.
//!
//! A client that is cut off for one message comes back with the same message, in 3.1.1 for ever; so it is told in the
//! acknowledgement, and stays. The codec ends connections only for what is no MQTT, or cannot be read.

use lapwing_codec::{Publish, ReasonCode};

use crate::Settings;

/// A bound of one message, and what this one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Its topic has so many bytes, more than [`Settings::topic_bytes_max`].
    TopicBytes(usize),
    /// Its topic has so many levels, more than [`Settings::topic_levels_max`].
    TopicLevels(usize),
    /// It has so many user properties, more than [`Settings::user_properties_max`].
    UserProperties(usize),
    /// Its topic alias was given to a topic that was refused.
    Alias,
    /// Its packet has so many bytes, more than any may have: the payload was not read.
    PacketBytes(usize),
}

impl Beyond {
    /// What `publish` is beyond, if anything. An empty topic stands for an alias, and is judged when that is known.
    #[inline]
    pub(crate) fn of(publish: &Publish<'_>, settings: &Settings) -> Option<Self> {
        let (topic, bytes_max) = (publish.topic, usize::from(settings.topic_bytes_max));
        let has_few = publish.properties.user.len() <= usize::from(settings.user_properties_max);
        // A topic has no more separators than bytes: those of few bytes, most of them, need not be looked through.
        let is_plain = topic.len() <= bytes_max && topic.len() < usize::from(settings.topic_levels_max);
        if is_plain && has_few { None } else { Self::found(publish, settings) }
    }

    #[cold]
    fn found(publish: &Publish<'_>, settings: &Settings) -> Option<Self> {
        let (topic, user) = (publish.topic, publish.properties.user.len());
        let levels = topic.bytes().filter(|byte| *byte == b'/').count() + 1;
        if topic.len() > usize::from(settings.topic_bytes_max) {
            Some(Beyond::TopicBytes(topic.len()))
        } else if levels > usize::from(settings.topic_levels_max) {
            Some(Beyond::TopicLevels(levels))
        } else if user > usize::from(settings.user_properties_max) {
            Some(Beyond::UserProperties(user))
        } else {
            None
        }
    }

    /// Whether it is the topic that cannot be.
    pub(crate) const fn is_of_topic(self) -> bool {
        !matches!(self, Beyond::UserProperties(_) | Beyond::PacketBytes(_))
    }

    /// The code of the acknowledgement. Not 0x97 for user properties: that says that there is no room now, and whoever hears it
    /// tries again, as our own bridge does.
    pub const fn reason(self) -> ReasonCode {
        match self {
            Beyond::TopicBytes(_) | Beyond::TopicLevels(_) | Beyond::Alias => ReasonCode::TopicNameInvalid,
            Beyond::UserProperties(_) => ReasonCode::ImplementationSpecificError,
            Beyond::PacketBytes(_) => ReasonCode::PacketTooLarge,
        }
    }
}
