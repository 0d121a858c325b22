//! The folder in which a copy is made before it gets its name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lapwing_store::StoreError;
use lapwing_store::disk::{Disk, OsDisk};
use lapwing_store::inspect::FolderGuard;

use super::InspectError;

/// What lies in it: the lock of whoever makes the copy, and the copy.
const LOCK: &str = "lock";
const COPY: &str = "copy";

/// `TARGET.partial`, removed when this is dropped. What a process that was killed has left of one is known by its names, and
/// by the lock that nobody holds; the next one takes it over and begins anew.
#[derive(Debug)]
pub(super) struct Draft {
    folder: PathBuf,
    _guard: FolderGuard,
}

impl Draft {
    /// Makes the draft of `to` beside it, with nothing in it.
    ///
    /// # Errors
    /// `Usage`: somebody makes that copy now, something else lies there, or `to` is no folder's name. Anything else: it cannot
    /// be written.
    pub(super) fn take(to: &Path) -> Result<Self, InspectError> {
        let Some(last) = to.file_name() else {
            return Err(InspectError::usage(format!("{} is no folder's name", to.display()), "name a folder"));
        };
        let folder = to.with_file_name(format!("{}.partial", last.to_string_lossy()));
        if !is_ours(&folder) {
            let what = format!("{} is in the way, and is not what a copy that was broken off leaves", folder.display());
            return Err(InspectError::usage(what, "remove it, then try again"));
        }
        OsDisk.create_dir(&folder).map_err(|source| failed("make the folder", &folder, source))?;
        let guard = FolderGuard::exclusive(&folder).map_err(|error| match error {
            StoreError::Locked { .. } => {
                let what = format!("another process makes a copy in {}", folder.display());
                InspectError::usage(what, "wait until it is done, or name another folder")
            }
            other => other.into(),
        })?;
        let draft = Self { folder, _guard: guard };
        match fs::remove_dir_all(draft.copy()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &draft.copy(), error)),
            _ => Ok(draft),
        }
    }

    /// The folder that becomes the copy.
    pub(super) fn copy(&self) -> PathBuf {
        self.folder.join(COPY)
    }

    /// Gives the copy its name.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(super) fn name(&self, to: &Path) -> Result<(), InspectError> {
        fs::rename(self.copy(), to).map_err(|source| failed("name the copy", to, source))?;
        OsDisk.sync_dir(folder_of(to)).map_err(|source| failed("name the copy", to, source))
    }
}

impl Drop for Draft {
    /// The lock last, so that what stays when this is broken off is known. The error that counts was told already; what
    /// cannot be removed is removed by the next one.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.copy());
        let _ = fs::remove_file(self.folder.join(LOCK));
        let _ = fs::remove_dir(&self.folder);
    }
}

/// The folder in which this lies.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Nothing is there, a folder without anything in it, or one with the lock and nothing but a copy beside it.
fn is_ours(folder: &Path) -> bool {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return false,
        // Of what cannot be looked at, the attempt tells more.
        Err(_) => return true,
    }
    let Ok(names) = OsDisk.list(folder) else { return true };
    let has_lock = names.iter().any(|name| name == LOCK);
    names.is_empty() || has_lock && names.iter().all(|name| name == LOCK || name == COPY)
}

fn failed(operation: &'static str, file: &Path, source: io::Error) -> InspectError {
    InspectError::from(StoreError::Io { operation, file: file.to_path_buf(), source })
}
