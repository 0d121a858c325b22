//! The trail, looked at before a start.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use lapwing_store::lock_to_look;

use super::ending::Ending;
use super::file::{in_words, opened};

/// Whether a start could go on with the trail: where it would refuse, what is wrong in words, and whether that is only that
/// another broker writes it. Nothing is written, nor made.
pub(crate) fn look(path: &Path, chained: bool) -> Result<(), (String, bool)> {
    let file = match opened(path, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(|error| (in_words(&error), false))?,
    };
    if !may_be_made_ours(&file) {
        return Err(("it is another account's".to_owned(), false));
    }
    let file = lock_to_look(file).map_err(|error| (in_words(&error), error.kind() == io::ErrorKind::WouldBlock))?;
    let ending = Ending::of(&file).map_err(|error| (error.to_string(), false))?;
    ending.goes_on(path, chained).map(drop).map_err(|why| (why, false))
}

/// Whether its permissions can be set.
fn may_be_made_ours(file: &File) -> bool {
    // Where this process does not show whose it is, the start tells.
    let Ok(own) = fs::metadata("/proc/self") else { return true };
    own.uid() == 0 || file.metadata().is_ok_and(|meta| meta.uid() == own.uid())
}
