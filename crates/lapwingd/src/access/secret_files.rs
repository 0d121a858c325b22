//! Files of keys, authorities and secrets that settings name: read whole, and nothing of them in an error.

use std::path::Path;

use lapwing_files::{read_file, without_marks};

use crate::fault::Fault;

const BYTES_MAX: u64 = 1 << 20;

/// # Errors
/// It cannot be read, or is too long.
pub(super) fn bytes(file: &Path, key: &str) -> Result<Vec<u8>, Fault> {
    let shown = file.display();
    read_file(file, BYTES_MAX).map_err(|error| {
        let remedy = "name a file of keys that exists and that the broker's user may read";
        Fault::wrong(format!("{shown} cannot be read: {error}"), key, remedy)
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
