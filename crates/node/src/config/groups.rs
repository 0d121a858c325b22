//! What a consumer group is set to: by share name, exactly or by a pattern with `*`.

use std::collections::BTreeMap;

use lapwing_codec::Limits as CodecLimits;
use lapwing_codec::topic;
use lapwing_dispatch::{ParameterError, Parameters, Strategy, StrategyError, WORKERS_MAX};
use lapwing_groups::Settings;
use serde::{Deserialize, Serialize};

use super::dispatch::DispatchConfig;
use super::group_choices::{Acknowledges, Expired, GroupKey, Overflow};
use super::group_rule::GroupRule;
use crate::error::NodeError;

/// The table of one share name or pattern. Every key has a default and may change while the group runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GroupConfig {
    /// Name of the strategy.
    pub strategy: String,
    /// Numbers of the strategy by name; see `lapwing_dispatch::Parameters::TABLE`.
    pub parameters: BTreeMap<String, f64>,
    /// Whose messages keep their order under `key-ordered`.
    pub key: GroupKey,
    /// A strategy in Python, `package.module:ClassName`, instead of `strategy`.
    pub r#use: Option<String>,
    /// The strategy that answers where the one in Python is late or fails.
    pub fallback: String,
    /// How long the one in Python may take for an answer.
    pub timeout_ms: u64,
    /// Topic filters of durable groups under this name; needs an exact name.
    pub filters: Vec<String>,
    /// A declared group without members and messages ends after this; 0: never.
    pub expiry_ms: u64,
    /// Messages that may wait.
    pub queue_messages_max: u32,
    /// Bytes that may wait.
    pub queue_bytes_max: u64,
    /// What happens beyond these two.
    pub overflow: Overflow,
    /// What happens to work whose deadline passes while it waits.
    pub expired: Expired,
    /// Where dead letters are published.
    pub dead_letter_topic: Option<String>,
    /// Where misses are published; none: nowhere.
    pub missed_topic: Option<String>,
    /// The group is behind when so much work waits, in milliseconds of work; 0: nobody is told.
    pub behind_ms: u64,
    /// What the acknowledgement of members means that declare nothing.
    pub acknowledges: Acknowledges,
    /// How many messages members work on at a time that declare nothing.
    pub workers: u16,
    /// Priority and deadline by topic for messages without the properties; the first that fits.
    pub rules: Vec<GroupRule>,
}

impl Default for GroupConfig {
    fn default() -> Self {
        GroupConfig {
            strategy: Strategy::Auto.name().to_owned(),
            parameters: BTreeMap::new(),
            key: GroupKey::default(),
            r#use: None,
            fallback: Strategy::Auto.name().to_owned(),
            timeout_ms: 5,
            filters: Vec::new(),
            expiry_ms: 0,
            queue_messages_max: 100_000,
            queue_bytes_max: 64 << 20,
            overflow: Overflow::DropOldest,
            expired: Expired::Deliver,
            dead_letter_topic: None,
            missed_topic: None,
            behind_ms: 10_000,
            acknowledges: Acknowledges::Undeclared,
            workers: 1,
            rules: Vec::new(),
        }
    }
}

impl GroupConfig {
    /// Reads and checks the table of `name`.
    ///
    /// # Errors
    /// `Config`: names the key, the value and the remedy.
    pub fn from_json(name: &str, text: &str) -> Result<Self, NodeError> {
        let at = format!("groups.{name}");
        let config: GroupConfig = serde_json::from_str(text)
            .map_err(|error| NodeError::config(&at, error.to_string(), "Correct the key or the value named."))?;
        config.check(name)?;
        Ok(config)
    }

    /// Whether it declares groups: they are there without members.
    pub fn is_durable(&self) -> bool {
        !self.filters.is_empty()
    }

    /// Whether it declares the group on `filter`.
    pub(crate) fn declares(&self, filter: &str) -> bool {
        self.filters.iter().any(|declared| declared == filter)
    }

    /// Whether its name is a pattern.
    pub fn is_pattern(name: &str) -> bool {
        name.contains('*')
    }

