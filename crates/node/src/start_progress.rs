//! How far a start has come with reading the log of the data groups.

use std::sync::atomic::{AtomicU64, Ordering};

/// Told by the thread that starts a node; anybody may look, at any time.
#[derive(Debug, Default)]
pub struct StartProgress {
    read_bytes: AtomicU64,
    bytes: AtomicU64,
}

impl StartProgress {
    /// Bytes that were read, and how many there are to read in all: snapshots, and the log behind them. Both are 0 until that is
    /// known, and where nothing is kept.
    pub fn bytes(&self) -> (u64, u64) {
        // The first was counted after the second was known.
        let read = self.read_bytes.load(Ordering::Acquire);
        (read, self.bytes.load(Ordering::Relaxed))
    }

    pub(crate) fn begin(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn read(&self, bytes: u64) {
        self.read_bytes.fetch_add(bytes, Ordering::Release);
    }
}
