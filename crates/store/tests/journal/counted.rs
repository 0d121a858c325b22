//! The bytes that are read from a file system, counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sim::SimDisk;
use lapwing_store::disk::{Intercept, InterceptedDisk};

#[derive(Debug, Default)]
pub struct ReadBytes(AtomicU64);

impl ReadBytes {
    /// Bytes read since the last call.
    pub fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl Intercept for ReadBytes {
    fn on_bytes_read(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// The simulated file system, and what is read from it.
pub fn counted_disk() -> (InterceptedDisk, Arc<ReadBytes>) {
    let read_bytes = Arc::<ReadBytes>::default();
    (InterceptedDisk::new(Arc::new(SimDisk::new(1)), read_bytes.clone()), read_bytes)
}
