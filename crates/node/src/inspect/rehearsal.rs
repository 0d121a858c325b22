//! What a start would refuse of its data folder and of its audit trail, without one: nothing is written, nor made.

use std::path::Path;

use lapwing_store::inspect::{DataFolder, FolderGuard, look_at_files};

use crate::audit;
use crate::error::NodeError;

/// What a start would refuse of a data folder before it reads what is in it, in words; `None`: nothing.
pub fn folder_fault(data: &Path) -> Option<String> {
    DataFolder::look_at(data).err().map(|error| error.to_string())
}

/// What a start with these streams, and with data groups or without, would refuse because a file of the folder is gone or is
/// none: in words, and whether it would for as long as nobody changes the folder; `None`: nothing. Only where nobody has it.
pub fn files_fault(data: &Path, streams: &[String], has_groups: bool) -> Option<(String, bool)> {
    let error = look_at_files(data, streams, has_groups).err()?;
    Some((error.to_string(), NodeError::from(error).is_lasting()))
}

/// Who has a data folder now: a process, if it says which; `None`: nobody.
pub fn folder_holder(data: &Path) -> Option<Option<u32>> {
    FolderGuard::holder(data)
}

/// Why a start could not go on with a trail, and whether that is only that another broker writes it; `None`: it could.
pub fn trail_fault(file: &Path, chained: bool) -> Option<(String, bool)> {
    audit::look(file, chained).err()
}
