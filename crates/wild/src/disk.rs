//! A disk whose syncs take their time, so that what waits for them can be met.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lapwing_store::disk::{Intercept, InterceptedDisk, OsDisk};

/// Milliseconds that each sync of a file takes at least.
#[derive(Debug)]
struct SlowSyncs(Arc<AtomicU64>);

impl Intercept for SlowSyncs {
    fn on_sync(&self) -> io::Result<()> {
        // The fault itself, not a wait for something else.
        std::thread::sleep(Duration::from_millis(self.0.load(Ordering::Relaxed)));
        Ok(())
    }
}

/// The real disk; each sync of a file takes at least `sync_ms` milliseconds, which may be changed at any time.
pub fn slow_disk(sync_ms: Arc<AtomicU64>) -> InterceptedDisk {
    InterceptedDisk::new(Arc::new(OsDisk), Arc::new(SlowSyncs(sync_ms)))
}
