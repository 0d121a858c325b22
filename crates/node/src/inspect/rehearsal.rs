//! What a start would refuse of its data folder and of its audit trail, without one: nothing is written, nor made.

use std::path::Path;

use lapwing_store::inspect::{DataFolder, FolderGuard};

use crate::audit;

/// What a start would refuse of a data folder before it reads what is in it, in words; `None`: nothing.
pub fn folder_fault(data: &Path) -> Option<String> {
    DataFolder::look_at(data).err().map(|error| error.to_string())
}

/// Who has a data folder now: a process, if it says which; `None`: nobody.
pub fn folder_holder(data: &Path) -> Option<Option<u32>> {
    FolderGuard::holder(data)
}

/// Why a start could not go on with a trail, and whether that is only that another broker writes it; `None`: it could.
pub fn trail_fault(file: &Path, chained: bool) -> Option<(String, bool)> {
    audit::look(file, chained).err()
}
