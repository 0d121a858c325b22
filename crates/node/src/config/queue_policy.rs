//! What happens when a message does not fit into a session's queue, as it is written in a configuration.

use lapwing_session::QueuePolicy as SessionPolicy;
use serde::{Deserialize, Serialize};

/// The names outside; the session's own policy says what each does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueuePolicy {
    /// The messages that wait longest give way.
    #[default]
    DropOldest,
    /// The new message is dropped.
    DropNewest,
    /// It is refused to a 5.0 publisher with 0x97 (Quota exceeded), and delivered to nobody; that of another one is dropped.
    Refuse,
    /// The client is disconnected with 0x97 (Quota exceeded); while it is away the new message is dropped.
    Disconnect,
}

impl From<QueuePolicy> for SessionPolicy {
    fn from(policy: QueuePolicy) -> Self {
        match policy {
            QueuePolicy::DropOldest => SessionPolicy::DropOldest,
            QueuePolicy::DropNewest => SessionPolicy::DropNewest,
            QueuePolicy::Refuse => SessionPolicy::Refuse,
            QueuePolicy::Disconnect => SessionPolicy::Disconnect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are the names those of the documentation, and does each one mean itself?
    #[test]
    fn names_are_written_with_dashes() {
        for (name, policy) in [
            ("drop-oldest", SessionPolicy::DropOldest),
            ("drop-newest", SessionPolicy::DropNewest),
            ("refuse", SessionPolicy::Refuse),
            ("disconnect", SessionPolicy::Disconnect),
        ] {
            let read: QueuePolicy = serde_json::from_str(&format!("\"{name}\"")).unwrap();
            assert_eq!(SessionPolicy::from(read), policy);
        }
        assert!(serde_json::from_str::<QueuePolicy>("\"drop_oldest\"").is_err());
    }
}
