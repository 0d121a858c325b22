//! Opening the journal: make it, or find out how it stands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::active::{self, Active, Before};
use super::checkpoint::Checkpoint;
use super::config::JournalConfig;
use super::counters::JournalCounters;
use super::data_group::DataGroupId;
use super::files::{Files, tidy};
use super::map::EntryMap;
use super::opening::Opening;
use super::reader::JournalReader;
use super::restore::{Segments, build_map};
use super::snapshot;
use super::state::{Shared, State};
use super::visitor::JournalVisitor;
use super::writer::JournalWriter;
use crate::disk::{Access, Disk, sync_names};
use crate::error::StoreError;
use crate::identity::{new_salt, new_uuid};
use crate::info::StreamUuid;
use crate::lock::FolderLock;
use crate::log::blame_folder;
use crate::meta_file::{self, meta_path, read_meta};
use crate::notice::Notice;
use crate::record::StreamMeta;
use crate::recovery::recover;
use crate::segment_file::log_path;

/// The way in for tests; a node opens it with [`crate::LogWriter::open_journal`].
#[derive(Debug)]
pub struct Journal;

impl Journal {
    /// Opens or makes the journal in the folder `log` of `dir`, on any file system and without a lock: for tests that put
    /// faults and crashes between any two steps.
    ///
    /// # Errors
    /// `JournalSetting`, `Emptied`, `Corrupt`, `WrongKind`, `Full`, `Io`, and the fatal ones.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        dir: &Path,
        config: &JournalConfig,
    ) -> Result<(JournalWriter, JournalReader), StoreError> {
        open(disk, dir, config, None).map_err(|error| blame_folder(error, dir))
    }
}

/// Opens the journal of a data folder whose lock is held.
///
/// # Errors
/// `JournalSetting`, `Emptied`, `Corrupt`, `WrongKind`, `Full`, `Io`, and the fatal ones.
pub(crate) fn open(
    disk: Arc<dyn Disk>,
    data: &Path,
    config: &JournalConfig,
    lock: Option<Arc<FolderLock>>,
) -> Result<(JournalWriter, JournalReader), StoreError> {
    config.validate()?;
    let dir = data.join("log");
    for folder in [data, &dir] {
        disk.create_dir(folder).map_err(|error| StoreError::io("make the folder", folder, error))?;
    }
    disk.sync_dir(data).map_err(|error| StoreError::sync("sync of the folder", data, error))?;
    let files = tidy(&*disk, data, &dir)?;
    sync_names(&*disk, &dir)?;
    let opened = match files.is_empty() {
        true => make(&*disk, &dir, config)?,
        false => Folder { disk: &*disk, dir: &dir, notices: vec![] }.recover(files)?,
    };
    // Behind the first segment: as all that lies beside segments it tells of them.
    snapshot::tidy(&*disk, &dir, &opened.state.groups)?;
    let Opened { uuid, salt, state, allocated_bytes, notices } = opened;
    let shared = Arc::new(Shared::new(disk, dir, uuid, salt, state));
    notices.into_iter().for_each(|notice| report(&shared, notice));
    let writer = JournalWriter::new(shared.clone(), config.clone(), allocated_bytes, lock);
    Ok((writer, JournalReader::new(shared)))
}

/// An open journal, and what the writer goes on with.
struct Opened {
    uuid: StreamUuid,
    salt: u32,
    state: State,
    allocated_bytes: u64,
    notices: Vec<Notice>,
}

fn report(shared: &Shared, notice: Notice) {
    match &notice {
        Notice::TornTail { bytes, .. } => {
            JournalCounters::add(&shared.counters.torn_tails, 1);
            JournalCounters::add(&shared.counters.torn_bytes, *bytes);
        }
        Notice::IndexRebuilt { .. } => JournalCounters::add(&shared.counters.indexes_rebuilt, 1),
        _ => {}
    }
    shared.notice(notice);
}

pub(crate) const META_NAME: &str = "journal";

