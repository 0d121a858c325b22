//! A note of the node in its data folder: a file of one line, which is there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use lapwing_files::open_file;

use crate::error::NodeError;

/// Bytes that are read of one.
const BYTES_MAX: u64 = 128;

/// What is noted under a name. The line is `begins`, what is noted, and a line feed.
pub(crate) struct Note {
    /// The file's name.
    pub name: &'static str,
    /// Kind and version, with a space behind.
    pub begins: &'static str,
    /// What follows, in words.
    pub then: &'static str,
    /// What to do about a file that cannot be used.
    pub remedy: &'static str,
}

impl Note {
    /// What `folder` has noted, as `parse` understands it; nothing where there is no file.
    ///
    /// # Errors
    /// `Config`: it cannot be read, or says something else.
    pub fn read<T>(&self, folder: &Path, parse: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, NodeError> {
        let path = folder.join(self.name);
        let text = open_file(OpenOptions::new().read(true), 0, &path)
            .and_then(|file| io::read_to_string(io::Read::take(file, BYTES_MAX)));
        let text = match text {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.unusable(&format!("{}: {error}", path.display()))),
        };
        let noted = text.strip_prefix(self.begins).and_then(|rest| rest.strip_suffix('\n')).and_then(parse);
        noted.map(Some).ok_or_else(|| {
            self.unusable(&format!("{}: it says {text:?}, not \"{}\" and {}", path.display(), self.begins, self.then))
        })
    }

    /// On disk when it returns.
    ///
    /// # Errors
    /// The folder's disk refuses it; what was noted before is there then.
    pub fn write(&self, folder: &Path, noted: &str) -> io::Result<()> {
        let draft = folder.join(format!("{}.tmp", self.name));
        // As all of the data folder, its owner's alone.
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = open_file(&mut options, libc::O_NOFOLLOW, &draft)?;
        file.write_all(format!("{}{noted}\n", self.begins).as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, folder.join(self.name))?;
        File::open(folder)?.sync_all()
    }

    /// The error for a folder whose file is of no use.
    pub fn unusable(&self, what: &str) -> NodeError {
        NodeError::config("data_dir", format!("has a file \"{}\" that cannot be used: {what}", self.name), self.remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: Note = Note { name: "sum", begins: "sum 1 ", then: "a number", remedy: "Remove it." };

    fn read(folder: &Path) -> Result<Option<u8>, NodeError> {
        NOTE.read(folder, |text| text.parse().ok())
    }

    /// Does the last of several notes come back, with no draft left?
    #[test]
    fn the_last_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        for number in ["7", "8"] {
            NOTE.write(folder.path(), number).unwrap();
        }
        assert_eq!(read(folder.path()).unwrap(), Some(8));
        assert!(!folder.path().join("sum.tmp").exists());
    }

    /// Is a pipe in the place of a note, or of its draft, named and not waited for?
    #[test]
    fn a_pipe_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = |name: &str| {
            let made = std::process::Command::new("mkfifo").arg(folder.path().join(name)).status();
            assert!(made.unwrap().success());
        };
        pipe("sum.tmp");
        assert!(NOTE.write(folder.path(), "7").unwrap_err().to_string().contains("it is a pipe"));
        assert_eq!(read(folder.path()).unwrap(), None);
        pipe("sum");
        assert!(read(folder.path()).unwrap_err().to_string().contains("it is a pipe"));
    }

    /// Is whatever else the file says an error that names it and says what to do?
    #[test]
    fn a_strange_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "sum 2 7\n", "sum 1 7", "sum 1 x\n", "sum 1 7\n\n"] {
            fs::write(folder.path().join("sum"), text).unwrap();
            let error = read(folder.path()).unwrap_err().to_string();
            assert!(error.contains("\"sum\"") && error.contains("and a number"), "{text:?}: {error}");
        }
    }
}
