//! Only a file is opened where a file is expected, and only a folder taken for one: who opened a pipe would wait for ever, and a
//! device has no end.

use std::error::Error;
use std::fmt;
use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Something else lies where a file, or a folder, is expected; inside an [`io::Error`], see [`open_file`].
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
    pub(super) fn is_folder(self) -> bool {
        self.kind == FOLDER
    }

    /// What an error says of this, if it does.
    pub(crate) fn in_error(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

/// Opens a file with these options, and nothing else; `flags` as those of `open(2)`. Waits for nobody. A link is followed
/// unless `flags` say otherwise.
///
/// # Errors
/// [`WrongKind`]; the system's.
pub fn open_file(options: &mut OpenOptions, flags: libc::c_int, path: &Path) -> io::Result<File> {
    match options.custom_flags(flags | libc::O_NONBLOCK).open(path) {
        Ok(file) => match other_kind(file.metadata()?.file_type()) {
            None => Ok(file),
            Some(other) => Err(other.into()),
        },
        // The system names some of them by what cannot be done with them ("No such device or address": a socket).
        Err(error) if is_of_kind(&error) => {
            let follows = flags & libc::O_NOFOLLOW == 0;
            let found = if follows { fs::metadata(path) } else { fs::symlink_metadata(path) };
            Err(found.ok().and_then(|found| other_kind(found.file_type())).map_or(error, io::Error::from))
        }
        Err(error) => Err(error),
    }
}

impl From<WrongKind> for io::Error {
    fn from(other: WrongKind) -> Self {
        Self::new(io::ErrorKind::InvalidInput, other)
    }
}

/// Of the answer to a folder that was to be made, or a file to be removed, what lies there in its place.
pub(super) fn explained(error: io::Error, path: &Path) -> io::Error {
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

fn is_of_kind(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENXIO | libc::EISDIR | libc::ELOOP | libc::ENODEV))
}

fn other_kind(found: FileType) -> Option<WrongKind> {
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

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    fn kind(path: &Path, options: &mut OpenOptions, flags: libc::c_int) -> &'static str {
        let error = open_file(options, flags, path).expect_err("it is no file");
        WrongKind::in_error(&error).unwrap_or_else(|| panic!("{}: {error}", path.display())).kind
    }

    /// Is each kind named, at once, however it would be opened?
    #[test]
    fn what_is_no_file_is_named_and_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let pipe = CString::new(at("pipe").as_os_str().as_bytes()).expect("no zero in it");
        // SAFETY: a C string that outlives the call.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
        let _bound = UnixListener::bind(at("socket")).expect("bound");
        fs::create_dir(at("folder")).expect("made");
        symlink(at("pipe"), at("to a pipe")).expect("made");
        let mut ways = [OpenOptions::new(), OpenOptions::new(), OpenOptions::new()];
        ways[0].read(true);
        ways[1].read(true).write(true).create(true);
        ways[2].write(true).create(true);
        for way in &mut ways {
            let names =
                [("pipe", "a pipe"), ("socket", "a socket"), ("folder", "a directory"), ("to a pipe", "a pipe")];
            for (name, wanted) in names {
                assert_eq!(kind(&at(name), way, 0), wanted, "{name}");
            }
            assert_eq!(kind(Path::new("/dev/null"), way, 0), "a device");
            assert_eq!(kind(&at("to a pipe"), way, libc::O_NOFOLLOW), "a symbolic link");
        }
    }

    /// Is a file opened, through a link too, and what is not there the system's answer?
    #[test]
    fn a_file_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "text").expect("written");
        symlink(&file, &link).expect("made");
        for path in [&file, &link] {
            let opened = open_file(OpenOptions::new().read(true), 0, path).expect("a file");
            assert_eq!(io::read_to_string(opened).expect("read"), "text");
        }
        let none = open_file(OpenOptions::new().read(true), 0, &folder.path().join("none"));
        assert_eq!(none.expect_err("nothing").kind(), io::ErrorKind::NotFound);
    }
}
