//! The node's configuration, as Python hands it over in JSON: every limit has a default and a unit in its name.
//!
//! Python owns files, environment and flags (and their messages to the user); here each value is checked once more,
//! because a limit of zero would hang a shard.

mod audit;
mod auth;
mod dispatch;
mod durability;
mod envelope;
mod events;
mod group_choices;
mod group_rule;
mod groups;
mod guesses;
mod hold;
mod hooks;
mod identity_source;
mod limits;
mod listeners;
mod queue_policy;
mod sn;
mod strategy_table;
mod streams;
mod sys;
mod topics;

use std::collections::BTreeMap;
use std::path::PathBuf;

use lapwing_access::{AuthConfig, RuleConfig};
use serde::{Deserialize, Serialize};

use crate::error::NodeError;
use crate::slot::DATA_GROUPS;

pub use audit::{AuditConfig, AuditFailure};
pub(crate) use auth::authority;
pub use auth::check_access;
pub use dispatch::DispatchConfig;
pub use durability::Durability;
pub use envelope::{EnvelopeConfig, StampPolicy};
pub use events::EventsConfig;
pub use group_choices::{Acknowledges, Expired, GroupKey, Overflow};
pub use group_rule::{DEADLINE_MS_MAX, GroupRule, Priority};
pub use groups::{GROUP_TABLES_MAX, GroupConfig, for_share};
pub use guesses::GuessesConfig;
pub use hold::HoldConfig;
pub use hooks::{HooksConfig, OnFailure};
pub use identity_source::{ClientCertificateMode, IdentitySource};
pub use limits::Limits;
pub use listeners::ListenerConfig;
pub use queue_policy::QueuePolicy;
pub use sn::{PredefinedTopic, SnConfig};
pub use strategy_table::{default_tables_json, dispatch_table_json};
pub use streams::{StreamConfig, StreamKey};
pub use sys::SysConfig;
pub use topics::TopicConfig;
pub(crate) use topics::{TopicTables, check_topics};

