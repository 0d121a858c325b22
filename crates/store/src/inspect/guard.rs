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
    /// `Locked`; `Io`.
    pub fn exclusive(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { _lock: Some(FolderLock::take(dir)?) })
    }
}
