//! A disk whose syncs take their time, so that what waits for them can be met.

use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lapwing_store::disk::{Access, Disk, DiskFile, OsDisk};

/// The real disk; each sync of a file takes at least `sync_ms` milliseconds.
#[derive(Debug)]
pub struct SlowDisk {
    disk: OsDisk,
    sync_ms: Arc<AtomicU64>,
}

#[derive(Debug)]
struct SlowFile {
    file: Arc<dyn DiskFile>,
    sync_ms: Arc<AtomicU64>,
}

impl SlowDisk {
    /// `sync_ms`: may be changed at any time.
    pub fn new(sync_ms: Arc<AtomicU64>) -> Self {
        SlowDisk { disk: OsDisk, sync_ms }
    }
}

impl Disk for SlowDisk {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        self.disk.create_dir(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.disk.list(dir)
    }

    fn open(&self, file: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.open(file, access)?;
        Ok(Arc::new(SlowFile { file, sync_ms: self.sync_ms.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, file: &Path) -> io::Result<()> {
        self.disk.remove(file)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.disk.sync_dir(dir)
    }
}

impl DiskFile for SlowFile {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        self.file.read_at(bytes, at)
    }

    fn write_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        self.file.write_at(parts, at)
    }

    fn sync(&self) -> io::Result<()> {
        // The fault itself, not a wait for something else.
        std::thread::sleep(Duration::from_millis(self.sync_ms.load(Ordering::Relaxed)));
        self.file.sync()
    }

    fn allocate(&self, bytes: u64) -> io::Result<bool> {
        self.file.allocate(bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    fn bytes(&self) -> io::Result<u64> {
        self.file.bytes()
    }
}
