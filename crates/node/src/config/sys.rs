//! The `$SYS` tree.

use serde::{Deserialize, Serialize};

/// How often the node publishes its own numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SysConfig {
    /// Time between two publications; 0: there is no `$SYS` tree.
    pub interval_ms: u64,
}

impl Default for SysConfig {
    fn default() -> Self {
        SysConfig { interval_ms: 10_000 }
    }
}
