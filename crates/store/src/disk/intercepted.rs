//! A disk for tests: another one, and somebody who is asked before and told after what is done with its files. It is
//! there with the feature `tests` only.

use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;

use super::{Access, Disk, DiskFile};

/// Who stands between a disk and its user; does nothing where it does not say otherwise. It is called on the thread that
/// uses the disk, which waits for it.
pub trait Intercept: Debug + Send + Sync {
    /// Bytes are about to be written, or space to be reserved; an error is what the caller gets instead.
    fn on_write(&self) -> io::Result<()> {
        Ok(())
    }

    /// A file is about to be synced; an error is what the caller gets instead.
    fn on_sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// A file is synced, and its caller does not know that yet.
    fn on_synced(&self) {}

    /// So many bytes have come out of a file.
    fn on_bytes_read(&self, _bytes: usize) {}
}

/// A disk with an interceptor; clones are the same one.
#[derive(Debug, Clone)]
pub struct InterceptedDisk {
    disk: Arc<dyn Disk>,
    intercept: Arc<dyn Intercept>,
}

#[derive(Debug)]
struct InterceptedFile {
    file: Arc<dyn DiskFile>,
    intercept: Arc<dyn Intercept>,
}

impl InterceptedDisk {
    /// `intercept`: stands before `disk`, and may be spoken to from elsewhere too.
    pub fn new(disk: Arc<dyn Disk>, intercept: Arc<dyn Intercept>) -> Self {
        Self { disk, intercept }
    }
}

impl Disk for InterceptedDisk {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        self.disk.create_dir(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.disk.list(dir)
    }

    fn open(&self, file: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.open(file, access)?;
        Ok(Arc::new(InterceptedFile { file, intercept: self.intercept.clone() }))
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

impl DiskFile for InterceptedFile {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        let read = self.file.read_at(bytes, at)?;
        self.intercept.on_bytes_read(read);
        Ok(read)
    }

    fn write_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        self.intercept.on_write()?;
        self.file.write_at(parts, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.intercept.on_sync()?;
        self.file.sync()?;
        self.intercept.on_synced();
        Ok(())
    }

    fn allocate(&self, bytes: u64) -> io::Result<bool> {
        self.intercept.on_write()?;
        self.file.allocate(bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    fn bytes(&self) -> io::Result<u64> {
        self.file.bytes()
    }
}
