//! Files of keys, authorities and secrets that settings name: read whole, and nothing of them in an error.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::fault::Fault;

const BYTES_MAX: u64 = 1 << 20;

/// Reads a file to its end, or to one byte more than `most`. Whoever opened a pipe would wait for ever; devices have no end.
///
/// # Errors
/// It cannot be read, or something else lies there.
pub(super) fn read(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let kind = std::fs::metadata(file)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::other("it is no file"));
    }
    let mut found = Vec::new();
    File::open(file)?.take(most + 1).read_to_end(&mut found)?;
    Ok(found)
}

/// # Errors
/// It cannot be read, or is too long.
pub(super) fn bytes(file: &Path, key: &str) -> Result<Vec<u8>, Fault> {
    let shown = file.display();
    let found = read(file, BYTES_MAX).map_err(|error| {
        Fault::wrong(format!("{shown} cannot be read: {error}"), key, "check the path, and who may read it")
    })?;
    if found.len() as u64 > BYTES_MAX {
        return Err(Fault::wrong(format!("{shown} is longer than {BYTES_MAX} bytes"), key, "name a file of keys"));
    }
    Ok(found)
}

/// # Errors
/// The same, or it is no text.
pub(super) fn text(file: &Path, key: &str) -> Result<String, Fault> {
    String::from_utf8(bytes(file, key)?)
        .map_err(|_| Fault::wrong(format!("{} is no text", file.display()), key, "write PEM or JSON into it"))
}

/// The text of a file, if one is named.
///
/// # Errors
/// The same.
pub(super) fn text_if(file: Option<&Path>, key: &str) -> Result<Option<String>, Fault> {
    file.map(|file| text(file, key)).transpose()
}
