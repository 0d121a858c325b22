//! One broker per data folder.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use lapwing_files::open_file;

use crate::disk::FILE_MODE;
use crate::error::StoreError;

/// A file that is locked until this is dropped; the system lets go when the process ends, however it ends.
#[derive(Debug)]
pub struct LockedFile(File);

impl Drop for LockedFile {
    /// Lets go in so many words: a child of this process that is just being started has a copy of the descriptor until it
    /// runs its own program, so that closing ours alone would keep the file locked for a moment more.
    fn drop(&mut self) {
        // Fails for no descriptor that once was locked; if it did, the end of the process lets go.
        let _ = flock(&self.0, libc::LOCK_UN);
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

/// Held as long as the writer lives.
#[derive(Debug)]
pub(crate) struct FolderLock {
    file: LockedFile,
    is_named: bool,
}

impl Drop for FolderLock {
    /// The id goes before the lock does: whoever reads it there may send a signal to it.
    fn drop(&mut self) {
        if self.is_named {
            // It is for people, and counts as long as the file is locked.
            let _ = self.file.set_len(0);
        }
    }
}

impl FolderLock {
    /// Takes the lock of `dir` and writes this process's id into it.
    ///
    /// # Errors
    /// `Locked` names the holder; `LookedAt`; `Io`.
    pub(crate) fn take(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join("lock");
        let io = |error| StoreError::io("open", &path, error);
        // Not truncated on opening: the holder's id must stay readable. A link is not followed, as what it leads to would be
        // emptied.
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE);
        let file = open_file(&mut options, libc::O_NOFOLLOW, &path).map_err(io)?;
        let file = locked(file, libc::LOCK_EX).map_err(|refused| refused.told(dir, &path))?;
        // The id is for people; a full disk must not keep the broker from opening, so a failure changes nothing.
        let mut held = &*file;
        let _ = held.set_len(0).and_then(|()| held.rewind()).and_then(|()| writeln!(held, "{}", std::process::id()));
        Ok(Self { file, is_named: true })
    }

    /// Keeps brokers out as long as it lives, together with others that only look; nothing is written, so that it works in
    /// a folder that is read-only. `None`: no broker was ever there.
    ///
    /// # Errors
    /// `Locked` names the broker; `Io`.
    pub(crate) fn look(dir: &Path) -> Result<Option<Self>, StoreError> {
        let path = dir.join("lock");
        let file = match open_file(OpenOptions::new().read(true), libc::O_NOFOLLOW, &path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(StoreError::io("open", &path, error)),
        };
        locked(file, libc::LOCK_SH)
            .map(|file| Some(Self { file, is_named: false }))
            .map_err(|refused| refused.told(dir, &path))
    }
}

/// Locks a file that this process alone is to write.
///
/// # Errors
/// `WouldBlock`: another has it open so.
pub fn lock_alone(file: File) -> io::Result<LockedFile> {
    locked(file, libc::LOCK_EX).map_err(|refused| refused.error)
}

/// Locks a file that this process only looks at.
///
/// # Errors
/// `WouldBlock`: another has it open to write it, see [`lock_alone`].
pub fn lock_to_look(file: File) -> io::Result<LockedFile> {
    locked(file, libc::LOCK_SH).map_err(|refused| refused.error)
}

/// A file that another holds, or that cannot be locked.
struct Refused {
    file: File,
    error: io::Error,
}

impl Refused {
    /// What it means for the folder whose lock the file is.
    fn told(mut self, dir: &Path, path: &Path) -> StoreError {
        if self.error.kind() != io::ErrorKind::WouldBlock {
            return StoreError::io("lock", path, self.error);
        }
        let pid = holder(&mut self.file);
        match locked(self.file, libc::LOCK_SH) {
            // Tools that look write no id: what is in the file is left of a broker that was killed.
            Ok(_) => StoreError::LookedAt { dir: dir.into() },
            Err(_) => StoreError::Locked { dir: dir.into(), pid },
        }
    }
}

fn locked(file: File, how: libc::c_int) -> Result<LockedFile, Refused> {
    match flock(&file, how) {
        Ok(()) => Ok(LockedFile(file)),
        Err(error) => Err(Refused { file, error }),
    }
}

/// Locks or says at once that another holds the lock (`File::try_lock` is newer than the compiler we promise).
fn flock(file: &File, how: libc::c_int) -> io::Result<()> {
    // SAFETY: plain integers; the descriptor is open as long as `file` is borrowed.
    match unsafe { libc::flock(file.as_raw_fd(), how | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_is_told_who_the_first_is() {
        let dir = tempfile::tempdir().expect("a folder");
        let held = FolderLock::take(dir.path()).expect("nobody holds it");
        match FolderLock::take(dir.path()) {
            Err(StoreError::Locked { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
            other => panic!("{other:?}"),
        }
        assert!(matches!(FolderLock::look(dir.path()), Err(StoreError::Locked { .. })));
        drop(held);
        let looking =
            [FolderLock::look(dir.path()).expect("it was let go"), FolderLock::look(dir.path()).expect("two may")];
        assert!(FolderLock::take(dir.path()).is_err(), "nobody changes what is looked at");
        drop(looking);
        FolderLock::take(dir.path()).expect("it was let go");
    }

    /// Is nobody named who has ended, by itself or killed: whoever is told may send a signal there?
    #[test]
    fn who_has_ended_is_not_named() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("lock");
        drop(FolderLock::take(dir.path()).expect("nobody holds it"));
        assert_eq!(std::fs::read(&path).expect("there"), b"", "nothing is left of who let go");
        std::fs::write(&path, "4711\n").expect("written");
        let _looking = FolderLock::look(dir.path()).expect("who was killed holds nothing");
        let refused = FolderLock::take(dir.path()).expect_err("nobody changes what is looked at");
        assert!(matches!(refused, StoreError::LookedAt { .. }), "{refused:?}");
        assert!(!refused.to_string().contains("4711"), "{refused}");
    }

    #[test]
    fn it_is_let_go_although_a_child_that_starts_has_a_copy() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        let open =
            || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).expect("a file");
        let held = lock_alone(open()).expect("nobody holds it");
        assert_eq!(lock_to_look(open()).expect_err("it is held").kind(), io::ErrorKind::WouldBlock);
        let copy = held.try_clone().expect("a descriptor");
        drop(held);
        lock_alone(open()).expect("it was let go");
        drop(copy);
    }

    #[test]
    fn a_folder_without_a_lock_is_looked_at_and_stays_without() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!(FolderLock::look(dir.path()).expect("nobody was here").is_none());
        assert!(!dir.path().join("lock").exists());
    }
}
