//! What a run of the swarm is: the settings, checked, with the defaults of each pattern filled in.

mod check;

use crate::error::SwarmError;
use lapwing_codec::{QoS, Version};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Who talks to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Pairs: publisher i to subscriber i, each on a topic of its own.
    P2p,
    /// Few to many: every subscriber hears every publisher.
    FanOut,
    /// Many to few: each message goes to one subscriber, which hears many publishers.
    FanIn,
    /// Shared groups: each message goes to one member of its group.
    Shared,
    /// Devices that publish to a topic of their own; usually nobody listens, a stream does.
    Devices,
}

/// The settings of a run, over all threads and processes. Zero publishers, subscribers or topics: the pattern's default.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Who talks to whom.
    pub pattern: Pattern,
    /// The broker: `tcp://HOST:PORT`.
    pub url: String,
    /// Publishing clients.
    #[serde(default)]
    pub publishers: u32,
    /// Subscribing clients.
    #[serde(default)]
    pub subscribers: u32,
    /// Topics.
    #[serde(default)]
    pub topics: u32,
    /// `shared` only: groups, over which topics and subscribers are spread in turn.
    #[serde(default = "defaults::one")]
    pub groups: u32,
    /// 0, 1 or 2, for publishing and subscribing.
    #[serde(default)]
    pub qos: u8,
    /// Messages per second over all publishers; 0: as fast as window and socket allow (closed loop).
    #[serde(default = "defaults::rate")]
    pub rate: f64,
    /// Payload of each message, in bytes; the first 16 are the stamp.
    #[serde(default = "defaults::payload_bytes")]
    pub payload_bytes: u32,
    /// How long to publish, in seconds.
    #[serde(default = "defaults::seconds")]
    pub seconds: f64,
    /// Threads in this process.
    #[serde(default = "defaults::one")]
    pub threads: u32,
    /// CPUs for the threads, in turn; empty: wherever the system puts them.
    #[serde(default)]
    pub pin: Vec<usize>,
    /// MQTT version: 4 (3.1.1) or 5.
    #[serde(default = "defaults::version")]
    pub version: u8,
    /// Decides the order of the publishers.
    #[serde(default)]
    pub seed: u64,
    /// QoS 1 and 2 messages a client may have unanswered.
    #[serde(default = "defaults::window")]
    pub window: u16,
    /// `p2p` only: publisher and subscriber of a pair are one connection.
    #[serde(default)]
    pub loopback: bool,
    /// Never sleep: exact to microseconds, and a core is busy all the time. Else exact to a millisecond.
    #[serde(default = "defaults::spin")]
    pub spin: bool,
    /// Keep alive of each client, in seconds.
    #[serde(default = "defaults::keep_alive_s")]
    pub keep_alive_s: u16,
    /// How long the session of a subscriber outlives its connection, in seconds: what waits for it is then kept. 0: not at
    /// all. 3.1.1 has no such number: more than 0 is Clean Session 0.
    #[serde(default)]
    pub session_expiry_s: u32,
    /// Over MQTT-SN: how long each subscriber sleeps before it awakes, takes what waits and sleeps again, in seconds; 0: it
    /// does not. They first awake one after the other, in the second of two such times after the start.
    #[serde(default)]
    pub sleep_s: f64,
    /// First levels of every topic, and first part of every client id; must differ between runs.
    pub prefix: String,
    /// Count the CPU time of this process as the broker's.
    #[serde(default)]
    pub broker_pid: Option<u32>,
    /// How long to wait without any arrival before what is missing counts as lost, in seconds.
    #[serde(default = "defaults::drain_s")]
    pub drain_s: f64,
    /// How long all clients together may take to connect and subscribe, in seconds.
    #[serde(default = "defaults::connect_timeout_s")]
    pub connect_timeout_s: f64,
    /// Which of the processes this is.
    #[serde(default)]
    pub worker: u32,
    /// How many processes share the run.
    #[serde(default = "defaults::one")]
    pub workers: u32,
    /// Local addresses to connect from, in turn; one carries some 28,000 connections to one broker.
    #[serde(default)]
    pub sources: Vec<IpAddr>,
}

