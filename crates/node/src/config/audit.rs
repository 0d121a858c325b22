//! The audit trail: where it is written, how much of it is kept, and what happens when it cannot be written.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::NodeError;

/// The audit trail; without a file there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// The file that is written; older ones lie beside it, with `.1`, `.2` and so on behind its name.
    pub file: Option<PathBuf>,
    /// Each line has the hash of the one before it, and its own.
    pub chain: bool,
    /// Bytes from which the next file is begun.
    pub file_bytes: u64,
    /// Files in all; the oldest is removed.
    pub files: u32,
    /// Time after which what was written is on disk (`fdatasync`). 0: after every write.
    pub sync_ms: u64,
    /// What happens when it cannot be written.
    pub on_failure: AuditFailure,
    /// Events that may wait to be written; what comes then is lost, counted, and the trail says how many.
    pub queue: u32,
    /// Refusals of one kind that are written in a minute; beyond, the trail says how many more there were.
    pub refusals_per_minute: u32,
}

/// What happens when the audit trail cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditFailure {
    /// The node goes on with an alarm, and tries again.
    #[default]
    GoOn,
    /// The node stops: nothing is done that is not written.
    Stop,
}

impl Default for AuditConfig {
    fn default() -> Self {
        AuditConfig {
            file: None,
            chain: true,
            file_bytes: 16 << 20,
            files: 10,
            sync_ms: 1_000,
            on_failure: AuditFailure::GoOn,
            queue: 10_000,
            refusals_per_minute: 600,
        }
    }
}

impl AuditConfig {
    pub(super) fn check(&self) -> Result<(), NodeError> {
        let least = [
            ("audit.file_bytes", self.file_bytes, 64 << 10, "Set it to 64 KiB or more."),
            (
                "audit.files",
                u64::from(self.files),
                2,
                "Set it to 2 or more: the one that is written, and an older one.",
            ),
            ("audit.queue", u64::from(self.queue), 1, "Set it to 1 or more."),
            ("audit.refusals_per_minute", u64::from(self.refusals_per_minute), 1, "Set it to 1 or more."),
        ];
        match least.into_iter().find(|(_, value, least, _)| value < least) {
            Some((key, value, _, remedy)) => Err(NodeError::config(key, format!("is {value}"), remedy)),
            None => Ok(()),
        }
    }
}
