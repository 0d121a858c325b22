//! Messages that wait for their first subscriber, as configured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Durability, Overflow};
use crate::error::NodeError;

/// What waits under one filter, how much of it, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HoldConfig {
    /// Messages that may wait.
    pub messages: u64,
    /// Bytes that may wait.
    pub bytes: u64,
    /// How long each may wait; 0: for ever.
    pub expiry_ms: u64,
    /// Which message gives way.
    pub overflow: Overflow,
    /// Where they wait; none: as the node's `durability` says.
    pub durability: Option<Durability>,
}

impl Default for HoldConfig {
    fn default() -> Self {
        HoldConfig {
            messages: 1_000_000,
            bytes: 16 << 20,
            expiry_ms: 24 * 3600 * 1000,
            overflow: Overflow::DropOldest,
            durability: None,
        }
    }
}

/// Holds that one node may have.
const HOLDS_MAX: usize = 64;
/// As much as entries of the log take.
const FILTER_BYTES_MAX: usize = 1024;

/// Checks all holds. `keeps_sessions`: there is a disk for them.
pub(super) fn check_holds(holds: &BTreeMap<String, HoldConfig>, keeps_sessions: bool) -> Result<(), NodeError> {
    if holds.len() > HOLDS_MAX {
        let what = format!("has {} tables, more than {HOLDS_MAX}", holds.len());
        return Err(NodeError::config("hold", what, "Join some of them under a wider filter."));
    }
    holds.iter().try_for_each(|(filter, hold)| hold.check(filter, keeps_sessions))
}

impl HoldConfig {
    fn check(&self, filter: &str, keeps_sessions: bool) -> Result<(), NodeError> {
        let key = |field: &str| format!("hold.\"{filter}\"{field}");
        let is_filter = lapwing_codec::topic::validate_filter(filter, &lapwing_codec::Limits::PROTOCOL).is_ok();
        if !is_filter || filter.starts_with('$') || filter.len() > FILTER_BYTES_MAX {
            let what = "is no topic filter of up to 1024 bytes that begins without $".to_owned();
            return Err(NodeError::config(&key(""), what, "Write a filter such as \"commands/#\"."));
        }
        for (field, value) in [(".messages", self.messages), (".bytes", self.bytes)] {
            if value == 0 {
                return Err(NodeError::config(&key(field), "is 0".to_owned(), "Set it to 1 or more."));
            }
        }
        if self.durability == Some(Durability::Disk) && !keeps_sessions {
            let what = "is disk, but nothing of the node is".to_owned();
            let remedy = "Set the node's durability to disk, and name a data_dir.";
            return Err(NodeError::config(&key(".durability"), what, remedy));
        }
        Ok(())
    }

    /// Whether what waits is on disk, on a node that keeps sessions there or does not.
    pub(crate) fn is_durable(&self, keeps_sessions: bool) -> bool {
        keeps_sessions && self.durability != Some(Durability::Memory)
    }
}
