//! A file system that counts the bytes that are read from it.

use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sim::SimDisk;
use lapwing_store::disk::{Access, Disk, DiskFile};

/// The simulated file system; clones are the same one.
#[derive(Debug, Clone)]
pub struct CountedDisk {
    disk: SimDisk,
    read_bytes: Arc<AtomicU64>,
}

impl CountedDisk {
    pub fn new() -> Self {
        Self { disk: SimDisk::new(1), read_bytes: Arc::default() }
    }

    /// Bytes read since the last call.
    pub fn take_read_bytes(&self) -> u64 {
        self.read_bytes.swap(0, Ordering::Relaxed)
    }
}

impl Disk for CountedDisk {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        self.disk.create_dir(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.disk.list(dir)
    }

    fn open(&self, file: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.open(file, access)?;
        Ok(Arc::new(CountedFile { file, read_bytes: self.read_bytes.clone() }))
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

#[derive(Debug)]
struct CountedFile {
    file: Arc<dyn DiskFile>,
    read_bytes: Arc<AtomicU64>,
}

impl DiskFile for CountedFile {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        let read = self.file.read_at(bytes, at)?;
        self.read_bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }

    fn write_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        self.file.write_at(parts, at)
    }

    fn sync(&self) -> io::Result<()> {
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