/// Makes the journal.
fn make(disk: &dyn Disk, dir: &Path, config: &JournalConfig) -> Result<Opened, StoreError> {
    let (uuid, salt) = (new_uuid()?, new_salt()?);
    let (partitions, name) = (u32::from(DataGroupId::COUNT), META_NAME.to_owned());
    let meta = StreamMeta { uuid, partitions, name, created_at_us: crate::clock::now_us() };
    meta_file::draft(disk, dir, &meta)?;
    let Checkpoint { layout, groups, segments } = Checkpoint::empty();
    let (sequence, previous_end, previous_last_at_us) = (1, 0, 0);
    let before = Before { uuid, salt, sequence, layout, previous_end, previous_last_at_us, groups: &groups, segments };
    let (active, allocated_bytes) =
        active::create(disk, dir, before, config.first_bytes.min(config.segment_bytes), None)?;
    meta_file::name(disk, dir)?;
    let state = State { groups, map: EntryMap::new(), active, sealed: BTreeMap::new() };
    Ok(Opened { uuid, salt, state, allocated_bytes, notices: vec![] })
}

/// A journal that is there.
struct Folder<'f> {
    disk: &'f dyn Disk,
    dir: &'f Path,
    notices: Vec<Notice>,
}

impl Folder<'_> {
    fn recover(mut self, files: Files) -> Result<Opened, StoreError> {
        let uuid = self.uuid()?;
        let Some(sequence) = files.young.iter().next_back().copied() else {
            return Err(StoreError::corrupt(&log_path(self.dir, 1), 0, "the segment being written is missing"));
        };
        let path = log_path(self.dir, sequence);
        let (opening, checkpoint) = self.active_opening(&path, uuid, sequence)?;
        let (start, layout, start_bytes) = (&opening.start, opening.layout, opening.start_bytes);
        let mut visitor = JournalVisitor::new(start);
        visitor.begin(checkpoint);
        let recovered = recover(self.disk, &path, start, start_bytes, &mut visitor)?;
        self.notices.extend(recovered.torn);
        self.notices.extend(files.remove_others(self.disk, self.dir, &visitor.segments, sequence)?);
        let salt = start.salt;
        let segments = Segments { disk: self.disk, dir: self.dir, uuid, salt, listed: &visitor.segments };
        let map = build_map(segments, (&path, sequence, &visitor.index), &visitor.tails, &mut self.notices)?;
        let active = Active {
            sequence,
            layout,
            file: recovered.file,
            path: path.into(),
            start_bytes,
            end: recovered.end,
            created_at_us: start.created_at_us,
            last_at_us: visitor.last_at_us,
            index: visitor.index,
        };
        let state = State { groups: visitor.tails, map, active, sealed: visitor.segments };
        let allocated_bytes = recovered.allocated_bytes;
        Ok(Opened { uuid, salt, state, allocated_bytes, notices: self.notices })
    }

    fn active_opening(
        &self,
        path: &Path,
        uuid: StreamUuid,
        sequence: u64,
    ) -> Result<(Opening, Checkpoint), StoreError> {
        let file = self.disk.open(path, Access::Read).map_err(|error| StoreError::io("open", path, error))?;
        let mut opening = Opening::read(&*file, path, uuid, sequence)?;
        let checkpoint = opening.checkpoint.take();
        let missing = || StoreError::corrupt(path, 0, "the segment being written has no checkpoint");
        Ok((opening, checkpoint.ok_or_else(missing)?))
    }

    /// The identity under which the journal was made.
    fn uuid(&self) -> Result<StreamUuid, StoreError> {
        let file: PathBuf = meta_path(self.dir);
        let meta = read_meta(self.disk, &file)?;
        match meta.name == META_NAME && meta.partitions == u32::from(DataGroupId::COUNT) {
            true => Ok(meta.uuid),
            false => Err(StoreError::corrupt(&file, 0, "the file describes something else")),
        }
    }
}