/// Everything a node is started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Addresses of listeners with default settings, `tcp://HOST:PORT`; port 0 takes any free one.
    pub listen: Vec<String>,
    /// Listeners with settings of their own, behind those.
    pub listeners: Vec<ListenerConfig>,
    /// Number of event loops; 0 means one per core that this process may use, and one where these are two.
    pub shards: u32,
    /// Pin each event loop to a core of its own.
    pub pin: bool,
    /// First core to pin to; shard N takes core `pin_first + N`, modulo the cores there are.
    pub pin_first: u32,
    /// Folder of the log; must be set when there are streams. Without one nothing outlives the node.
    pub data_dir: Option<PathBuf>,
    /// Whether sessions that outlive their connections, what waits for them, and retained messages are kept in that folder.
    pub durability: Durability,
    /// Write zeros to a segment of the data groups' log before it is used.
    pub log_init_zero: bool,
    /// Where clients may go while this node is away, in the words of MQTT's Server Reference; told when it shuts down.
    pub server_reference: Option<String>,
    /// They are to go there for good: 0x9D instead of 0x9C.
    pub server_moved: bool,
    /// What the Response Information of a client that requests it begins with; its client id follows.
    pub response_information_prefix: Option<String>,
    /// Bounds and times of everything.
    pub limits: Limits,
    /// The `$SYS` tree.
    pub sys: SysConfig,
    /// What clients do, as messages.
    pub events: EventsConfig,
    /// Who came, was refused, changed what.
    pub audit: AuditConfig,
    /// Who has published a message, for clients that ask.
    pub envelope: EnvelopeConfig,
    /// Streams by name.
    pub streams: BTreeMap<String, StreamConfig>,
    /// What holds for messages of some topics, by topic filter.
    pub topics: BTreeMap<String, TopicConfig>,
    /// What holds for every consumer group.
    pub dispatch: DispatchConfig,
    /// Consumer groups by share name, exactly or by a pattern with `*`; see [`for_share`].
    pub groups: BTreeMap<String, GroupConfig>,
    /// Messages that wait for their first subscriber, by filter.
    pub hold: BTreeMap<String, HoldConfig>,
    /// Bounds of the hooks.
    pub hooks: HooksConfig,
    /// Who is known.
    pub auth: AuthConfig,
    /// Who guesses passwords.
    pub guesses: GuessesConfig,
    /// Who may do what; with none, everybody may everything.
    pub rules: Vec<RuleConfig>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: vec!["tcp://127.0.0.1:1883".into()],
            listeners: Vec::new(),
            shards: 0,
            pin: true,
            pin_first: 0,
            data_dir: None,
            durability: Durability::default(),
            log_init_zero: true,
            server_reference: None,
            server_moved: false,
            response_information_prefix: None,
            limits: Limits::default(),
            sys: SysConfig::default(),
            events: EventsConfig::default(),
            audit: AuditConfig::default(),
            envelope: EnvelopeConfig::default(),
            streams: BTreeMap::new(),
            topics: BTreeMap::new(),
            dispatch: DispatchConfig::default(),
            groups: BTreeMap::new(),
            hold: BTreeMap::new(),
            hooks: HooksConfig::default(),
            auth: AuthConfig::default(),
            guesses: GuessesConfig::default(),
            rules: Vec::new(),
        }
    }
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
        if self.keeps_sessions() && self.shards > u32::from(DATA_GROUPS) {
            let what =
                format!("{} is more than {DATA_GROUPS}, the data groups that sessions on disk lie in", self.shards);
            return Err(NodeError::config("shards", what, "Set at most 16, or durability to \"memory\"."));
        }
        self.limits.check()?;
        self.hooks.check()?;
        self.events.check()?;
        self.audit.check()?;
        self.guesses.check()?;
        check_text("server_reference", self.server_reference.as_deref(), "\0")?;
        if self.server_moved && self.server_reference.is_none() {
            let what = "is true, but there is no server_reference to go to".to_owned();
            return Err(NodeError::config("server_moved", what, "Name the other server, or leave this out."));
        }
        check_text("response_information_prefix", self.response_information_prefix.as_deref(), "\0+#")?;
        for (index, listener) in self.listener_numbers().zip(self.all_listeners()) {
            listener.check(index)?;
            if listener.durability == Some(Durability::Disk) && !self.keeps_sessions() {
                let (key, what) =
                    (format!("listeners[{index}].durability"), "is disk, but nothing of the node is".into());
                return Err(NodeError::config(&key, what, "Set the node's durability to disk, and name a data_dir."));
            }
        }
        if !self.streams.is_empty() && self.data_dir.is_none() {
            let what = "is not set, but there are streams to keep".to_owned();
            return Err(NodeError::config("data_dir", what, "Name a folder for the log."));
        }
        for (name, stream) in &self.streams {
            stream.check(name)?;
        }
        check_topics(&self.topics, self.keeps_sessions())?;
        self.dispatch.check()?;
        groups::check_groups(&self.groups)?;
        hold::check_holds(&self.hold, self.keeps_sessions())?;
        check_access(&self.auth)?;
        authority(&self.auth, &self.rules)?;
        Ok(())
    }

    /// Every listener: those of the short form, then those with settings.
    pub fn all_listeners(&self) -> Vec<ListenerConfig> {
        let short = self.listen.iter().map(|url| ListenerConfig::at(url));
        short.chain(self.listeners.iter().cloned()).collect()
    }

    /// By which number errors name each of `all_listeners`: its place in the list that it stands in.
    pub(crate) fn listener_numbers(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.listen.len()).chain(0..self.listeners.len())
    }

    /// The largest packet that any listener takes.
    pub(crate) fn packet_bytes_max(&self) -> u32 {
        let own = self.listeners.iter().filter_map(|listener| listener.packet_bytes_max);
        own.chain([self.limits.packet_bytes_max]).max().unwrap_or(self.limits.packet_bytes_max)
    }

    /// Whether sessions and retained messages are kept on disk.
    pub fn keeps_sessions(&self) -> bool {
        self.data_dir.is_some() && self.durability == Durability::Disk
    }

    /// The number of event loops to start.
    pub fn shard_count(&self) -> u32 {
        let most = if self.keeps_sessions() { u32::from(DATA_GROUPS) } else { SHARDS_MAX };
        match self.shards {
            0 => shards_for(std::thread::available_parallelism().map_or(1, |n| n.get() as u32)).min(most),
            n => n,
        }
    }

    /// The number of threads that do TLS handshakes, if any listener has TLS.
    pub fn handshake_threads(&self) -> u32 {
        match self.limits.handshake_threads {
            0 => self.shard_count().div_ceil(SHARDS_PER_HANDSHAKE_THREAD),
            n => n,
        }
    }
}