    /// As the group itself takes it. `is_durable`: whether this one was declared; another filter of the name was not.
    pub fn settings(&self, dispatch: &DispatchConfig, is_durable: bool) -> Settings {
        Settings {
            is_durable,
            queue_messages_max: self.queue_messages_max as usize,
            queue_bytes_max: self.queue_bytes_max,
            overflow: self.overflow.into(),
            expired: self.expired.into(),
            behind_s: self.behind_ms as f64 / 1000.0,
            tells_missed: self.missed_topic.is_some(),
            members_max: dispatch.members_per_group_max as usize,
            expires_after_us: (self.expiry_ms > 0).then(|| self.expiry_ms.saturating_mul(1000)),
        }
    }

    /// The strategy; where one in Python is used, the one that stands in for it.
    ///
    /// # Errors
    /// No strategy has this name; the error has those there are.
    pub fn strategy(&self) -> Result<Strategy, StrategyError> {
        if self.r#use.is_some() { self.fallback.parse() } else { self.strategy.parse() }
    }

    /// The strategy's numbers.
    ///
    /// # Errors
    /// An unknown name, a value out of range; the error has names and range.
    pub fn parameters(&self) -> Result<Parameters, ParameterError> {
        let mut parameters = Parameters::default();
        for (name, value) in &self.parameters {
            parameters.set(name, *value)?;
        }
        Ok(parameters)
    }

    /// The first rule that is about messages of `topic`.
    pub fn rule_for(&self, topic: &str) -> Option<&GroupRule> {
        self.rules.iter().find(|rule| rule.fits(topic))
    }

    pub(crate) fn check(&self, name: &str) -> Result<(), NodeError> {
        check_name(name)?;
        let key = |field: &str| format!("groups.{name}.{field}");
        self.check_choice(&key)?;
        self.check_numbers(&key)?;
        self.check_filters(name, &key)?;
        self.check_topics(&key)?;
        for (index, rule) in self.rules.iter().enumerate() {
            rule.check(&key(&format!("rules.{index}")))?;
        }
        Ok(())
    }

    fn check_choice(&self, key: &dyn Fn(&str) -> String) -> Result<(), NodeError> {
        for (field, name) in [("strategy", &self.strategy), ("fallback", &self.fallback)] {
            if let Err(error) = name.parse::<Strategy>() {
                return Err(NodeError::config(&key(field), error.to_string(), "Name one of them."));
            }
        }
        if let Err(error) = self.parameters() {
            return Err(NodeError::config(&key("parameters"), error.to_string(), "Correct it, or leave it out."));
        }
        match self.r#use.as_deref() {
            Some(class) if !class.contains(':') => {
                let what = format!("{class:?} names no class");
                Err(NodeError::config(&key("use"), what, "Write \"package.module:ClassName\"."))
            }
            _ => Ok(()),
        }
    }

    fn check_numbers(&self, key: &dyn Fn(&str) -> String) -> Result<(), NodeError> {
        let ranges = [
            ("timeout_ms", self.timeout_ms, 1, TIMEOUT_MS_MAX),
            ("queue_messages_max", u64::from(self.queue_messages_max), 1, u64::from(u32::MAX)),
            ("queue_bytes_max", self.queue_bytes_max, 1, i64::MAX as u64),
            ("workers", u64::from(self.workers), 1, u64::from(WORKERS_MAX)),
            ("rules", self.rules.len() as u64, 0, RULES_MAX),
            ("filters", self.filters.len() as u64, 0, FILTERS_MAX),
        ];
        match ranges.into_iter().find(|(_, value, low, high)| !(low..=high).contains(&value)) {
            Some((field, value, low, high)) => {
                let what = format!("{value} is not from {low} to {high}");
                Err(NodeError::config(&key(field), what, "Keep it in this range."))
            }
            None => Ok(()),
        }
    }

    fn check_filters(&self, name: &str, key: &dyn Fn(&str) -> String) -> Result<(), NodeError> {
        if self.is_durable() && Self::is_pattern(name) {
            let what = "is given for a pattern".to_owned();
            return Err(NodeError::config(&key("filters"), what, "Declare durable groups under a name without *."));
        }
        for (index, filter) in self.filters.iter().enumerate() {
            check_filter(&key(&format!("filters.{index}")), filter, &CodecLimits::default())?;
            if self.filters[..index].contains(filter) {
                let what = format!("\"{filter}\" is there twice");
                return Err(NodeError::config(&key(&format!("filters.{index}")), what, "Remove one of them."));
            }
        }
        Ok(())
    }

    fn check_topics(&self, key: &dyn Fn(&str) -> String) -> Result<(), NodeError> {
        for (field, topic) in [("dead_letter_topic", &self.dead_letter_topic), ("missed_topic", &self.missed_topic)] {
            let Some(topic) = topic else { continue };
            check_topic(&key(field), topic)?;
            if let Some(filter) = self.filters.iter().find(|filter| topic::matches(filter, topic)) {
                let what = format!("\"{topic}\" is matched by the group's own filter \"{filter}\"");
                return Err(NodeError::config(&key(field), what, "Write a topic that the group does not take itself."));
            }
        }
        if self.expired == Expired::DeadLetter && self.dead_letter_topic.is_none() {
            let what = "is not set, but expired is \"dead-letter\"".to_owned();
            return Err(NodeError::config(&key("dead_letter_topic"), what, "Name the topic for dead letters."));
        }
        Ok(())
    }
}

