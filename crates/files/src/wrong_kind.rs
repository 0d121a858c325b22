//! What lies in the place of a file, or of a folder.

use std::error::Error;
use std::fmt;
use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Something else lies where a file, or a folder, is expected; inside an [`io::Error`], see [`crate::open_file`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongKind {
    /// What is expected: "file" or "folder".
    pub wanted: &'static str,
    /// What lies there, in words.
    pub kind: &'static str,
}

const FOLDER: &str = "a directory";

impl fmt::Display for WrongKind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "it is no {}: it is {}", self.wanted, self.kind)
    }
}

impl Error for WrongKind {}

impl WrongKind {
    /// Whether it is a folder.
    pub fn is_folder(self) -> bool {
        self.kind == FOLDER
    }

    /// What an error says of this, if it does.
    pub fn in_error(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl From<WrongKind> for io::Error {
    fn from(other: WrongKind) -> Self {
        Self::new(io::ErrorKind::InvalidInput, other)
    }
}

/// Of the answer to a folder that was to be made, or a file to be removed, what lies there in its place.
pub fn explained(error: io::Error, path: &Path) -> io::Error {
    let Ok(found) = fs::symlink_metadata(path).map(|found| found.file_type()) else { return error };
    let other = match error.raw_os_error() {
        Some(libc::EEXIST | libc::ENOTDIR) if !found.is_dir() => {
            let kind = other_kind(found).map_or("a file", |other| other.kind);
            Some(WrongKind { wanted: "folder", kind })
        }
        Some(libc::EISDIR | libc::EPERM) if found.is_dir() => other_kind(found),
        _ => None,
    };
    other.map_or(error, io::Error::from)
}

pub(crate) fn other_kind(found: FileType) -> Option<WrongKind> {
    let kind = match found {
        found if found.is_file() => return None,
        found if found.is_dir() => FOLDER,
        found if found.is_fifo() => "a pipe",
        found if found.is_socket() => "a socket",
        found if found.is_symlink() => "a symbolic link",
        _ => "a device",
    };
    Some(WrongKind { wanted: "file", kind })
}
