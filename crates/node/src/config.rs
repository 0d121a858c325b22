//! The node's configuration, as Python hands it over in JSON: every limit has a default and a unit in its name.
//!
//! Python owns files, environment and flags (and their messages to the user); here each value is checked once more,
//! because a limit of zero would hang a shard.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::NodeError;

/// Everything a node is started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Listener addresses, `tcp://HOST:PORT`; port 0 takes any free one.
    pub listen: Vec<String>,
    /// Number of event loops; 0 means one per core this process may use.
    pub shards: u32,
    /// Pin each event loop to a core of its own.
    pub pin: bool,
    /// First core to pin to; shard N takes core `pin_first + N`, modulo the cores there are.
    pub pin_first: u32,
    /// Folder of the log; must be set when there are streams.
    pub data_dir: Option<PathBuf>,
    /// Bounds and times of everything.
    pub limits: Limits,
    /// Streams by name.
    pub streams: BTreeMap<String, StreamConfig>,
}

/// Bounds of queues, buffers and tables, and the times to wait. Sizes in bytes, times in milliseconds or seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Connections of the whole node; one more is closed at once and counted.
    pub connections_max: u32,
    /// Time from the accepted connection to its complete CONNECT.
    pub connect_timeout_ms: u64,
    /// Largest packet a client may send.
    pub packet_bytes_max: u32,
    /// Longest topic name or filter.
    pub topic_bytes_max: u16,
    /// Most levels of a topic name or filter.
    pub topic_levels_max: u16,
    /// Most filters in one SUBSCRIBE or UNSUBSCRIBE.
    pub filters_per_packet_max: u16,
    /// Most user properties in one packet.
    pub user_properties_max: u16,
    /// Longest client id.
    pub client_id_bytes_max: u16,
    /// Subscriptions of one session.
    pub subscriptions_per_session_max: u32,
    /// Longest keep alive; a 5.0 client that asks for more (or none) is told this one. 0: no bound.
    pub keep_alive_s_max: u16,
    /// Longest session expiry granted.
    pub session_expiry_s_max: u32,
    /// Expiry of a 3.1.1 session with clean session 0, which cannot name one.
    pub session_expiry_s_v311: u32,
    /// Sessions without a connection that the whole node keeps; the one that would be one more ends at once.
    pub sessions_offline_max: u32,
    /// QoS 1 and 2 messages that a client may have unacknowledged towards the broker (Receive Maximum).
    pub receive_maximum: u16,
    /// QoS 1 and 2 messages that the broker has unacknowledged towards one client, at most.
    pub inflight_messages_max: u16,
    /// Topic aliases that a client may use.
    pub topic_alias_max: u16,
    /// Messages waiting for one session.
    pub queue_messages_max: u32,
    /// Bytes waiting for one session.
    pub queue_bytes_max: u64,
    /// Output buffer of one connection from which QoS 0 messages are dropped for it.
    pub output_high_bytes: u32,
    /// Output buffer at which a connection is closed.
    pub output_bytes_max: u32,
    /// Time for which a connection may stay above `output_high_bytes` without taking a byte.
    pub output_stall_ms: u64,
    /// Retained messages of the whole node.
    pub retained_messages_max: u64,
    /// Bytes of retained messages of the whole node.
    pub retained_bytes_max: u64,
    /// Batches in a mailbox between two shards.
    pub mailbox_batches: u32,
    /// Messages in one such batch.
    pub mailbox_batch_messages: u32,
    /// Bytes in one such batch.
    pub mailbox_batch_bytes: u32,
    /// Bytes that one shard may have waiting for the log before connections that publish into streams are not read.
    pub log_lane_bytes: u64,
    /// Bytes that one connection's read may bring in one turn of the loop.
    pub read_bytes_per_turn: u32,
    /// How long an idle shard looks for work before it sleeps, while there is traffic between shards.
    pub spin_us: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: vec!["tcp://127.0.0.1:1883".into()],
            shards: 0,
            pin: true,
            pin_first: 0,
            data_dir: None,
            limits: Limits::default(),
            streams: BTreeMap::new(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections_max: 100_000,
            connect_timeout_ms: 10_000,
            packet_bytes_max: 1 << 20,
            topic_bytes_max: 1024,
            topic_levels_max: 64,
            filters_per_packet_max: 1024,
            user_properties_max: 64,
            client_id_bytes_max: 256,
            subscriptions_per_session_max: 10_000,
            keep_alive_s_max: 0,
            session_expiry_s_max: 7 * 24 * 3600,
            session_expiry_s_v311: 24 * 3600,
            sessions_offline_max: 100_000,
            receive_maximum: 1024,
            inflight_messages_max: 1024,
            topic_alias_max: 64,
            queue_messages_max: 10_000,
            queue_bytes_max: 16 << 20,
            output_high_bytes: 1 << 20,
            output_bytes_max: 8 << 20,
            output_stall_ms: 30_000,
            retained_messages_max: 1_000_000,
            retained_bytes_max: 1 << 30,
            mailbox_batches: 64,
            mailbox_batch_messages: 1024,
            mailbox_batch_bytes: 256 << 10,
            log_lane_bytes: 32 << 20,
            read_bytes_per_turn: 256 << 10,
            spin_us: 20,
        }
    }
}

