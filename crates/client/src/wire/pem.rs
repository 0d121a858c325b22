//! Files of certificates and keys, read whole and anew at every connection.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// More than any chain or list of roots in use.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The bytes of `file`.
///
/// # Errors
/// The system's; it is no file, or a longer one than any of certificates.
pub(super) fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(file)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

/// Whoever opened a pipe would wait for ever, and devices have no end.
fn open(file: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(file)?;
    match opened.metadata()?.file_type() {
        kind if kind.is_file() || kind.is_dir() => Ok(opened),
        kind if kind.is_fifo() => Err(io::Error::other("it is a pipe, and it is read anew at every connection")),
        _ => Err(io::Error::other("it is no file")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    /// Is what is no file, or has no end, said to be that at once?
    #[test]
    fn only_files_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "text").expect("written");
        assert_eq!(read(&at("file")).expect("a file"), b"text");
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR, 0).expect("made");
        let long = File::create(at("long")).expect("made");
        long.set_len(FILE_BYTES_MAX + 1).expect("long");
        let why = |file: &Path| read(file).expect_err("not read").to_string();
        assert_eq!(why(&at("pipe")), "it is a pipe, and it is read anew at every connection");
        assert_eq!(why(Path::new("/dev/zero")), "it is no file");
        assert_eq!(why(&at("long")), "it has more than 4194304 bytes");
        assert!(read(folder.path()).is_err(), "a folder");
        assert!(read(&at("none")).is_err(), "nothing");
    }
}
