//! Bounds of the hooks: how long a verdict may take, how many may be waited for, and what happens otherwise.

use serde::{Deserialize, Serialize};

use crate::error::NodeError;

/// Bounds of the hooks. They have no effect on a node that is started without hooks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HooksConfig {
    /// Time from asking a hook to its answer, the time in the queue included.
    pub timeout_ms: u64,
    /// What happens to work whose hook failed, was late, or found the queue full.
    pub on_failure: OnFailure,
    /// Calls that may wait for the hook thread, half of them of `on_connect` and `on_auth`; as many observations beside.
    pub queue: u32,
    /// Bytes of the messages in those calls; the same again for observations.
    pub queue_bytes: u64,
}

/// What happens to work that no hook has judged in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// It is refused.
    #[default]
    Refuse,
    /// It goes on as if there were no hook. Enhanced authentication is refused all the same.
    Pass,
}

impl Default for HooksConfig {
    fn default() -> Self {
        HooksConfig { timeout_ms: 1000, on_failure: OnFailure::Refuse, queue: 10_000, queue_bytes: 64 << 20 }
    }
}

impl HooksConfig {
    pub(super) fn check(&self) -> Result<(), NodeError> {
        let positive = [
            ("hooks.timeout_ms", self.timeout_ms),
            ("hooks.queue", u64::from(self.queue)),
            ("hooks.queue_bytes", self.queue_bytes),
        ];
        match positive.into_iter().find(|(_, value)| *value == 0) {
            Some((key, _)) => Err(NodeError::config(key, "is 0".to_owned(), "Set it to 1 or more.")),
            None => Ok(()),
        }
    }
}
