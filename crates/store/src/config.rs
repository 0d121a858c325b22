//! What may be set on the log and on a stream, and the limits of both.

use crate::error::StoreError;

/// Limits of one node's log.
#[derive(Debug, Clone)]
pub struct LogConfig {
    /// Bytes that may wait for a commit before `append` says `Pending`. Default 64 MiB.
    pub pending_bytes_max: usize,
    /// The largest body. Default 16 MiB; never above 256 MiB, the largest MQTT packet.
    pub body_bytes_max: usize,
    /// Named readers remembered per stream. Default 64.
    pub readers_max: usize,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { pending_bytes_max: 64 << 20, body_bytes_max: 16 << 20, readers_max: 64 }
    }
}

/// One stream as the configuration names it.
#[derive(Debug, Clone)]
pub struct StreamConfig {
    /// 1 to 64 of letters, digits, `.`, `_`, `-`; not starting with a dot. It is the folder's name too.
    pub name: String,
    /// 1 to [`StreamConfig::PARTITIONS_MAX`]; fixed when the stream is made.
    pub partitions: u32,
    /// Oldest segments go when the stream holds more than this. 0: no limit.
    pub retain_bytes: u64,
    /// Segments go when their last record is older than this, in milliseconds. 0: no limit. Default 24 hours.
    pub retain_age_ms: u64,
    /// Size of a segment file, 64 KiB to 1 GiB. Default 64 MiB; less when `retain_bytes` is small.
    pub segment_bytes: u64,
}

impl StreamConfig {
    /// The most partitions one stream may have.
    pub const PARTITIONS_MAX: u32 = 1024;
    const SEGMENT_BYTES_MIN: u64 = 64 << 10;
    const SEGMENT_BYTES_MAX: u64 = 1 << 30;
    /// What is reserved of a segment for which nothing waits: it grows.
    const SMALL_BYTES: u64 = 256 << 10;

    /// A stream with the defaults: 24 hours, no limit in bytes, 64 MiB segments.
    pub fn new(name: impl Into<String>, partitions: u32) -> Self {
        let day_ms = 24 * 60 * 60 * 1000;
        Self { name: name.into(), partitions, retain_bytes: 0, retain_age_ms: day_ms, segment_bytes: 64 << 20 }
    }

    /// The size that segments really get: retention deletes whole segments, so a small `retain_bytes` needs small ones.
    pub(crate) fn segment_bytes_effective(&self) -> u64 {
        match self.retain_bytes {
            0 => self.segment_bytes,
            limit => self.segment_bytes.min((limit / 4).max(Self::SEGMENT_BYTES_MIN)),
        }
    }

    /// What is reserved of a segment that begins with nothing to write, so that an idle stream takes little of the disk.
    pub(crate) fn small_segment_bytes(&self) -> u64 {
        self.segment_bytes_effective().min(Self::SMALL_BYTES)
    }

    /// Checks every value; the error names the key, the value and what is allowed.
    pub fn validate(&self) -> Result<(), StoreError> {
        let refuse = |key, value: String, why| Err(StoreError::Setting { stream: self.name.clone(), key, value, why });
        if !is_name(&self.name) || self.name.starts_with('.') {
            let why = "use 1 to 64 of letters, digits, '.', '_', '-', not starting with a dot";
            return refuse("name", self.name.clone(), why);
        }
        if !(1..=Self::PARTITIONS_MAX).contains(&self.partitions) {
            return refuse("partitions", self.partitions.to_string(), "use 1 to 1024");
        }
        if !(Self::SEGMENT_BYTES_MIN..=Self::SEGMENT_BYTES_MAX).contains(&self.segment_bytes) {
            return refuse("segment_bytes", self.segment_bytes.to_string(), "use 64 KiB to 1 GiB");
        }
        Ok(())
    }
}

/// Names that are safe as a file name and as a part of a URL.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}
