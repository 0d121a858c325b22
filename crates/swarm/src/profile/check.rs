//! What a profile may be: every setting by itself, and with the others.

use crate::error::SwarmError;
use crate::plan::Plan;
use crate::schedule::messages_in;
use crate::stamp::STAMP_BYTES;

use super::{Pattern, Profile};

/// Pairs (publisher, subscriber) whose serials are checked, at most; each costs some tens of bytes.
const PAIRS_MAX: u64 = 50_000_000;
/// The shortest sleep, in seconds.
const SLEEP_S_MIN: f64 = 0.01;
/// The longest sleep, in seconds: two of them, and the time to connect, are to be said in 16 bits.
const SLEEP_S_MAX: f64 = 10_000.0;
/// Clients of a run, at most.
const CLIENTS_MAX: u64 = 10_000_000;

impl Profile {
    /// What types cannot say.
    ///
    /// # Errors
    /// `Profile`, with key, value and remedy.
    pub(super) fn check(&self) -> Result<(), SwarmError> {
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
            (
                self.is_closed_loop() || messages_in(self.rate, self.seconds) > 0,
                "seconds",
                self.seconds.to_string(),
                "more: at this rate no message is due in that time",
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
                u64::from(self.workers) <= Plan::new(self).clients(),
                "processes",
                self.workers.to_string(),
                "at most one per client",
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
}

fn within(value: f64, low: f64, high: f64) -> bool {
    // Not a number is in no range.
    (low..=high).contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (r#", "pattern": "p2p", "rate": 0.04, "seconds": 10"#, "seconds"),
            (r#", "pattern": "p2p", "worker": 1"#, "worker"),
            (r#", "pattern": "p2p", "workers": 3"#, "processes"),
            (r#", "pattern": "p2p", "loopback": true, "workers": 2"#, "processes"),
            (r#", "pattern": "p2p", "sleep_s": 10001"#, "sleep"),
            (r#", "pattern": "p2p", "sleep_s": 1, "loopback": true"#, "sleep"),
            (r#", "pattern": "p2p", "sleep_s": 1, "rate": 0"#, "sleep"),
            (r#", "pattern": "devices", "sleep_s": 1"#, "sleep"),
        ] {
            match Profile::from_json(&format!(r#"{{"url": "h", "prefix": "x" {more}}}"#)) {
                Err(SwarmError::Profile { key: got, .. }) => assert_eq!(got, key, "{more}"),
                other => panic!("{more}: {other:?}"),
            }
        }
        assert!(matches!(
            Profile::from_json(r#"{"url": "h", "prefix": "x", "pattern": "p2p", "rat": 1}"#),
            Err(SwarmError::Json(_))
        ));
    }
}
