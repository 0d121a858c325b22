//! What may be set on the journal.

use crate::error::StoreError;

/// Limits of one node's journal.
#[derive(Debug, Clone)]
pub struct JournalConfig {
    /// Size of a segment file, 64 KiB to 1 GiB. Default 64 MiB.
    pub segment_bytes: u64,
    /// What is reserved of the first segment of a folder to begin with, `segment_bytes` at most: it grows. Default 4 MiB.
    pub first_bytes: u64,
    /// Bytes that may wait for a commit before `append` says `Pending`. Default 64 MiB.
    pub pending_bytes_max: usize,
    /// The largest body. Default 16 MiB; never above 256 MiB, the largest MQTT packet.
    pub body_bytes_max: usize,
    /// Zeros are written to a segment before its records, by a [`super::RoomThread`]: its commits are quicker then. Default true.
    pub init_zero: bool,
}

impl Default for JournalConfig {
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            first_bytes: 4 << 20,
            pending_bytes_max: 64 << 20,
            body_bytes_max: 16 << 20,
            init_zero: true,
        }
    }
}

impl JournalConfig {
    /// Checks every value; the error names the key, the value and what is allowed.
    ///
    /// # Errors
    /// `JournalSetting`.
    pub fn validate(&self) -> Result<(), StoreError> {
        if !(64 << 10..=1 << 30).contains(&self.segment_bytes) {
            let (key, value) = ("segment_bytes", self.segment_bytes.to_string());
            return Err(StoreError::JournalSetting { key, value, why: "use 64 KiB to 1 GiB" });
        }
        Ok(())
    }

    /// What is kept free behind the entries of a segment for the journal's own records, so that a full disk does not keep it
    /// from recording that segments are to be deleted.
    pub(crate) fn own_bytes(&self) -> u64 {
        (self.segment_bytes / 64).min(64 << 10)
    }
}
