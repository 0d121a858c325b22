//! The settings of a fleet, checked.

use crate::error::SwarmError;
use lapwing_codec::topic::validate_topic_name;
use lapwing_codec::{Limits, Version};
use serde::Deserialize;
use std::collections::HashSet;

/// One device of a fleet.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetClient {
    /// Its client id; no two are equal.
    pub client_id: String,
    /// Where its messages go.
    pub topic: String,
    /// Connected before the start; else a `Join` in the schedule brings it in.
    #[serde(default = "yes")]
    pub joined: bool,
}

/// The settings of a fleet.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetConfig {
    /// The broker: `tcp://HOST:PORT`.
    pub url: String,
    /// The devices; tasks name them by their index here.
    pub clients: Vec<FleetClient>,
    /// Threads.
    #[serde(default = "one")]
    pub threads: u32,
    /// MQTT version: 4 (3.1.1) or 5.
    #[serde(default = "five")]
    pub version: u8,
    /// Keep alive, in seconds; 0: off.
    #[serde(default = "minute")]
    pub keep_alive_s: u16,
    /// How long the broker keeps a device's session without a connection, in seconds (5.0).
    #[serde(default = "hour")]
    pub session_expiry_s: u32,
    /// QoS 1 and 2 messages a device may have unanswered.
    #[serde(default = "window")]
    pub window: u16,
    /// User name of every device, if any.
    #[serde(default)]
    pub username: Option<String>,
    /// Password of every device, if any.
    #[serde(default)]
    pub password: Option<String>,
    /// Add the user property `lapwing-sent-at-us`: when a message really went, in microseconds since the epoch (5.0).
    #[serde(default)]
    pub stamp_sent_at: bool,
    /// Tasks accepted and not taken up, at most; `offer` waits beyond that.
    #[serde(default = "queue_messages_max")]
    pub queue_messages_max: usize,
    /// Their payloads, at most, in bytes.
    #[serde(default = "queue_bytes_max")]
    pub queue_bytes_max: usize,
    /// Messages taken up and not answered, at most, each thread an equal share; beyond that the schedule waits, and what
    /// comes due meanwhile is counted as held.
    #[serde(default = "open_messages_max")]
    pub open_messages_max: usize,
    /// Their payloads, at most, in bytes.
    #[serde(default = "open_bytes_max")]
    pub open_bytes_max: usize,
    /// How well the schedule is kept is judged of what is due from then on, in microseconds after the start.
    #[serde(default)]
    pub judged_from_us: u64,
    /// A message is late when it is taken up so long after it was due, in milliseconds.
    #[serde(default = "late_ms")]
    pub late_ms: f64,
    /// First wait before a reconnection, in milliseconds; doubles up to `reconnect_max_ms`.
    #[serde(default = "reconnect_first_ms")]
    pub reconnect_first_ms: u64,
    /// Longest wait before a reconnection, in milliseconds.
    #[serde(default = "reconnect_max_ms")]
    pub reconnect_max_ms: u64,
    /// How long one connection attempt may take, in seconds.
    #[serde(default = "connect_timeout_s")]
    pub connect_timeout_s: f64,
    /// Decides the jitter of reconnections.
    #[serde(default)]
    pub seed: u64,
}

fn yes() -> bool {
    true
}
fn one() -> u32 {
    1
}
fn five() -> u8 {
    5
}
fn minute() -> u16 {
    60
}
fn hour() -> u32 {
    3600
}
fn window() -> u16 {
    64
}
fn queue_messages_max() -> usize {
    200_000
}
fn queue_bytes_max() -> usize {
    256 << 20
}
/// A minute of 15,000 devices that send once a second.
fn open_messages_max() -> usize {
    1_000_000
}
fn open_bytes_max() -> usize {
    512 << 20
}
fn late_ms() -> f64 {
    100.0
}
fn reconnect_first_ms() -> u64 {
    50
}
fn reconnect_max_ms() -> u64 {
    2000
}
fn connect_timeout_s() -> f64 {
    10.0
}

impl FleetConfig {
    /// Reads the settings from JSON and checks them.
    ///
    /// # Errors
    /// `Json`, or `Profile` with key, value and remedy.
    pub fn from_json(json: &str) -> Result<Self, SwarmError> {
        let config: Self = serde_json::from_str(json)?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), SwarmError> {
        let wrong =
            |key, value: String, remedy: &str| Err(SwarmError::Profile { key, value, remedy: remedy.to_owned() });
        let mut ids = HashSet::new();
        for client in &self.clients {
            if client.client_id.is_empty() || !ids.insert(&client.client_id) {
                return wrong("clients.client_id", client.client_id.clone(), "not empty, and each only once");
            }
            if let Err(error) = validate_topic_name(&client.topic, &Limits::PROTOCOL) {
                return wrong("clients.topic", client.topic.clone(), &error.to_string());
            }
        }
        match () {
            () if self.clients.is_empty() => wrong("clients", "[]".to_owned(), "at least one device"),
            () if !matches!(self.version, 4 | 5) => wrong("version", self.version.to_string(), "4 (MQTT 3.1.1) or 5"),
            () if !(1..=256).contains(&self.threads) => wrong("threads", self.threads.to_string(), "1 to 256"),
            () if self.window == 0 => wrong("window", "0".to_owned(), "1 to 65535"),
            () if self.queue_messages_max == 0 => wrong("queue_messages_max", "0".to_owned(), "at least 1"),
            () if self.open_messages_max == 0 => wrong("open_messages_max", "0".to_owned(), "at least 1"),
            () if !(0.0..=600_000.0).contains(&self.late_ms) => {
                wrong("late_ms", self.late_ms.to_string(), "0 to 600000")
            }
            () if !(0.1..=3600.0).contains(&self.connect_timeout_s) => {
                wrong("connect_timeout_s", self.connect_timeout_s.to_string(), "0.1 to 3600")
            }
            () => Ok(()),
        }
    }

    /// The protocol version; the check made it valid.
    pub fn version(&self) -> Version {
        Version::from_level(self.version).unwrap_or(Version::V5)
    }
}
