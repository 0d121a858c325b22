//! What clients do, as messages.

use serde::{Deserialize, Serialize};

use crate::error::NodeError;

/// Which events the node publishes on `$lapwing/events/...`, and how many may wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventsConfig {
    /// That clients connect, disconnect, subscribe and unsubscribe.
    pub clients: bool,
    /// Each message that they publish.
    pub published: bool,
    /// Who was refused, and what clients wanted to do and may not; at most `limits.notices_per_minute` of a shard.
    pub refused: bool,
    /// Events that may wait to be published, over all shards; what comes then is dropped and counted.
    pub queue: u32,
    /// Their bytes.
    pub queue_bytes: u64,
}

impl Default for EventsConfig {
    fn default() -> Self {
        EventsConfig { clients: false, published: false, refused: false, queue: 100_000, queue_bytes: 32 << 20 }
    }
}

impl EventsConfig {
    pub(super) fn check(&self) -> Result<(), NodeError> {
        let positive = [("events.queue", u64::from(self.queue)), ("events.queue_bytes", self.queue_bytes)];
        match positive.into_iter().find(|(_, value)| *value == 0) {
            Some((key, _)) => Err(NodeError::config(key, "is 0".to_owned(), "Set it to 1 or more.")),
            None => Ok(()),
        }
    }
}