/// One stream: which messages it keeps, how they are split, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamConfig {
    /// Topic filter; every PUBLISH that matches is appended.
    pub filter: String,
    /// Number of partitions.
    #[serde(default = "one")]
    pub partitions: u32,
    /// What chooses the partition.
    #[serde(default)]
    pub key: StreamKey,
    /// Bytes kept, all partitions together; 0: no bound.
    #[serde(default)]
    pub retain_bytes: u64,
    /// Age up to which messages are kept; 0: no bound.
    #[serde(default = "one_day_ms")]
    pub retain_age_ms: u64,
    /// Size of a segment file.
    #[serde(default = "segment_bytes")]
    pub segment_bytes: u64,
}

/// What chooses a message's partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamKey {
    /// The publisher's client id: the order of each client is kept.
    #[default]
    Client,
    /// The topic: the order of each topic is kept.
    Topic,
}

fn one() -> u32 {
    1
}

fn one_day_ms() -> u64 {
    24 * 3600 * 1000
}

fn segment_bytes() -> u64 {
    64 << 20
}

impl Config {
    /// Reads and checks a configuration.
    ///
    /// # Errors
    /// `Config`: names the key, the value and the remedy.
    pub fn from_json(text: &str) -> Result<Self, NodeError> {
        let config: Config = serde_json::from_str(text)
            .map_err(|error| NodeError::config("config", error.to_string(), "Correct the key or the value named."))?;
        config.check()?;
        Ok(config)
    }

    /// Checks what types cannot say.
    ///
    /// # Errors
    /// `Config`: names the key, the value and the remedy.
    pub fn check(&self) -> Result<(), NodeError> {
        if self.shards > SHARDS_MAX {
            let what = format!("{} is more than {SHARDS_MAX}", self.shards);
            return Err(NodeError::config("shards", what, "Set one shard per core, or 0 for the number of cores."));
        }
        self.limits.check()?;
        if !self.streams.is_empty() && self.data_dir.is_none() {
            let what = "is not set, but there are streams to keep".to_owned();
            return Err(NodeError::config("data_dir", what, "Name a folder for the log."));
        }
        for (name, stream) in &self.streams {
            stream.check(name)?;
        }
        Ok(())
    }

    /// The number of event loops to start.
    pub fn shard_count(&self) -> u32 {
        match self.shards {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get() as u32).min(SHARDS_MAX),
            n => n,
        }
    }
}

/// A set of shards fits one machine word.
pub const SHARDS_MAX: u32 = 64;
/// As many as the log takes.
const PARTITIONS_MAX: u32 = lapwing_store::StreamConfig::PARTITIONS_MAX;
/// Below this a segment would hold little more than its own records.
const SEGMENT_BYTES_MIN: u64 = 64 << 10;

