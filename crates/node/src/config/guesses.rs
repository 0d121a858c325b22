//! What becomes of those who give wrong passwords.

use serde::{Deserialize, Serialize};

use crate::error::NodeError;

/// How failures are counted, slowed down and barred. Times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GuessesConfig {
    /// Wrong passwords are counted for so long, from the first one on.
    pub window_ms: u64,
    /// Wrong passwords of one address in that time that bar it. 0: never.
    pub failures_max: u32,
    /// Wrong passwords for one name from one address in that time that bar the name from there. 0: never.
    pub name_failures_max: u32,
    /// How long that lasts.
    pub bar_ms: u64,
    /// Loopback and Unix sockets too: everybody behind a proxy on this machine has their address.
    pub bar_local: bool,
    /// Refusals a second that go out to one address, and for one name, once some have.
    pub refusals_per_s: u32,
    /// Longest time that a refusal waits for that. 0: not at all.
    pub delay_ms_max: u64,
    /// Connections that may wait for their refusal; one more has it at once.
    pub delayed_max: u32,
    /// Addresses, names, and names from an address of which failures are remembered, so many of each; one more takes the
    /// place of the one that says least.
    pub records_max: u32,
}

impl Default for GuessesConfig {
    fn default() -> Self {
        GuessesConfig {
            window_ms: 60_000,
            failures_max: 100,
            name_failures_max: 20,
            bar_ms: 300_000,
            bar_local: false,
            refusals_per_s: 4,
            delay_ms_max: 30_000,
            delayed_max: 4096,
            records_max: 10_000,
        }
    }
}

impl GuessesConfig {
    pub(super) fn check(&self) -> Result<(), NodeError> {
        let positive = [
            ("guesses.window_ms", self.window_ms),
            ("guesses.bar_ms", self.bar_ms),
            ("guesses.refusals_per_s", u64::from(self.refusals_per_s)),
            ("guesses.records_max", u64::from(self.records_max)),
        ];
        match positive.into_iter().find(|(_, value)| *value == 0) {
            Some((key, _)) => Err(NodeError::config(key, "is 0".to_owned(), "Set it to 1 or more.")),
            None => Ok(()),
        }
    }
}
