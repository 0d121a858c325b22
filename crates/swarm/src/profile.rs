//! What a run of the swarm is: the settings, checked, with the defaults of each pattern filled in.

use crate::error::SwarmError;
use crate::stamp::STAMP_BYTES;
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

/// Pairs (publisher, subscriber) whose serials are checked, at most; each costs some tens of bytes.
const PAIRS_MAX: u64 = 50_000_000;
/// The shortest sleep, in seconds.
const SLEEP_S_MIN: f64 = 0.01;
/// The longest sleep, in seconds: two of them, and the time to connect, are to be said in 16 bits.
const SLEEP_S_MAX: f64 = 10_000.0;
/// Clients of a run, at most.
const CLIENTS_MAX: u64 = 10_000_000;

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

    fn check(&self) -> Result<(), SwarmError> {
        let own = matches!(self.pattern, Pattern::P2p | Pattern::Devices);
        let (publishers, subscribers) = (u64::from(self.publishers), u64::from(self.subscribers));
        let checks = [
            (self.qos <= 2, "qos", self.qos.to_string(), "0, 1 or 2"),
            (matches!(self.version, 4 | 5), "version", self.version.to_string(), "4 (MQTT 3.1.1) or 5"),
            (
                within(self.rate, 0.0, 1e8),
                "rate",
                self.rate.to_string(),
                "messages per second, 0 (as fast as it goes) to 1e8",
            ),
            (within(self.seconds, 0.001, 1e6), "seconds", self.seconds.to_string(), "0.001 to 1e6"),
            (within(self.drain_s, 0.0, 3600.0), "drain_s", self.drain_s.to_string(), "0 to 3600"),
            (
                within(self.connect_timeout_s, 0.1, 3600.0),
                "connect_timeout_s",
                self.connect_timeout_s.to_string(),
                "0.1 to 3600",
            ),
            (self.serials_fit(), "seconds", self.seconds.to_string(), "fewer: a publisher counts to 2^32"),
            (
                (STAMP_BYTES as u32..=64 << 20).contains(&self.payload_bytes),
                "payload",
                self.payload_bytes.to_string(),
                "16 bytes (the stamp) to 64 MiB",
            ),
            ((1..=256).contains(&self.threads), "threads", self.threads.to_string(), "1 to 256"),
            (self.worker < self.workers, "worker", self.worker.to_string(), "less than workers"),
            (self.window > 0, "window", self.window.to_string(), "1 to 65535"),
            (
                !self.prefix.is_empty() && !self.prefix.contains(['+', '#', '\0', '$']),
                "prefix",
                self.prefix.clone(),
                "topic levels without wildcards",
            ),
            (
                publishers + subscribers <= CLIENTS_MAX,
                "publishers",
                publishers.to_string(),
                "at most 10,000,000 clients",
            ),
            (
                own || publishers * subscribers <= PAIRS_MAX,
                "subscribers",
                subscribers.to_string(),
                "fewer: publishers x subscribers is at most 50,000,000",
            ),
            (
                !own || self.topics == self.publishers,
                "topics",
                self.topics.to_string(),
                "as many as publishers, in this pattern",
            ),
            (self.topics <= self.publishers, "topics", self.topics.to_string(), "at most one per publisher"),
            (
                self.pattern != Pattern::P2p || publishers == subscribers,
                "subscribers",
                subscribers.to_string(),
                "as many as publishers, for p2p",
            ),
            (
                self.pattern != Pattern::FanIn || self.topics >= self.subscribers,
                "subscribers",
                subscribers.to_string(),
                "at most one per topic, for fan-in",
            ),
            (
                self.groups == 1 || self.pattern == Pattern::Shared,
                "groups",
                self.groups.to_string(),
                "1: only shared has more",
            ),
            (
                (1..=self.topics.min(self.subscribers).max(1)).contains(&self.groups),
                "groups",
                self.groups.to_string(),
                "1 to the number of topics and of subscribers",
            ),
            (!self.loopback || self.pattern == Pattern::P2p, "loopback", "true".to_owned(), "only with p2p"),
            (
                !self.sleeps() || within(self.sleep_s, SLEEP_S_MIN, SLEEP_S_MAX),
                "sleep",
                self.sleep_s.to_string(),
                "0 (nobody sleeps), or 0.01 to 10000 s",
            ),
            (
                !self.sleeps() || (self.subscribers > 0 && !self.loopback && !self.is_closed_loop()),
                "sleep",
                self.sleep_s.to_string(),
                "0, or subscribers that publish nothing themselves, and a rate: who sleeps holds no window open",
            ),
        ];
        match checks.into_iter().find(|(good, ..)| !good) {
            None => Ok(()),
            Some((_, key, value, remedy)) => Err(SwarmError::Profile { key, value, remedy: remedy.to_owned() }),
        }
    }

    fn serials_fit(&self) -> bool {
        self.rate * self.seconds / f64::from(self.publishers.max(1)) < f64::from(u32::MAX)
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

fn within(value: f64, low: f64, high: f64) -> bool {
    // Not a number is in no range.
    (low..=high).contains(&value)
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

    /// Does a wrong setting come back with its key?
    #[test]
    fn wrong_settings_name_their_key() {
        for (more, key) in [
            (r#", "pattern": "p2p", "qos": 3"#, "qos"),
            (r#", "pattern": "p2p", "payload_bytes": 15"#, "payload"),
            (r#", "pattern": "p2p", "rate": -1"#, "rate"),
            (r#", "pattern": "p2p", "publishers": 2, "subscribers": 3"#, "subscribers"),
            (r#", "pattern": "fan-in", "publishers": 2, "subscribers": 3"#, "subscribers"),
            (r#", "pattern": "fan-out", "loopback": true"#, "loopback"),
            (r#", "pattern": "p2p", "rate": 1e8, "seconds": 1000"#, "seconds"),
            (r#", "pattern": "p2p", "worker": 1"#, "worker"),
            (r#", "pattern": "p2p", "sleep_s": 10001"#, "sleep"),
            (r#", "pattern": "p2p", "sleep_s": 1, "loopback": true"#, "sleep"),
            (r#", "pattern": "p2p", "sleep_s": 1, "rate": 0"#, "sleep"),
            (r#", "pattern": "devices", "sleep_s": 1"#, "sleep"),
        ] {
            match profile(more) {
                Err(SwarmError::Profile { key: got, .. }) => assert_eq!(got, key, "{more}"),
                other => panic!("{more}: {other:?}"),
            }
        }
        assert!(matches!(profile(r#", "pattern": "p2p", "rat": 1"#), Err(SwarmError::Json(_))));
    }
}