/// The table that holds for a share name: its own, else that of the longest pattern, else none.
pub fn for_share<'a, T>(groups: &'a BTreeMap<String, T>, share: &str) -> Option<&'a T> {
    let exact = groups.get(share);
    let patterns = groups.iter().filter(|(name, _)| GroupConfig::is_pattern(name));
    let fits = patterns.filter(|(pattern, _)| lapwing_access::matches_wildcard(pattern, share));
    // Of several as long the first by name: the order of a file must not decide.
    exact.or_else(|| fits.rev().max_by_key(|(pattern, _)| pattern.len()).map(|(_, config)| config))
}

/// How many tables there may be: a SUBSCRIBE looks through the patterns.
pub const GROUP_TABLES_MAX: usize = 1000;

/// Checks every table.
pub(super) fn check_groups(groups: &BTreeMap<String, GroupConfig>) -> Result<(), NodeError> {
    if groups.len() > GROUP_TABLES_MAX {
        let what = format!("has {} tables, more than {GROUP_TABLES_MAX}", groups.len());
        return Err(NodeError::config("groups", what, "Use one pattern such as \"alarm-*\" for many."));
    }
    groups.iter().try_for_each(|(name, group)| group.check(name))
}

fn check_name(name: &str) -> Result<(), NodeError> {
    let is_long = name.is_empty() || name.len() > NAME_BYTES_MAX;
    if is_long || name.contains(['/', '+', '#']) || name.chars().any(char::is_control) {
        let what = format!("{name:?} is not the name of a group");
        return Err(NodeError::config("groups", what, "Use 1 to 256 bytes without '/', '+' and '#'."));
    }
    Ok(())
}

/// Checks the name of a topic that the node publishes to on its own.
fn check_topic(key: &str, topic: &str) -> Result<(), NodeError> {
    let remedy = "Write a topic such as \"dead/alarms\".";
    topic::validate_topic_name(topic, &CodecLimits::default())
        .map_err(|why| NodeError::config(key, format!("\"{topic}\" is not a topic name: {why}"), remedy))?;
    if topic.starts_with('$') {
        let what = format!("\"{topic}\" begins with $: those topics are the broker's own");
        return Err(NodeError::config(key, what, remedy));
    }
    Ok(())
}

pub(super) fn check_filter(key: &str, filter: &str, limits: &CodecLimits) -> Result<(), NodeError> {
    let remedy = "Write a filter such as \"alarms/#\", without $share/.";
    if filter.starts_with("$share/") {
        return Err(NodeError::config(key, format!("\"{filter}\" is no plain topic filter"), remedy));
    }
    topic::validate_filter(filter, limits)
        .map_err(|why| NodeError::config(key, format!("\"{filter}\" is not a topic filter: {why}"), remedy))
}

/// Longest share name in a configuration, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// A strategy in Python that takes longer than this holds up messages for no good.
const TIMEOUT_MS_MAX: u64 = 60_000;
/// Each is looked at per message without properties.
const RULES_MAX: u64 = 1000;
/// Durable groups of one name.
const FILTERS_MAX: u64 = 1000;

#[cfg(test)]
mod tests;
