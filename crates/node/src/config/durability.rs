//! Where it lies what the node has promised to keep.

use serde::{Deserialize, Serialize};

/// How long a promise holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// What is acknowledged is on disk, and there after a crash.
    #[default]
    Disk,
    /// As long as the node runs.
    Memory,
}
