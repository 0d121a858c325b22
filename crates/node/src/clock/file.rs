//! The file in the data folder that says how the clocks stood.

use std::io;
use std::path::Path;

use super::{ClockMark, LATEST_MS};
use crate::error::NodeError;
use crate::note::Note;

/// The node's milliseconds, a space, the wall clock's.
const NOTE: Note = Note {
    name: "clock",
    begins: "lapwing-clock 1 ",
    then: "two times",
    remedy: "Restore the file, or remove it: what is on disk then expires by the wall clock as it is now.",
};

/// What the folder's file says; nothing where there is none.
///
/// # Errors
/// `Config`: it cannot be read, or says something else.
pub(super) fn read(folder: &Path) -> Result<Option<ClockMark>, NodeError> {
    NOTE.read(folder, parse)
}

/// Whole or not at all, and on disk when it returns.
///
/// # Errors
/// The folder's disk refuses it; what was noted before is there then.
pub(super) fn write(folder: &Path, mark: ClockMark) -> io::Result<()> {
    NOTE.write(folder, &format!("{} {}", mark.node_ms, mark.wall_ms))
}

fn parse(noted: &str) -> Option<ClockMark> {
    let (node_ms, wall_ms) = noted.split_once(' ')?;
    let time = |digits: &str| digits.parse().ok().filter(|ms| *ms <= LATEST_MS);
    Some(ClockMark { node_ms: time(node_ms)?, wall_ms: time(wall_ms)? })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Does a mark come back as it was noted?
    #[test]
    fn a_mark_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        for mark in [ClockMark { node_ms: 1, wall_ms: 0 }, ClockMark { node_ms: LATEST_MS, wall_ms: LATEST_MS }] {
            write(folder.path(), mark).unwrap();
            assert_eq!(read(folder.path()).unwrap(), Some(mark));
        }
    }

    /// Is a file that says something else an error that names it, and not taken for a time?
    #[test]
    fn a_strange_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let huge = format!("lapwing-clock 1 1 {}\n", LATEST_MS + 1);
        for text in ["lapwing-clock 2 1 1\n", "lapwing-clock 1 1\n", "lapwing-clock 1 -1 1\n", &huge] {
            fs::write(folder.path().join(NOTE.name), text).unwrap();
            let error = read(folder.path()).unwrap_err().to_string();
            assert!(error.contains("\"clock\""), "{text:?}: {error}");
        }
    }
}
