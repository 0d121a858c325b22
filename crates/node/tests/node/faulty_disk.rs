//! A disk that is full, or fails to sync, while a flag says so.

use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lapwing_store::disk::{Access, Disk, DiskFile, OsDisk};

/// "No space left on device", as Linux numbers it.
const ENOSPC: i32 = 28;

/// The real disk with a fault on demand.
#[derive(Debug)]
pub struct FaultyDisk {
    disk: OsDisk,
    faults: Faults,
}

#[derive(Clone, Debug, Default)]
struct Faults {
    full: Arc<AtomicBool>,
    failing_sync: Arc<AtomicBool>,
}

#[derive(Debug)]
struct FaultyFile {
    file: Arc<dyn DiskFile>,
    faults: Faults,
}

impl FaultyDisk {
    pub fn full_when(full: Arc<AtomicBool>) -> Self {
        FaultyDisk { disk: OsDisk, faults: Faults { full, ..Faults::default() } }
    }

    pub fn failing_sync_when(failing_sync: Arc<AtomicBool>) -> Self {
        FaultyDisk { disk: OsDisk, faults: Faults { failing_sync, ..Faults::default() } }
    }
}

impl Faults {
    fn check_space(&self) -> io::Result<()> {
        if self.full.load(Ordering::Relaxed) { Err(io::Error::from_raw_os_error(ENOSPC)) } else { Ok(()) }
    }
}

impl Disk for FaultyDisk {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        self.disk.create_dir(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.disk.list(dir)
    }

    fn open(&self, file: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.open(file, access)?;
        Ok(Arc::new(FaultyFile { file, faults: self.faults.clone() }))
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

impl DiskFile for FaultyFile {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        self.file.read_at(bytes, at)
    }

    fn write_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        self.faults.check_space()?;
        self.file.write_at(parts, at)
    }

    fn sync(&self) -> io::Result<()> {
        if self.faults.failing_sync.load(Ordering::Relaxed) {
            return Err(io::Error::other("a fault of the test"));
        }
        self.file.sync()
    }

    fn allocate(&self, bytes: u64) -> io::Result<bool> {
        self.faults.check_space()?;
        self.file.allocate(bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    fn bytes(&self) -> io::Result<u64> {
        self.file.bytes()
    }
}
