//! The first segment of a folder begins small and grows, twice as large each time: a broker with little to keep takes little of
//! the disk.
//!
//! It grows as a spare segment is made, beside the writer and before there is need: no commit waits for it. Later segments
//! begin whole, for by then there was something to keep.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::state::Shared;
use crate::disk::DiskFile;
use crate::error::StoreError;

/// The active segment while it is the first of its folder.
#[derive(Debug)]
pub(crate) struct Growing {
    file: Arc<dyn DiskFile>,
    path: Arc<Path>,
    is_sealed: Arc<Mutex<bool>>,
}

/// More room is to be made in it.
#[derive(Debug)]
pub(crate) struct Grow {
    file: Arc<dyn DiskFile>,
    path: Arc<Path>,
    is_sealed: Arc<Mutex<bool>>,
    /// What is to be reserved for it in all.
    bytes: u64,
}

/// What has become of that.
#[derive(Debug)]
pub(crate) struct Grown {
    pub bytes: u64,
    /// False where space cannot be reserved.
    pub result: Result<bool, StoreError>,
}

impl Growing {
    pub(crate) fn of_first(shared: &Shared) -> Option<Self> {
        let state = shared.state();
        let (file, path) = (state.active.file.clone(), state.active.path.clone());
        (state.active.sequence == 1).then(|| Growing { file, path, is_sealed: Arc::default() })
    }

    pub(crate) fn order(&self, bytes: u64) -> Grow {
        Grow { file: self.file.clone(), path: self.path.clone(), is_sealed: self.is_sealed.clone(), bytes }
    }
}

impl Drop for Growing {
    /// It is sealed, and about to be trimmed: waits until the room is there that is being made, and there is none made after.
    fn drop(&mut self) {
        *self.is_sealed.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

impl Grow {
    pub(crate) fn carry_out(self) -> Grown {
        let is_sealed = self.is_sealed.lock().unwrap_or_else(PoisonError::into_inner);
        let reserved = if *is_sealed { Ok(true) } else { self.file.allocate(self.bytes) };
        let result = reserved.map_err(|error| StoreError::write("reserve space in", &self.path, error));
        Grown { bytes: self.bytes, result }
    }
}
