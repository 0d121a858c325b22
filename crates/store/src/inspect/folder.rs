//! A data folder, looked at from outside.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::presence::look_at_root;
use super::report::{FileKind, FileReport, Finding, Home, KnownFile};
use super::stream::StreamView;
use super::survey::survey;
use crate::config::{LogConfig, StreamConfig};
use crate::disk::{self, Disk, OsDisk};
use crate::error::StoreError;
use crate::format::{look_at, version_in};
use crate::journal::{JournalConfig, JournalReader, JournalView, JournalWriter};
use crate::log::Log;
use crate::reader::LogReader;
use crate::writer::LogWriter;

/// What lies in a data folder. Hold a [`FolderGuard`](super::FolderGuard) meanwhile.
#[derive(Debug)]
pub struct DataFolder {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: PathBuf,
    files: Vec<KnownFile>,
    pub(crate) streams: Vec<StreamView>,
    pub(crate) journal: Option<JournalView>,
}

impl DataFolder {
    /// Finds out which files there are, and which should be there. Reads the segment that the journal writes.
    ///
    /// # Errors
    /// `NoData`, `Io`.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path) -> Result<Self, StoreError> {
        let found = survey(&*disk, dir)?;
        let of = |home: Home| found.files.iter().filter(move |file| file.home == home).collect::<Vec<_>>();
        let mut missing = vec![];
        let mut streams = vec![];
        for (place, name) in found.streams.iter().enumerate() {
            let files = of(Home::Stream(place));
            let view = StreamView::load(&*disk, dir.join("streams").join(name), name.clone(), &files);
            missing.extend(view.missing(&files, place));
            streams.push(view);
        }
        // Written as long as data groups are kept: it tells of a journal that is gone with its folder.
        let has_clock = found.files.iter().any(|file| file.kind == FileKind::Clock);
        let journal = match found.has_journal || has_clock {
            true => {
                let files = of(Home::Journal);
                let view = JournalView::load(&*disk, dir.join("log"), &files)?;
                missing.extend(view.missing(&*disk, &files, has_clock));
                Some(view)
            }
            false => None,
        };
        let mut files = found.files;
        files.extend(missing);
        // A segment before its index: what was found in it is compared.
        files.sort_by_key(|file| {
            let home = match file.home {
                Home::Root => 0,
                Home::Stream(place) => 1 + place,
                Home::Journal => usize::MAX,
            };
            (home, file.number, file.kind == FileKind::Index, file.path.clone())
        });
        Ok(Self { disk, dir: dir.to_path_buf(), files, streams, journal })
    }

    /// Refuses what is no data folder; reads no file.
    ///
    /// # Errors
    /// `NoData`, `Io`.
    pub fn find(dir: &Path) -> Result<(), StoreError> {
        survey(&OsDisk, dir).map(drop)
    }

    /// What a start would refuse of a folder before it reads what is in it: that it is somebody else's, of a format that is
    /// not known, or has something else where a file belongs. A folder that is to be made is not refused.
    ///
    /// # Errors
    /// `FormatVersion`, `Foreign`, `WrongKind`, `Corrupt`, `Io`.
    pub fn look_at(dir: &Path) -> Result<(), StoreError> {
        look_at(&OsDisk, dir)?;
        look_at_root(dir)
    }

    /// Every file, and those that should be there.
    pub fn files(&self) -> &[KnownFile] {
        &self.files
    }

    /// Names of the streams.
    pub fn streams(&self) -> impl Iterator<Item = &str> {
        self.streams.iter().map(|stream| stream.name.as_str())
    }

    /// Whether data groups were ever kept here.
    pub fn has_journal(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| !journal.young.is_empty())
    }

    /// Reads a file, one of `files`, from end to end.
    ///
    /// # Errors
    /// `Io`.
    pub fn check(&mut self, file: &KnownFile) -> Result<FileReport, StoreError> {
        if file.is_missing {
            return Ok(FileReport::of(file).with([Finding::damage(0, 0, "the file is missing")]));
        }
        match file.home {
            Home::Stream(place) => self.streams[place].check(&*self.disk, file),
            Home::Journal => match &mut self.journal {
                Some(journal) => journal.check(&*self.disk, file),
                None => Ok(FileReport::of(file)),
            },
            Home::Root => Ok(self.check_root(file)),
        }
    }

    /// Makes the index beside a sealed segment of a stream again; those of the journal are made again when it is opened. False:
    /// there was nothing to do.
    ///
    /// # Errors
    /// `Corrupt`, `Full`, `Io`, and the fatal ones.
    pub fn remake_index(&self, disk: &dyn Disk, file: &KnownFile) -> Result<bool, StoreError> {
        match file.home {
            Home::Stream(place) => self.streams[place].remake_index(disk, file.number),
            Home::Journal | Home::Root => Ok(false),
        }
    }

    fn check_root(&self, file: &KnownFile) -> FileReport {
        let report = FileReport::of(file);
        match file.kind {
            FileKind::Format => match disk::read_whole(&*self.disk, &self.dir.join(&file.path), 4096) {
                Ok(bytes) => match version_in(&bytes) {
                    Ok(_) => report,
                    Err(found) => {
                        let what = format!("it says format version {found}, which this program does not read");
                        report.with([Finding::damage(0, 0, what)])
                    }
                },
                Err(error) => report.with([Finding::damage(0, 0, format!("cannot read it: {error}"))]),
            },
            FileKind::Lock | FileKind::Stamps | FileKind::Clock => report,
            FileKind::Draft => report.with([Finding::note("left by a crash; it may be removed")]),
            _ => report.with([Finding::note("not of the broker; not looked at")]),
        }
    }

    /// Opens all that is there, as a start does, on `disk`: torn tails are cut, indexes are made again, what a crash left
    /// is removed. On an [`Overlay`](crate::disk::Overlay) it is only tried.
    ///
    /// # Errors
    /// `Corrupt`, `Full`, `Io`, and the fatal ones.
    pub fn start(&self, disk: Arc<dyn Disk>) -> Result<Started, StoreError> {
        let configs: Vec<StreamConfig> = self.streams.iter().filter_map(StreamView::config).collect();
        let log = LogConfig { body_bytes_max: usize::MAX, ..LogConfig::default() };
        let (writer, reader) = Log::open_on(disk, &self.dir, &log, &configs)?;
        let config = JournalConfig { body_bytes_max: usize::MAX, ..JournalConfig::default() };
        let journal = if self.has_journal() { Some(writer.open_journal(&config)?) } else { None };
        Ok(Started { writer, reader, journal })
    }
}

/// A log that was opened for a tool; dropped, it leaves its files as they are then.
#[derive(Debug)]
pub struct Started {
    /// Of the streams.
    pub writer: LogWriter,
    /// Of the streams.
    pub reader: LogReader,
    /// Of the data groups.
    pub journal: Option<(JournalWriter, JournalReader)>,
}

impl StreamView {
    /// The stream as it was made; nothing for a folder without segments, or without a description.
    fn config(&self) -> Option<StreamConfig> {
        let meta = self.meta.as_ref().filter(|_| !self.sequences.is_empty())?;
        // Nothing is deleted by a tool: no retention.
        Some(StreamConfig { retain_age_ms: 0, ..StreamConfig::new(self.name.clone(), meta.partitions) })
    }
}
