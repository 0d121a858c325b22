//! A disk that tells of each sync of a file, when that is done and before its caller knows.

use std::fmt;
use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;

use lapwing_store::disk::{Access, Disk, DiskFile, OsDisk};

#[derive(Clone)]
struct Watcher(Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

/// The real disk, watched.
#[derive(Debug)]
pub struct WatchedDisk {
    disk: OsDisk,
    synced: Watcher,
}

#[derive(Debug)]
struct WatchedFile {
    file: Arc<dyn DiskFile>,
    synced: Watcher,
}

impl WatchedDisk {
    pub fn new(disk: OsDisk, synced: impl Fn() + Send + Sync + 'static) -> Self {
        WatchedDisk { disk, synced: Watcher(Arc::new(synced)) }
    }
}

impl Disk for WatchedDisk {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        self.disk.create_dir(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.disk.list(dir)
    }

    fn open(&self, file: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.open(file, access)?;
        Ok(Arc::new(WatchedFile { file, synced: self.synced.clone() }))
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

impl DiskFile for WatchedFile {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        self.file.read_at(bytes, at)
    }

    fn write_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        self.file.write_at(parts, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()?;
        (self.synced.0)();
        Ok(())
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