mod defaults {
    pub fn rate() -> f64 {
        1000.0
    }
    pub fn payload_bytes() -> u32 {
        64
    }
    pub fn seconds() -> f64 {
        10.0
    }
    pub fn one() -> u32 {
        1
    }
    pub fn version() -> u8 {
        5
    }
    pub fn window() -> u16 {
        100
    }
    pub fn spin() -> bool {
        true
    }
    pub fn keep_alive_s() -> u16 {
        60
    }
    pub fn drain_s() -> f64 {
        5.0
    }
    pub fn connect_timeout_s() -> f64 {
        60.0
    }
}

impl Profile {
    /// Reads a profile from JSON, fills the pattern's defaults in and checks it.
    ///
    /// # Errors
    /// `Json`, or `Profile` with key, value and remedy.
    pub fn from_json(json: &str) -> Result<Self, SwarmError> {
        let mut profile: Self = serde_json::from_str(json)?;
        profile.fill_in();
        profile.check()?;
        Ok(profile)
    }

    fn fill_in(&mut self) {
        let (publishers, subscribers) = match self.pattern {
            Pattern::P2p => (self.subscribers.max(1), self.publishers.max(1)),
            Pattern::FanOut => (1, 100),
            Pattern::FanIn => (100, 1),
            Pattern::Shared => (10, 10),
            Pattern::Devices => (1000, 0),
        };
        fill(&mut self.publishers, publishers);
        fill(&mut self.subscribers, if self.pattern == Pattern::P2p { self.publishers } else { subscribers });
        fill(&mut self.topics, if self.pattern == Pattern::FanOut { 1 } else { self.publishers });
    }

    /// The quality of service; the check made it valid.
    pub fn qos(&self) -> QoS {
        QoS::from_u8(self.qos).unwrap_or_default()
    }

    /// The protocol version; the check made it valid.
    pub fn version(&self) -> Version {
        Version::from_level(self.version).unwrap_or(Version::V5)
    }

    /// True when messages go as fast as the broker takes them.
    pub fn is_closed_loop(&self) -> bool {
        self.rate == 0.0
    }

    /// True when subscribers sleep.
    pub fn sleeps(&self) -> bool {
        self.sleep_s != 0.0
    }

    /// What a subscriber tells the gateway: it awakes within so many seconds, also for the first time.
    pub fn sleep_at_most_s(&self) -> u16 {
        // Bounded by the check: 2 * 10,000 + 3,600.
        (2.0 * self.sleep_s + self.connect_timeout_s).ceil() as u16
    }

    /// All threads of all processes.
    pub fn lanes(&self) -> u32 {
        self.threads * self.workers
    }
}

fn fill(value: &mut u32, default: u32) {
    if *value == 0 {
        *value = default;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(more: &str) -> Result<Profile, SwarmError> {
        Profile::from_json(&format!(r#"{{"url": "h", "prefix": "x" {more}}}"#))
    }

    /// Does each pattern fill in what was not said?
    #[test]
    fn defaults_of_patterns() -> Result<(), SwarmError> {
        for (more, expected) in [
            (r#", "pattern": "p2p""#, (1, 1, 1)),
            (r#", "pattern": "p2p", "publishers": 7"#, (7, 7, 7)),
            (r#", "pattern": "p2p", "subscribers": 7"#, (7, 7, 7)),
            (r#", "pattern": "fan-out", "subscribers": 9"#, (1, 9, 1)),
            (r#", "pattern": "fan-in", "publishers": 20"#, (20, 1, 20)),
            (r#", "pattern": "shared""#, (10, 10, 10)),
            (r#", "pattern": "devices", "publishers": 5"#, (5, 0, 5)),
        ] {
            let got = profile(more)?;
            assert_eq!((got.publishers, got.subscribers, got.topics), expected, "{more}");
        }
        Ok(())
    }
}
