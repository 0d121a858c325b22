//! The file operations that the log needs, as a trait, so that a test can put faults and crashes between any two.
//!
//! The cost of the dynamic call is nothing beside the system call behind it.

#[cfg(feature = "tests")]
mod intercepted;
mod os;
mod overlay;

use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;

use crate::error::StoreError;

#[cfg(feature = "tests")]
pub use intercepted::{Intercept, InterceptedDisk};
pub(crate) use os::FILE_MODE;
pub use os::OsDisk;
pub use overlay::Overlay;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It is there; for reading.
    Read,
    /// It is there; for reading and writing.
    Write,
    /// It is made, or emptied when it is there.
    Create,
}

/// A file system.
pub trait Disk: Debug + Send + Sync {
    /// Makes a folder and its parents.
    fn create_dir(&self, dir: &Path) -> io::Result<()>;
    /// Names of the entries of a folder, in no order.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Opens a file.
    fn open(&self, file: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>>;
    /// Gives a file another name, replacing what bears it. Durable after `sync_dir`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file. Durable after `sync_dir`.
    fn remove(&self, file: &Path) -> io::Result<()>;
    /// Makes the entries of a folder durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
}

/// An open file. Stays readable when its name is removed.
pub trait DiskFile: Debug + Send + Sync {
    /// Reads at a position; fewer bytes than asked for only at the end.
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize>;
    /// Writes all parts one behind the other at a position. After an error any of it may have been written.
    fn write_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()>;
    /// Makes contents and length durable (`fdatasync`).
    fn sync(&self) -> io::Result<()>;
    /// Reserves space for the first `bytes` bytes and grows the file to them; false where this cannot be done.
    fn allocate(&self, bytes: u64) -> io::Result<bool>;
    /// Cuts or grows (with zeros) the file.
    fn set_len(&self, bytes: u64) -> io::Result<()>;
    /// The length in bytes.
    fn bytes(&self) -> io::Result<u64>;
}

/// Replaces `file` by these bytes: whoever opens it later, even after a crash, finds the old or the new ones, whole.
///
/// # Errors
/// Those of the disk; the old ones are there then.
pub fn replace(disk: &dyn Disk, file: &Path, contents: &[u8]) -> io::Result<()> {
    let draft = file.with_extension("tmp");
    let handle = disk.open(&draft, Access::Create)?;
    handle.write_at(&[IoSlice::new(contents)], 0)?;
    handle.sync()?;
    disk.rename(&draft, file)?;
    disk.sync_dir(file.parent().unwrap_or(Path::new(".")))
}

/// Makes the names durable that are found in a folder when it is opened: a process that was killed may have given them
/// without syncing the folder, and what is synced into a file is worth as much as its name.
pub(crate) fn sync_names(disk: &dyn Disk, dir: &Path) -> Result<(), StoreError> {
    disk.sync_dir(dir).map_err(|error| StoreError::sync("sync of the folder", dir, error))
}

/// Reads a whole file of at most `bytes_max` bytes.
///
/// # Errors
/// `InvalidData`: it has more. Those of the disk.
pub fn read_whole(disk: &dyn Disk, file: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let handle = disk.open(file, Access::Read)?;
    let bytes = handle.bytes()?;
    if bytes > bytes_max {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{bytes} bytes where {bytes_max} are the most"),
        ));
    }
    let mut contents = vec![0; bytes as usize];
    let read = handle.read_at(&mut contents, 0)?;
    contents.truncate(read);
    Ok(contents)
}
