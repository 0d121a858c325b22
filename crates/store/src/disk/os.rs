//! The file system of the operating system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use lapwing_files::{explained, open_file};

use super::{Access, Disk, DiskFile};

/// Payloads lie in these files, past all rules about who may read them: they are their owner's, whatever the umask says.
const FOLDER_MODE: u32 = 0o700;
pub(crate) const FILE_MODE: u32 = 0o600;

/// The real one.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDisk;

impl Disk for OsDisk {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        let made = fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(dir);
        made.map_err(|error| explained(error, dir))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn open(&self, file: &Path, access: Access) -> io::Result<Arc<dyn DiskFile>> {
        let create = access == Access::Create;
        let write = access != Access::Read;
        let mut options = OpenOptions::new();
        options.read(true).write(write).create(create).truncate(create).mode(FILE_MODE);
        Ok(Arc::new(OsFile { handle: open_file(&mut options, 0, file)? }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, file: &Path) -> io::Result<()> {
        fs::remove_file(file).map_err(|error| explained(error, file))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }
}

#[derive(Debug)]
struct OsFile {
    handle: File,
}

impl DiskFile for OsFile {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        let mut read = 0;
        while read < bytes.len() {
            match self.handle.read_at(&mut bytes[read..], at + read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn write_at(&self, parts: &[IoSlice<'_>], at: u64) -> io::Result<()> {
        let mut at = at;
        let mut waiting = parts.to_vec();
        let mut rest = &mut waiting[..];
        IoSlice::advance_slices(&mut rest, 0); // Drops empty parts at the front.
        while !rest.is_empty() {
            match pwritev(&self.handle, rest, at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    at += written as u64;
                    IoSlice::advance_slices(&mut rest, written);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.handle.sync_data()
    }

    fn allocate(&self, bytes: u64) -> io::Result<bool> {
        fallocate(&self.handle, bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.handle.set_len(bytes)
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(self.handle.metadata()?.len())
    }
}

/// The most parts that Linux takes in one call (`IOV_MAX`).
const PARTS_MAX: usize = 1024;

fn pwritev(handle: &File, parts: &[IoSlice<'_>], at: u64) -> io::Result<usize> {
    let count = parts.len().min(PARTS_MAX) as libc::c_int;
    let at = libc::off_t::try_from(at).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: `IoSlice` has the layout of `iovec` (promised by std); the slices outlive the call and the descriptor is
    // open as long as `handle` is borrowed.
    let written = unsafe { libc::pwritev(handle.as_raw_fd(), parts.as_ptr().cast(), count, at) };
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}

#[cfg(target_os = "linux")]
fn fallocate(handle: &File, bytes: u64) -> io::Result<bool> {
    let bytes = libc::off_t::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    loop {
        // SAFETY: plain integers; the descriptor is open as long as `handle` is borrowed.
        if unsafe { libc::fallocate(handle.as_raw_fd(), 0, 0, bytes) } == 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => return Ok(false),
            _ => return Err(error),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn fallocate(_handle: &File, _bytes: u64) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &Path) -> Arc<dyn DiskFile> {
        OsDisk.open(&folder.join("file"), Access::Create).unwrap()
    }

    /// Does a write of more parts than the kernel takes at once arrive whole, in order and at its place?
    #[test]
    fn more_parts_than_one_call_takes_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..3 * PARTS_MAX + 7).map(|n| n as u8).collect();
        let parts: Vec<IoSlice<'_>> = bytes.chunks(1).map(IoSlice::new).collect();
        let file = file(folder.path());
        file.write_at(&parts, 5).unwrap();
        let mut read = vec![0; bytes.len() + 10];
        assert_eq!(file.read_at(&mut read, 0).unwrap(), 5 + bytes.len());
        assert_eq!(read[..5], [0; 5]);
        assert_eq!(read[5..5 + bytes.len()], bytes);
    }

    /// Is what no file can be refused, and does nothing happen to the file then?
    #[test]
    fn sizes_beyond_the_kernels_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path());
        assert_eq!(file.allocate(u64::MAX).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let beyond = file.write_at(&[IoSlice::new(b"x")], u64::MAX);
        assert_eq!(beyond.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(file.bytes().unwrap(), 0);
    }

    /// Where the file system can set space aside: is the file that large then?
    #[test]
    fn space_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path());
        let is_set_aside = file.allocate(1 << 20).unwrap();
        assert_eq!(file.bytes().unwrap(), if is_set_aside { 1 << 20 } else { 0 });
    }
}