/// One for each core, and one for two cores: a message that goes from shard to shard costs more than twice what it costs within
/// one, so two shards carry no more than one does, later, and leave no core to the log and to those beside them (decision 112).
const fn shards_for(cores: u32) -> u32 {
    if cores <= 2 { 1 } else { cores }
}

/// A thread does a thousand handshakes a second at the least, of clients that stay for hours.
const SHARDS_PER_HANDSHAKE_THREAD: u32 = 4;

/// A text that is sent to clients: not empty, not long, without what a string or topic of MQTT must not have.
fn check_text(key: &str, text: Option<&str>, forbidden: &str) -> Result<(), NodeError> {
    let Some(text) = text else { return Ok(()) };
    if text.is_empty() || text.len() > TEXT_BYTES_MAX {
        let what = format!("has {} bytes", text.len());
        return Err(NodeError::config(key, what, "Give it 1 to 1024 bytes, or leave the key out."));
    }
    if let Some(wrong) = text.chars().find(|wrong| forbidden.contains(*wrong)) {
        return Err(NodeError::config(key, format!("contains {wrong:?}"), "Leave that character out."));
    }
    Ok(())
}

/// Longest text of the configuration that is sent to clients, in bytes.
const TEXT_BYTES_MAX: usize = 1024;

/// A set of shards fits one machine word.
pub const SHARDS_MAX: u32 = 64;
#[cfg(test)]
mod tests {
    use super::*;

    /// Is a hop between shards only paid for where there are cores for it?
    #[test]
    fn two_cores_have_one_shard() {
        assert_eq!([1, 2, 3, 4, 64].map(shards_for), [1, 1, 3, 4, 64]);
    }

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
            (r#"{"data_dir": "d", "streams": {"a/b": {"filter": "a"}}}"#, "streams"),
            (r#"{"data_dir": "d", "streams": {"": {"filter": "a"}}}"#, "streams"),
            (r#"{"server_reference": ""}"#, "server_reference"),
            (r#"{"server_moved": true}"#, "server_moved"),
            (r#"{"envelope": {"stamp": "sometimes"}}"#, "always"),
            (r#"{"events": {"queue": 0}}"#, "events.queue"),
            (r#"{"response_information_prefix": "a/#"}"#, "response_information_prefix"),
            (r#"{"limits": {"output_high_bytes": 99999999}}"#, "limits.output_high_bytes"),
            (r#"{"limits": {"memory_high_bytes": 2, "memory_max_bytes": 1}}"#, "limits.memory_high_bytes"),
            (r#"{"limits": {"queue_policy": "drop"}}"#, "drop-newest"),
            (r#"{"streams": {"a": {"filter": "x"}}}"#, "data_dir"),
            (r#"{"data_dir": "d", "streams": {"a": {"filter": "a/#/b"}}}"#, "streams.a.filter"),
            (r#"{"dispatch": {"groups_max": 0}}"#, "dispatch.groups_max"),
            (r#"{"dispatch": {"deadline_property": ""}}"#, "dispatch.deadline_property"),
            (r#"{"dispatch": {"priority_property": "lapwing-deadline-ms"}}"#, "dispatch.priority_property"),
            (r#"{"groups": {"a": {"strategy": "fastest"}}}"#, "groups.a.strategy"),
            (r#"{"hold": {"$SYS/#": {}}}"#, "hold.\"$SYS/#\""),
            (r#"{"hold": {"a/#": {"messages": 0}}}"#, "hold.\"a/#\".messages"),
            (r#"{"hold": {"a/#": {"durability": "disk"}}}"#, "hold.\"a/#\".durability"),
            (r#"{"auth": {"users": [{"name": "alice", "password": "x"}]}}"#, "auth.users.alice.password"),
            (r#"{"rules": [{"identity": "a", "may": ["publish"], "topics": ["%"]}]}"#, "rules.0.topics.0"),
            (r#"{"data_dir": "d", "streams": {"a": {"filter": "x", "partitions": 0}}}"#, "streams.a.partitions"),
            (
                r#"{"listen": [], "listeners": [{"url": "tcp://127.0.0.1:0", "durability": "disk"}]}"#,
                "listeners[0].durability",
            ),
            (r#"{"listeners": [{"url": "tcp://127.0.0.1:0", "mode": "0660"}]}"#, "listeners[0].mode"),
            (r#"{"topics": {"a/#": {"durability": "disk"}}}"#, "topics.a/#.durability"),
        ] {
            let error = Config::from_json(json).unwrap_err().to_string();
            assert!(error.contains(key), "{json}: {error}");
        }
    }
}
