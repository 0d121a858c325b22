//! What a message says, as a number: by which a copy is told from another message of the same id.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{Publish, QoS, SubscribeTopic};

/// What a copy has in common with its message, as a number: a client may have one message id for all that it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content(u32);

impl Content {
    /// All but DUP.
    pub(super) fn of_publish(publish: &Publish<'_>) -> Self {
        Content::of(&(publish.retain, publish.topic, publish.payload))
    }

    /// All but DUP.
    pub(super) fn of_subscribe(topic: SubscribeTopic<'_>, qos: QoS) -> Self {
        Content::of(&(topic, qos as u8))
    }

    fn of(said: &impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        said.hash(&mut hasher);
        Content(hasher.finish() as u32)
    }
}
