//! The name of a topic, wherever it came from.

use crate::{PublishTopic, ShortTopic};

use super::{Predefined, Registrations};

/// A topic name or filter: in the message, in a table, or the two bytes of a short one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic<'a> {
    /// As text.
    Name(&'a str),
    /// In its two bytes.
    Short(ShortTopic),
}

impl Topic<'_> {
    /// The name.
    pub fn as_str(&self) -> &str {
        match self {
            Topic::Name(name) => name,
            Topic::Short(short) => short.as_str(),
        }
    }
}

/// The topic that a client means; `None`: it means none, 0x02 says so.
pub(super) fn meant<'a>(
    topic: PublishTopic,
    client_id: &str,
    registrations: &'a Registrations,
    predefined: &'a Predefined,
) -> Option<Topic<'a>> {
    match topic {
        PublishTopic::Registered(id) => registrations.topic(id).map(Topic::Name),
        PublishTopic::Predefined(id) => predefined.topic(client_id, id).map(Topic::Name),
        PublishTopic::Short(short) => Some(Topic::Short(short)),
    }
}
