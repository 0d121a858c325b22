//! The files of the trail: the one that is written, and so many older ones beside it.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use lapwing_files::open_file;
use lapwing_store::{LockedFile, lock_alone};

use super::chain::Chain;
use super::ending::{Ending, older};

/// Names of people and addresses lie in it: it is its owner's alone, whatever the umask says.
const MODE: u32 = 0o600;

/// The open trail.
#[derive(Debug)]
pub(super) struct TrailFile {
    path: PathBuf,
    file: LockedFile,
    /// Bytes of whole lines. What a refused write has left behind them is written over.
    len: u64,
    /// The last of those: a sync has still to bring them to disk.
    unsynced: Vec<u8>,
    /// The last sync has failed. What it was to write may be gone from memory too, and the next one knows nothing of it.
    is_doubtful: bool,
    file_bytes: u64,
    files: u32,
}

/// A trail as it was found.
pub(super) struct Found {
    pub file: TrailFile,
    /// Where it goes on.
    pub chain: Chain,
    /// Bytes of half a line, which a crash has left, and which were cut off.
    pub cut_bytes: u64,
}

impl TrailFile {
    /// Opens the trail, or begins one; whoever writes it is the only one.
    ///
    /// # Errors
    /// What is wrong with the file, in words.
    pub(super) fn open(path: &Path, chained: bool, file_bytes: u64, files: u32) -> Result<Found, String> {
        let file = opened(path, true).and_then(lock_alone).map_err(|error| in_words(&error))?;
        let io = |error: io::Error| error.to_string();
        let ending = Ending::of(&file).map_err(io)?;
        let chain = ending.goes_on(path, chained)?;
        let (len, cut_bytes) = (ending.whole_bytes(), ending.half_bytes());
        file.set_permissions(Permissions::from_mode(MODE)).map_err(io)?;
        file.set_len(len).map_err(io)?;
        file.sync_data().map_err(io)?;
        let (path, unsynced) = (path.to_owned(), Vec::new());
        let file = TrailFile { path, file, len, unsynced, is_doubtful: false, file_bytes, files };
        Ok(Found { file, chain, cut_bytes })
    }

    /// Writes whole lines behind all others; on an error they may be written again.
    pub(super) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.len > 0 && self.len + lines.len() as u64 > self.file_bytes {
            self.rotate()?;
        }
        self.file.write_all_at(lines, self.len)?;
        self.len += lines.len() as u64;
        self.unsynced.extend_from_slice(lines);
        Ok(())
    }

    /// Bytes that were written since the last sync.
    pub(super) fn unsynced_bytes(&self) -> usize {
        self.unsynced.len()
    }

    /// What was written is on disk when it returns; behind an error it is written once more.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.sync_by(File::sync_data)
    }

    fn sync_by(&mut self, sync: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        if self.is_doubtful {
            self.file.write_all_at(&self.unsynced, self.len - self.unsynced.len() as u64)?;
        }
        let synced = sync(&self.file);
        self.is_doubtful = synced.is_err();
        if synced.is_ok() {
            self.unsynced = Vec::new();
        }
        synced
    }

    /// Whether the file that is written lies where it should: it may have been moved or removed, and what is written then is
    /// found by nobody.
    ///
    /// # Errors
    /// It does not, or nothing can be seen of that.
    pub(super) fn check_place(&self) -> io::Result<()> {
        let path = self.path.display();
        let there = match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(io::Error::other(format!("{path} was moved or removed")));
            }
            there => there.map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?,
        };
        let own = self.file.metadata()?;
        if (there.dev(), there.ino()) == (own.dev(), own.ino()) {
            return Ok(());
        }
        Err(io::Error::other(format!("{path} was moved or removed, and another file lies in its place")))
    }

    /// Goes on where the trail should lie, in a new file, if the one that is written does not lie there; what was written to
    /// that one is on disk there first. Its lines stay in it, and the chain goes on over both.
    ///
    /// # Errors
    /// None can be made there, or something lies there that is not empty.
    pub(super) fn back_to_place(&mut self) -> io::Result<()> {
        if self.check_place().is_ok() {
            return Ok(());
        }
        self.file.set_len(self.len)?;
        self.sync()?;
        let in_place = |what: String| io::Error::other(format!("{}: {what}", self.path.display()));
        let new = opened(&self.path, true).and_then(lock_alone).map_err(|error| in_place(in_words(&error)))?;
        if new.metadata()?.len() > 0 {
            return Err(in_place(
                "another file lies where the trail should be, which was moved: move that away".into(),
            ));
        }
        new.set_permissions(Permissions::from_mode(MODE))?;
        (self.file, self.len) = (new, 0);
        self.sync_folder()
    }

    fn sync_folder(&self) -> io::Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }

    /// Gives every file the next number, the oldest none any more, and begins a new one.
    fn rotate(&mut self) -> io::Result<()> {
        self.file.set_len(self.len)?;
        self.sync()?;
        // Tried again after a failure, it moves nothing twice.
        if self.path.try_exists()? {
            let last = self.files.saturating_sub(1).max(1);
            self.remove_beyond(last)?;
            let free = (1..last).find(|number| !self.older(*number).exists()).unwrap_or(last);
            for number in (1..free).rev() {
                fs::rename(self.older(number), self.older(number + 1))?;
            }
            fs::rename(&self.path, self.older(1))?;
        }
        self.file = create(&self.path)?;
        self.len = 0;
        self.sync_folder()
    }

    /// Removes files behind number `last`, which are there when `files` was larger; the oldest first, so that a crash leaves
    /// none without the one before it.
    fn remove_beyond(&self, last: u32) -> io::Result<()> {
        let is_there = |number: &u32| fs::symlink_metadata(self.older(*number)).is_ok_and(|meta| meta.is_file());
        let beyond: Vec<u32> = (last + 1..).take_while(is_there).collect();
        beyond.into_iter().rev().try_for_each(|number| fs::remove_file(self.older(number)))
    }

    fn older(&self, number: u32) -> PathBuf {
        older(&self.path, number)
    }
}

/// Opens a file for one writer.
fn create(path: &Path) -> io::Result<LockedFile> {
    let file = lock_alone(opened(path, true)?)?;
    file.set_permissions(Permissions::from_mode(MODE))?;
    Ok(file)
}

/// A link is not followed, and a pipe not waited for: others may have laid them there.
pub(super) fn opened(path: &Path, is_made: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(is_made).truncate(false).mode(MODE);
    open_file(&mut options, libc::O_NOFOLLOW, path)
}

pub(super) fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock => "another broker writes it".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
