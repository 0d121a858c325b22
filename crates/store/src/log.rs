//! Opening the log: lock, version, streams.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::config::{LogConfig, StreamConfig};
use crate::disk::{Disk, OsDisk};
use crate::error::StoreError;
use crate::format::{check_format, check_owner};
use crate::info::StreamIndex;
use crate::lock::FolderLock;
use crate::met::Met;
use crate::notice::{Notice, Notices, StoreCounters};
use crate::reader::LogReader;
use crate::shared::Shared;
use crate::stream::open::{self, Opened};
use crate::stream::writer::StreamWriter;
use crate::writer::LogWriter;

/// The way in: [`Log::open`].
#[derive(Debug)]
pub struct Log;

impl Log {
    /// Opens or makes the log in `dir` with these streams; recovers what a crash left.
    ///
    /// The streams get their [`StreamIndex`] by their place in `streams`. What recovery found waits in
    /// [`LogReader::take_notices`].
    /// # Errors
    /// `Locked`, `NotWritable`, `Foreign`, `FormatVersion`, `Setting`, `SettingChanged`, `Corrupt`, `Full`, `Io`; `SyncFailed`.
    pub fn open(
        dir: &Path,
        config: &LogConfig,
        streams: &[StreamConfig],
    ) -> Result<(LogWriter, LogReader), StoreError> {
        check_owner(&OsDisk, dir).map_err(|error| blame_folder(error, dir))?;
        let lock = OsDisk.create_dir(dir).map_err(|error| StoreError::io("make the folder", dir, error));
        let lock = lock.and_then(|()| FolderLock::take(dir)).map_err(|error| blame_folder(error, dir))?;
        let lock = Arc::new(lock);
        open_locked(Arc::new(OsDisk), dir, config, streams, Some(lock)).map_err(|error| blame_folder(error, dir))
    }

    /// The same on another file system, without a lock: for tests that put faults and crashes between any two steps.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        dir: &Path,
        config: &LogConfig,
        streams: &[StreamConfig],
    ) -> Result<(LogWriter, LogReader), StoreError> {
        open_locked(disk, dir, config, streams, None).map_err(|error| blame_folder(error, dir))
    }
}

fn open_locked(
    disk: Arc<dyn Disk>,
    dir: &Path,
    config: &LogConfig,
    streams: &[StreamConfig],
    lock: Option<Arc<FolderLock>>,
) -> Result<(LogWriter, LogReader), StoreError> {
    check_configs(streams)?;
    check_format(&*disk, dir)?;
    let root = dir.join("streams");
    disk.create_dir(&root).map_err(|error| StoreError::io("make the folder", &root, error))?;
    disk.sync_dir(dir).map_err(|error| StoreError::sync("sync of the folder", dir, error))?;
    let notices = Notices::default();
    let counters = StoreCounters::default();
    let (mut opened, mut writers) = (vec![], vec![]);
    for (index, stream) in (0u32..).zip(streams) {
        let one = open::open(&*disk, root.join(&stream.name), StreamIndex(index), config, stream)?;
        let Opened { stream: shared, allocated_bytes, notices: said } = one;
        said.into_iter().for_each(|notice| report(notice, &notices, &counters));
        writers.push(StreamWriter::new(&shared, allocated_bytes, stream));
        opened.push(shared);
    }
    disk.sync_dir(&root).map_err(|error| StoreError::sync("sync of the folder", &root, error))?;
    report_unconfigured(&*disk, &root, streams, &notices, &counters)?;
    let (readers_max, met) = (config.readers_max, Met::default());
    let shared = Arc::new(Shared { disk, streams: opened, counters, notices, readers_max, met });
    Ok((LogWriter::new(shared.clone(), dir, writers, config.clone(), lock), LogReader::new(shared)))
}

fn check_configs(streams: &[StreamConfig]) -> Result<(), StoreError> {
    for (place, stream) in streams.iter().enumerate() {
        stream.validate()?;
        if streams[..place].iter().any(|other| other.name == stream.name) {
            let (key, value) = ("name", stream.name.clone());
            return Err(StoreError::Setting { stream: value.clone(), key, value, why: "two streams bear this name" });
        }
    }
    Ok(())
}

fn report(notice: Notice, notices: &Notices, counters: &StoreCounters) {
    if let Notice::TornTail { bytes, .. } = &notice {
        StoreCounters::add(&counters.torn_tails, 1);
        StoreCounters::add(&counters.torn_bytes, *bytes);
    }
    counters.keep(notices, notice);
}

fn report_unconfigured(
    disk: &dyn Disk,
    root: &Path,
    streams: &[StreamConfig],
    notices: &Notices,
    counters: &StoreCounters,
) -> Result<(), StoreError> {
    let mut names = disk.list(root).map_err(|error| StoreError::io("list", root, error))?;
    names.sort_unstable();
    for name in names.iter().filter(|name| streams.iter().all(|stream| stream.name != **name)) {
        counters.keep(notices, Notice::Unconfigured { dir: root.join(name) });
    }
    Ok(())
}

/// Whatever failed while opening: when this user may not write, or nobody may, that is what has to be said.
pub(crate) fn blame_folder(error: StoreError, dir: &Path) -> StoreError {
    match error {
        StoreError::Io { source, .. }
        | StoreError::WriteFailed { source, .. }
        | StoreError::SyncFailed { source, .. }
            if matches!(source.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) =>
        {
            StoreError::NotWritable { dir: dir.to_path_buf(), source }
        }
        other => other,
    }
}
