//! Whether a start could open what lies in a data folder: tried as it does it, on a disk on which nothing changes.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::stream::described;
use crate::config::{LogConfig, StreamConfig};
use crate::disk::{Access, Disk, OsDisk, Overlay};
use crate::error::StoreError;
use crate::journal::{Journal, JournalConfig, received_name, snapshot_name};
use crate::lock::FolderLock;
use crate::log::Log;

/// Of the data folder itself; who holds the lock is another question.
const ROOT: [&str; 3] = ["format", "stamps", "clock"];

/// What a start with these streams, and with the journal or without, would refuse of the files of a data folder: that one is
/// gone, is none, or is damaged where a start reads it. A folder that is to be made is not refused. Takes as long as a start, up
/// to what the entries of data groups say.
///
/// # Errors
/// `Emptied`, `Corrupt`, `WrongKind`, `Io`.
pub fn look_at_files(dir: &Path, streams: &[String], has_journal: bool) -> Result<(), StoreError> {
    if !dir.exists() {
        return Ok(());
    }
    let disk: Arc<dyn Disk> = Arc::new(Overlay::new(Arc::new(OsDisk)));
    let partitions = |name: &str| described(&*disk, &dir.join("streams").join(name)).map_or(1, |meta| meta.partitions);
    let log = LogConfig { body_bytes_max: usize::MAX, ..LogConfig::default() };
    for name in streams {
        let config = StreamConfig::new(name.clone(), partitions(name));
        match Log::open_on(disk.clone(), dir, &log, &[config]) {
            // Of which settings a stream was made with, see `made_partitions`.
            Ok(_) | Err(StoreError::SettingChanged { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    if has_journal {
        // A start opens the folder of streams though there is none to be kept.
        Log::open_on(disk.clone(), dir, &log, &[])?;
        let config = JournalConfig { body_bytes_max: usize::MAX, ..JournalConfig::default() };
        Journal::open_on(disk, dir, &config)?;
        let snapshots = dir.join("log").join("snapshots");
        let names = OsDisk.list(&snapshots).unwrap_or_default();
        names
            .iter()
            .filter(|name| snapshot_name(name).is_some() || received_name(name).is_some())
            .try_for_each(|name| check_file(&snapshots.join(name)))?;
    }
    Ok(())
}

/// Of the files that lie in the data folder itself.
///
/// # Errors
/// `WrongKind`, `Io`.
pub(crate) fn look_at_root(dir: &Path) -> Result<(), StoreError> {
    match FolderLock::look(dir) {
        Ok(_) | Err(StoreError::Locked { .. }) => {}
        Err(error) => return Err(error),
    }
    ROOT.iter().try_for_each(|name| check_file(&dir.join(name)))
}

/// What is not there is left to whoever misses it.
fn check_file(path: &Path) -> Result<(), StoreError> {
    match OsDisk.open(path, Access::Read) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(StoreError::io("open", path, error))
        }
        _ => Ok(()),
    }
}
