//! Files that are read whole.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::Path;

use crate::open::open_file;

/// The bytes of a file of at most `bytes_max`; a link is followed.
///
/// # Errors
/// [`crate::WrongKind`]; `FileTooLarge`: it has more; the system's.
pub fn read_file(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(OpenOptions::new().read(true), 0, path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {bytes_max} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    /// Is what is no file, or has more bytes, said to be that at once, and the last byte that may be there read?
    #[test]
    fn only_files_are_read_and_only_so_far() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "text").expect("written");
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR, 0).expect("made");
        File::create(at("long")).expect("made").set_len(1 << 40).expect("long, and empty");
        let why = |path: &Path| read_file(path, 4).expect_err("not read").to_string();
        assert_eq!(read_file(&at("file"), 4).expect("a file"), b"text");
        assert_eq!(read_file(&at("file"), 3).expect_err("too long").kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(why(&at("long")), "it has more than 4 bytes");
        assert_eq!(why(&at("pipe")), "it is no file: it is a pipe");
        assert_eq!(why(folder.path()), "it is no file: it is a directory");
        assert_eq!(why(Path::new("/dev/zero")), "it is no file: it is a device");
        assert_eq!(read_file(&at("none"), 4).expect_err("nothing").kind(), io::ErrorKind::NotFound);
    }
}
