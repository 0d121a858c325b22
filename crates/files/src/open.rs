//! Only a file is opened where a file is expected.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::wrong_kind::other_kind;

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

fn is_of_kind(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENXIO | libc::EISDIR | libc::ELOOP | libc::ENODEV))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;
    use crate::wrong_kind::WrongKind;

    fn kind(path: &Path, options: &mut OpenOptions, flags: libc::c_int) -> &'static str {
        let error = open_file(options, flags, path).expect_err("it is no file");
        WrongKind::in_error(&error).unwrap_or_else(|| panic!("{}: {error}", path.display())).kind
    }

    /// Is each kind named, at once, however it would be opened?
    #[test]
    fn what_is_no_file_is_named_and_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("made");
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
