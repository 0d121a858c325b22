//! What a stream keeps, as configured.

use lapwing_codec::Limits;
use serde::{Deserialize, Serialize};

use super::groups::check_filter;
use crate::error::NodeError;

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

/// As many as the log takes.
const PARTITIONS_MAX: u32 = lapwing_store::StreamConfig::PARTITIONS_MAX;
/// Below this a segment would hold little more than its own records.
const SEGMENT_BYTES_MIN: u64 = 64 << 10;

impl StreamConfig {
    pub(super) fn check(&self, name: &str) -> Result<(), NodeError> {
        let key = |field: &str| format!("streams.{name}.{field}");
        check_filter(&key("filter"), &self.filter, &Limits::PROTOCOL)?;
        if self.partitions == 0 || self.partitions > PARTITIONS_MAX {
            let what = format!("{} is not from 1 to {PARTITIONS_MAX}", self.partitions);
            return Err(NodeError::config(&key("partitions"), what, "Set a number in this range."));
        }
        if self.segment_bytes < SEGMENT_BYTES_MIN {
            let what = format!("{} is less than {SEGMENT_BYTES_MIN}", self.segment_bytes);
            return Err(NodeError::config(&key("segment_bytes"), what, "Leave it out, or set a larger one."));
        }
        if lapwing_store::StreamConfig::new(name, self.partitions).validate().is_err() {
            let what = format!("{name:?} is no name of a stream");
            let remedy = "Use 1 to 64 of letters, digits, '.', '_' and '-', starting with a letter or digit.";
            return Err(NodeError::config("streams", what, remedy));
        }
        Ok(())
    }
}
