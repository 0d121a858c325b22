//! The lock of a data folder, for tools.

use std::path::Path;

use crate::error::StoreError;
use crate::lock::FolderLock;

/// Keeps brokers, and other tools that would change something, out of a data folder as long as it lives.
#[derive(Debug)]
pub struct FolderGuard {
    _lock: Option<FolderLock>,
}

impl FolderGuard {
    /// Whether a broker, or a tool that changes something, has the folder now, and its process if that is known. Writes nothing.
    pub fn holder(dir: &Path) -> Option<Option<u32>> {
        match FolderLock::look(dir) {
            Err(StoreError::Locked { pid, .. }) => Some(pid),
            // Not there, or not ours to read.
            _ => None,
        }
    }

    /// To look; several may at once. Writes nothing.
    ///
    /// # Errors
    /// `Locked`: a broker runs there. `Io`.
    pub fn shared(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { _lock: FolderLock::look(dir)? })
    }

    /// To change something.
    ///
    /// # Errors
    /// `Locked`; `LookedAt`; `Io`.
    pub fn exclusive(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { _lock: Some(FolderLock::take(dir)?) })
    }
}