impl Limits {
    fn check(&self) -> Result<(), NodeError> {
        let positive: [(&str, u64); 17] = [
            ("connections_max", u64::from(self.connections_max)),
            ("connect_timeout_ms", self.connect_timeout_ms),
            ("packet_bytes_max", u64::from(self.packet_bytes_max)),
            ("topic_bytes_max", u64::from(self.topic_bytes_max)),
            ("topic_levels_max", u64::from(self.topic_levels_max)),
            ("filters_per_packet_max", u64::from(self.filters_per_packet_max)),
            ("client_id_bytes_max", u64::from(self.client_id_bytes_max)),
            ("receive_maximum", u64::from(self.receive_maximum)),
            ("inflight_messages_max", u64::from(self.inflight_messages_max)),
            ("output_high_bytes", u64::from(self.output_high_bytes)),
            ("output_bytes_max", u64::from(self.output_bytes_max)),
            ("output_stall_ms", self.output_stall_ms),
            ("mailbox_batches", u64::from(self.mailbox_batches)),
            ("mailbox_batch_messages", u64::from(self.mailbox_batch_messages)),
            ("mailbox_batch_bytes", u64::from(self.mailbox_batch_bytes)),
            ("log_lane_bytes", self.log_lane_bytes),
            ("read_bytes_per_turn", u64::from(self.read_bytes_per_turn)),
        ];
        for (key, value) in positive {
            if value == 0 {
                let key = format!("limits.{key}");
                return Err(NodeError::config(&key, "is 0".to_owned(), "Set it to 1 or more."));
            }
        }
        if self.output_high_bytes > self.output_bytes_max {
            let what =
                format!("{} is more than limits.output_bytes_max = {}", self.output_high_bytes, self.output_bytes_max);
            return Err(NodeError::config("limits.output_high_bytes", what, "Set it below output_bytes_max."));
        }
        Ok(())
    }
}

impl StreamConfig {
    fn check(&self, name: &str) -> Result<(), NodeError> {
        let key = |field: &str| format!("streams.{name}.{field}");
        if lapwing_codec::topic::validate_filter(&self.filter, &lapwing_codec::Limits::PROTOCOL).is_err()
            || self.filter.starts_with("$share/")
        {
            let what = format!("\"{}\" is not a topic filter", self.filter);
            return Err(NodeError::config(&key("filter"), what, "Write a filter such as \"spectrum/+/readings\"."));
        }
        if self.partitions == 0 || self.partitions > PARTITIONS_MAX {
            let what = format!("{} is not from 1 to {PARTITIONS_MAX}", self.partitions);
            return Err(NodeError::config(&key("partitions"), what, "Set a number in this range."));
        }
        if self.segment_bytes < SEGMENT_BYTES_MIN {
            let what = format!("{} is less than {SEGMENT_BYTES_MIN}", self.segment_bytes);
            return Err(NodeError::config(&key("segment_bytes"), what, "Leave it out, or set a larger one."));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is the empty object the default configuration?
    #[test]
    fn everything_has_a_default() {
        assert_eq!(Config::from_json("{}").unwrap(), Config::default());
    }

    /// Does a default configuration survive its own JSON?
    #[test]
    fn json_there_and_back() {
        let text = serde_json::to_string(&Config::default()).unwrap();
        assert_eq!(Config::from_json(&text).unwrap(), Config::default());
    }

    /// Does each kind of wrong value name its key?
    #[test]
    fn wrong_values_name_their_key() {
        for (json, key) in [
            (r#"{"shard": 2}"#, "shard"),
            (r#"{"shards": 65}"#, "shards"),
            (r#"{"limits": {"mailbox_batches": 0}}"#, "limits.mailbox_batches"),
            (r#"{"limits": {"output_high_bytes": 99999999}}"#, "limits.output_high_bytes"),
            (r#"{"streams": {"a": {"filter": "x"}}}"#, "data_dir"),
            (r#"{"data_dir": "d", "streams": {"a": {"filter": "a/#/b"}}}"#, "streams.a.filter"),
            (r#"{"data_dir": "d", "streams": {"a": {"filter": "x", "partitions": 0}}}"#, "streams.a.partitions"),
        ] {
            let error = Config::from_json(json).unwrap_err().to_string();
            assert!(error.contains(key), "{json}: {error}");
        }
    }
}
