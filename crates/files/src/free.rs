//! How much room there is.

use std::io;
use std::path::Path;

/// Bytes that the account of this program may still use on the file system on which a file or folder lies.
///
/// # Errors
/// The kernel does not say: there is nothing at `path`, or it is out of reach.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(path)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is it a number that a disk may have, and an error where there is nothing?
    #[test]
    fn there_is_room_where_something_lies() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!((1..1 << 60).contains(&free_bytes(dir.path()).expect("it is there")));
        let error = free_bytes(&dir.path().join("nothing")).expect_err("there is nothing");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
