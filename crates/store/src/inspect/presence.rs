//! Whether the files that a start opens are there, and are files: looked at from outside, and nothing read that is sealed.

use std::io;
use std::path::Path;

use super::folder::DataFolder;
use super::report::{FileKind, Home};
use crate::disk::{Access, Disk, OsDisk};
use crate::error::StoreError;
use crate::journal::Files;
use crate::stream::open::sequences_in;

/// Of the data folder itself.
const ROOT: [&str; 4] = ["format", "lock", "stamps", "clock"];

/// What a start with these streams, and with the journal or without, would refuse of a data folder because a file is gone, or
/// is none. A folder that is to be made is not refused. Reads the segment that the journal writes.
///
/// # Errors
/// `Emptied`, `Corrupt`: a segment is missing. `NotAFile`, `Io`.
pub fn look_at_files(dir: &Path, streams: &[String], has_journal: bool) -> Result<(), StoreError> {
    for name in streams {
        let folder = dir.join("streams").join(name);
        sequences_in(&folder, &names_in(&folder)?)?;
    }
    if has_journal {
        let folder = dir.join("log");
        Files::among(&folder, &names_in(&folder)?)?;
    }
    let folder = match DataFolder::open(std::sync::Arc::new(OsDisk), dir) {
        Err(StoreError::NoData { .. }) => return Ok(()),
        opened => opened?,
    };
    let names: Vec<&str> = folder.streams().collect();
    let is_opened = |home| match home {
        Home::Root => false,
        Home::Journal => has_journal,
        Home::Stream(place) => streams.iter().any(|name| names[place] == name),
    };
    for file in folder.files().iter().filter(|file| is_opened(file.home)) {
        match file.kind {
            FileKind::Segment | FileKind::Kept | FileKind::Meta | FileKind::Snapshot => {}
            _ => continue,
        }
        let path = dir.join(&file.path);
        if file.is_missing {
            return Err(StoreError::corrupt(&path, 0, "the file is missing"));
        }
        check_file(&path)?;
    }
    Ok(())
}

/// Of the files that lie in the data folder itself.
///
/// # Errors
/// `NotAFile`, `Io`.
pub(crate) fn look_at_root(dir: &Path) -> Result<(), StoreError> {
    ROOT.iter().try_for_each(|name| check_file(&dir.join(name)))
}

/// What is not there is left to whoever misses it.
fn check_file(path: &Path) -> Result<(), StoreError> {
    match OsDisk.open(path, Access::Read) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(StoreError::io("open", path, error))
        }
        _ => Ok(()),
    }
}

fn names_in(folder: &Path) -> Result<Vec<String>, StoreError> {
    match OsDisk.list(folder) {
        Ok(names) => Ok(names),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(vec![]),
        Err(error) => Err(StoreError::io("list", folder, error)),
    }
}
