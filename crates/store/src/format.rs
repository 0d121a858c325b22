//! The file that says which format a data folder has.
//!
//! Version 1: times in entries of data groups are the wall clock's. Version 2: they are a clock's of the broker's own, which it
//! keeps in a file beside this one, and which stands so far from the wall clock that who does not know it would misread them.
//! Everything else is the same, and a folder stays at version 1 for as long as the clocks agree.

use std::io;
use std::path::Path;

use crate::disk::{self, Disk, OsDisk};
use crate::error::StoreError;

/// The newest that this program reads; it reads all before it too.
const NEWEST: u32 = 2;
const FILE: &str = "format";
const BEGINS: &str = "lapwing-log ";
const BYTES_MAX: u64 = 4096;

/// The folder says which format it has; a new one is told.
///
/// # Errors
/// `FormatVersion`, `Corrupt`, `Full`, `Io`.
pub(crate) fn check_format(disk: &dyn Disk, dir: &Path) -> Result<(), StoreError> {
    disk.create_dir(dir).map_err(|error| StoreError::io("make the folder", dir, error))?;
    let file = dir.join(FILE);
    match disk::read_whole(disk, &file, BYTES_MAX) {
        Ok(bytes) => version_in(&bytes).map(|_| ()).map_err(|found| unknown(&file, found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let names = disk.list(dir).map_err(|error| StoreError::io("list", dir, error))?;
            if names.iter().any(|name| name == "streams" || name == "log") {
                return Err(StoreError::corrupt(&file, 0, "the file is missing while streams or a journal are there"));
            }
            write(disk, &file, 1)
        }
        Err(error) => Err(StoreError::io("read", &file, error)),
    }
}

/// The times in a data folder are not the wall clock's: programs that do not know of that refuse it from now on. Whoever calls
/// holds the folder.
///
/// # Errors
/// `FormatVersion`, `Full`, `Io`, and the fatal ones; the folder is as it was then.
pub fn note_own_clock(dir: &Path) -> Result<(), StoreError> {
    let file = dir.join(FILE);
    let bytes = disk::read_whole(&OsDisk, &file, BYTES_MAX).map_err(|error| StoreError::io("read", &file, error))?;
    match version_in(&bytes) {
        Ok(1) => write(&OsDisk, &file, 2),
        Ok(_) => Ok(()),
        Err(found) => Err(unknown(&file, found)),
    }
}

/// The version that the file's bytes say; otherwise what they say instead.
pub(crate) fn version_in(bytes: &[u8]) -> Result<u32, String> {
    let known = (1..=NEWEST).find(|version| bytes == line(*version).as_bytes());
    known.ok_or_else(|| {
        let text = String::from_utf8_lossy(bytes).trim().to_owned();
        text.strip_prefix(BEGINS).map_or_else(|| format!("{text:?}"), str::to_owned)
    })
}

fn line(version: u32) -> String {
    format!("{BEGINS}{version}\n")
}

fn write(disk: &dyn Disk, file: &Path, version: u32) -> Result<(), StoreError> {
    disk::replace(disk, file, line(version).as_bytes()).map_err(|error| StoreError::write("write", file, error))
}

fn unknown(file: &Path, found: String) -> StoreError {
    StoreError::FormatVersion { file: file.to_path_buf(), found, supported: NEWEST }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Is a folder of either version opened, and does it become one of version 2 for good?
    #[test]
    fn a_folder_with_a_clock_of_its_own_is_of_version_2() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = || fs::read_to_string(folder.path().join(FILE)).expect("there");
        check_format(&OsDisk, folder.path()).expect("a new one");
        assert_eq!(text(), "lapwing-log 1\n");
        for _ in 0..2 {
            note_own_clock(folder.path()).expect("it can be written");
            check_format(&OsDisk, folder.path()).expect("known");
            assert_eq!(text(), "lapwing-log 2\n");
        }
        fs::write(folder.path().join(FILE), "lapwing-log 3\n").expect("written");
        for refused in [check_format(&OsDisk, folder.path()), note_own_clock(folder.path())] {
            assert!(matches!(refused, Err(StoreError::FormatVersion { supported: 2, .. })), "{refused:?}");
        }
        assert_eq!(text(), "lapwing-log 3\n");
    }
}
