//! What a listener of MQTT-SN has beyond the others: timers, tables, who may publish without a connection.

use std::net::SocketAddr;

use lapwing_codec::Limits;
use lapwing_codec::topic::validate_filter;
use lapwing_sn::TopicId;
use lapwing_sn::peer::Predefined;
use serde::{Deserialize, Serialize};

use crate::error::NodeError;

/// The smallest datagram that may be the largest: each answer fits, and a short topic's name.
const DATAGRAM_BYTES_MIN: u16 = 64;
/// The largest payload of UDP over IPv4.
const DATAGRAM_BYTES_MAX: u16 = 65_507;

/// Settings of one `sn://` listener.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SnConfig {
    /// GwId in ADVERTISE and GWINFO.
    pub gateway_id: u8,
    /// A datagram, in bytes, either way.
    pub datagram_bytes_max: u16,
    /// T_retry: how long an answer is waited for, in milliseconds.
    pub retry_ms: u64,
    /// N_retry: how often a message goes again before its client is lost.
    pub retries_max: u32,
    /// Topics that one client may have ids for.
    pub registrations_max: u16,
    /// Messages of QoS 0 that wait for one client: while it sleeps, or learns a topic's id.
    pub waiting_messages_max: u32,
    /// Wills of clients that are gone while their sessions are kept.
    pub wills_kept_max: u32,
    /// Datagrams of one address that are taken up in one turn.
    pub datagrams_per_turn_max: u32,
    /// What may be published with QoS -1, without a connection: topic filters; none: everything where only this machine can
    /// send, else nothing.
    pub publish_without_connect: Option<Vec<String>>,
    /// Topic ids that clients know beforehand.
    pub predefined: Vec<PredefinedTopic>,
    /// Where ADVERTISE goes; none: nowhere.
    pub advertise_to: Option<SocketAddr>,
    /// How often, in seconds.
    pub advertise_interval_s: u16,
}

/// A topic with an id that clients know beforehand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredefinedTopic {
    /// 1 to 65534.
    pub id: u16,
    /// A topic name.
    pub topic: String,
    /// Which client knows it; none: all do.
    #[serde(default)]
    pub client: Option<String>,
}

impl Default for SnConfig {
    fn default() -> Self {
        SnConfig {
            gateway_id: 1,
            datagram_bytes_max: 1232,
            retry_ms: 10_000,
            retries_max: 3,
            registrations_max: 256,
            waiting_messages_max: 100,
            wills_kept_max: 1000,
            datagrams_per_turn_max: 256,
            publish_without_connect: None,
            predefined: Vec::new(),
            advertise_to: None,
            advertise_interval_s: 900,
        }
    }
}

impl SnConfig {
    /// Checks what types cannot say; `key` is that of the listener.
    pub(super) fn check(&self, key: &str) -> Result<(), NodeError> {
        let wrong = |name: &str, what: String, remedy| Err(NodeError::config(&format!("{key}.{name}"), what, remedy));
        if !(DATAGRAM_BYTES_MIN..=DATAGRAM_BYTES_MAX).contains(&self.datagram_bytes_max) {
            let what = format!("is {}", self.datagram_bytes_max);
            return wrong("datagram_bytes_max", what, "Set it to 64 to 65507; 1232 pass every path in one piece.");
        }
        for (name, value) in [
            ("retry_ms", self.retry_ms),
            ("registrations_max", self.registrations_max.into()),
            ("waiting_messages_max", self.waiting_messages_max.into()),
            ("wills_kept_max", self.wills_kept_max.into()),
            ("datagrams_per_turn_max", self.datagrams_per_turn_max.into()),
            ("advertise_interval_s", self.advertise_interval_s.into()),
        ] {
            if value == 0 {
                return wrong(name, "is 0".into(), "Leave it out, or set it to 1 or more.");
            }
        }
        for filter in self.publish_without_connect.iter().flatten() {
            if let Err(why) = validate_filter(filter, &Limits::PROTOCOL) {
                let what = format!("\"{filter}\" is no topic filter: {why}");
                return wrong("publish_without_connect", what, "Write filters as in \"sensors/+/t\".");
            }
        }
        self.predefined(key).map(drop)
    }

    /// The table of predefined ids.
    ///
    /// # Errors
    /// `Config`: an id or a topic stands there twice, or is none.
    pub(crate) fn predefined(&self, key: &str) -> Result<Predefined, NodeError> {
        let mut table = Predefined::default();
        for entry in &self.predefined {
            let wrong = |what: String| {
                NodeError::config(&format!("{key}.predefined"), what, "Give each topic one id of 1 to 65534.")
            };
            let id = TopicId::new(entry.id).ok_or_else(|| wrong(format!("{} is no topic id", entry.id)))?;
            table.add(entry.client.as_deref(), id, &entry.topic).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 7.2: T_ADV above 15 minutes or that, T_retry 10 to 15 s, N_retry 3 to 5.
    #[test]
    fn defaults_are_what_is_recommended() {
        let SnConfig { advertise_interval_s, retry_ms, retries_max, .. } = SnConfig::default();
        assert!(advertise_interval_s >= 15 * 60 && (10_000..=15_000).contains(&retry_ms));
        assert!((3..=5).contains(&retries_max));
    }

    /// Does each kind of mistake name its key, and is what is right taken?
    #[test]
    fn wrong_values_name_their_key() {
        for (json, key) in [
            (r#"{"datagram_bytes_max": 63}"#, "l.datagram_bytes_max"),
            (r#"{"retry_ms": 0}"#, "l.retry_ms"),
            (r#"{"publish_without_connect": ["a/#/b"]}"#, "l.publish_without_connect"),
            (r#"{"predefined": [{"id": 0, "topic": "a"}]}"#, "l.predefined"),
            (r#"{"predefined": [{"id": 1, "topic": "a/+"}]}"#, "l.predefined"),
            (r#"{"predefined": [{"id": 1, "topic": "a"}, {"id": 1, "topic": "b", "client": "c"}]}"#, "\"a\""),
        ] {
            let config: SnConfig = serde_json::from_str(json).unwrap();
            let error = config.check("l").unwrap_err().to_string();
            assert!(error.contains(key), "{json}: {error}");
        }
        let json = r#"{"predefined": [{"id": 1, "topic": "a"}, {"id": 2, "topic": "b", "client": "c"}]}"#;
        let config: SnConfig = serde_json::from_str(json).unwrap();
        config.check("l").unwrap();
        let table = config.predefined("l").unwrap();
        assert_eq!(table.topic("c", TopicId::MIN.next()), Some("b"));
        assert_eq!(table.topic("d", TopicId::MIN.next()), None);
    }
}
