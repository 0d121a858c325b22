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
/// What may lie in a folder that says no format yet: what a start that a crash has cut short leaves, and what a file system
/// makes in its own root.
const NOBODYS: [&str; 2] = ["lock", "lost+found"];
const DRAFT: &str = "format.tmp";
/// So many names are told of what somebody else has in a folder.
const TOLD_NAMES: usize = 3;

/// The folder says which format it has; a new one is told.
///
/// # Errors
/// `FormatVersion`, `Foreign`, `Corrupt`, `Full`, `Io`.
pub(crate) fn check_format(disk: &dyn Disk, dir: &Path) -> Result<(), StoreError> {
    disk.create_dir(dir).map_err(|error| StoreError::io("make the folder", dir, error))?;
    match look_at(disk, dir)? {
        Some(_) => Ok(()),
        None => write(disk, &dir.join(FILE), 1),
    }
}

/// The version that a folder says it has, `None` where it is to be made or has nothing yet; what a start would refuse is
/// refused, and nothing written.
///
/// # Errors
/// `FormatVersion`, `Foreign`, `Corrupt`, `Io`.
pub(crate) fn look_at(disk: &dyn Disk, dir: &Path) -> Result<Option<u32>, StoreError> {
    let file = dir.join(FILE);
    match disk::read_whole(disk, &file, BYTES_MAX) {
        Ok(bytes) => version_in(&bytes).map(Some).map_err(|found| unknown(&file, found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => check_owner(disk, dir).map(|()| None),
        Err(error) => Err(StoreError::io("read", &file, error)),
    }
}

/// Refuses a folder that is somebody else's, before anything is written into it.
///
/// # Errors
/// `Foreign`, `Corrupt`, `Io`.
pub(crate) fn check_owner(disk: &dyn Disk, dir: &Path) -> Result<(), StoreError> {
    match disk.list(dir) {
        Ok(names) if names.iter().any(|name| name == FILE) => Ok(()),
        Ok(names) => check_names(dir, &names),
        // It is made next, or found to be a file.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(()),
        Err(error) => Err(StoreError::io("list", dir, error)),
    }
}

/// Of a folder that says no format.
fn check_names(dir: &Path, names: &[String]) -> Result<(), StoreError> {
    if names.iter().any(|name| name == "streams" || name == "log") {
        let what = "the file is missing while streams or a journal are there";
        return Err(StoreError::corrupt(&dir.join(FILE), 0, what));
    }
    let mut foreign: Vec<&String> =
        names.iter().filter(|name| !NOBODYS.contains(&name.as_str()) && *name != DRAFT).collect();
    if foreign.is_empty() {
        return Ok(());
    }
    foreign.sort_unstable();
    let told = foreign.iter().take(TOLD_NAMES).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let more = foreign.len().saturating_sub(TOLD_NAMES);
    let found = if more == 0 { told } else { format!("{told} and {more} more") };
    Err(StoreError::Foreign { dir: dir.to_path_buf(), found })
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

    /// Is a folder with somebody else's files refused by what is there, and left as it was; and one of our own not, whatever lies
    /// beside?
    #[test]
    fn a_folder_of_somebody_else_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let check = |dir: &Path| (check_owner(&OsDisk, dir), check_format(&OsDisk, dir));
        let put = |name: &str| fs::write(folder.path().join(name), "theirs").expect("written");
        ["letter \u{1b}.txt", "b", ".profile", "z"].into_iter().for_each(put);
        let (Err(refused), Err(again)) = check(folder.path()) else { panic!("taken") };
        let text = refused.to_string();
        assert!(matches!(refused, StoreError::Foreign { .. }) && text == again.to_string(), "{text}");
        assert!(text.contains(r#"".profile", "b", "letter \u{1b}.txt" and 1 more"#), "{text}");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 4);

        let own = tempfile::tempdir().expect("a folder");
        fs::create_dir(own.path().join("lost+found")).expect("made");
        assert!(matches!(look_at(&OsDisk, own.path()), Ok(None)) && !own.path().join(FILE).exists(), "only looked at");
        ["lock", "format.tmp"].iter().for_each(|name| fs::write(own.path().join(name), "").expect("written"));
        assert!(matches!(check(own.path()), (Ok(()), Ok(()))), "what a start cut short has left");
        fs::write(own.path().join("notes.txt"), "beside").expect("written");
        assert!(matches!(check(own.path()), (Ok(()), Ok(()))), "ours, with a stray file");
        assert!(matches!(look_at(&OsDisk, own.path()), Ok(Some(1))));
        assert!(matches!(look_at(&OsDisk, &own.path().join("new")), Ok(None)));
    }
}
