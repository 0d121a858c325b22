//! Files of keys, authorities and secrets that settings name: read whole, and nothing of them in an error.

use std::io;
use std::path::Path;

use lapwing_files::{read_file, without_marks};

use crate::fault::Fault;

const BYTES_MAX: u64 = 1 << 20;

/// # Errors
/// It cannot be read, or is too long.
pub(super) fn bytes(file: &Path, key: &str) -> Result<Vec<u8>, Fault> {
    read_file(file, BYTES_MAX).map_err(|error| {
        let shown = file.display();
        if error.kind() == io::ErrorKind::FileTooLarge {
            return Fault::wrong(format!("{shown} is longer than {BYTES_MAX} bytes"), key, "name a file of keys");
        }
        Fault::wrong(format!("{shown} cannot be read: {error}"), key, "check the path, and who may read it")
    })
}

/// # Errors
/// The same, or it is no text. Marks of its encoding are none of it.
pub(super) fn text(file: &Path, key: &str) -> Result<String, Fault> {
    String::from_utf8(without_marks(&bytes(file, key)?).into_owned())
        .map_err(|_| Fault::wrong(format!("{} is no text", file.display()), key, "write PEM or JSON into it"))
}

/// The text of a file, if one is named.
///
/// # Errors
/// The same.
pub(super) fn text_if(file: Option<&Path>, key: &str) -> Result<Option<String>, Fault> {
    file.map(|file| text(file, key)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a file that is too long said to be that, in the package's words, and one that is not there not?
    #[test]
    fn a_long_file_is_not_one_that_nobody_may_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("keys");
        let said = || bytes(&file, "auth.jwt.jwks_file").expect_err("not read").to_string();
        assert!(said().ends_with("(auth.jwt.jwks_file): check the path, and who may read it"));
        std::fs::File::create(&file).expect("made").set_len(BYTES_MAX + 1).expect("long, and empty");
        let wanted = "keys is longer than 1048576 bytes (auth.jwt.jwks_file): name a file of keys";
        assert!(said().ends_with(wanted), "{}", said());
    }
}
