//! Snapshots of data groups, as files in `log/snapshots/`: what a group's entries through an index add up to. The journal
//! keeps the newest one of each group and sees bytes.
//!
//! What a leader sends bears a name of its own until a record of the journal says that it counts ([`super::received`]).
//!
//! A file is a list of records, each with a part of the bytes, ended by one without any that names their sum. It bears a
//! draft's name until it is whole and synced. Any thread may write or read one; one thread at a time writes those of a
//! group.

use std::io::{self, IoSlice, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::counters::JournalCounters;
use super::data_group::DataGroupId;
use super::reader::JournalReader;
use super::state::Shared;
use super::tail::Tail;
use crate::clock::now_us;
use crate::disk::{Access, Disk, DiskFile};
use crate::error::StoreError;
use crate::record::{self, Fault, HEADER_BYTES, LIFETIME_KEPT, RecordHeader, RecordKind};
use crate::window::Window;

/// Bytes of one part.
const PART_BYTES: usize = 256 << 10;

pub(crate) fn folder(dir: &Path) -> PathBuf {
    dir.join("snapshots")
}

fn path(dir: &Path, group: u16, index: u64) -> PathBuf {
    folder(dir).join(format!("{group:02}-{index:020}.snap"))
}

/// Group and index in a file's name.
pub(crate) fn name_of(name: &str) -> Option<(u16, u64)> {
    let (group, index) = name.strip_suffix(".snap")?.split_once('-')?;
    (group.len() == 2 && index.len() == 20).then(|| Some((group.parse().ok()?, index.parse().ok()?))).flatten()
}

/// What a leader has sent, and the journal counts by a record: group, index and Raft index are in its name.
pub(super) fn received_path(dir: &Path, group: u16, index: u64, raft_index: u64) -> PathBuf {
    folder(dir).join(format!("{group:02}-{index:020}-{raft_index:020}.received"))
}

/// Group, index and Raft index in the name of a received snapshot.
pub(crate) fn received_name_of(name: &str) -> Option<(u16, u64, u64)> {
    let (front, raft_index) = name.strip_suffix(".received")?.rsplit_once('-')?;
    let (group, index) = name_of(&format!("{front}.snap"))?;
    (raft_index.len() == 20).then(|| Some((group, index, raft_index.parse().ok()?))).flatten()
}

/// Makes the folder, gives received snapshots that count their names, and removes drafts and those that do not. `tails`: how
/// each group stands, by partition.
///
/// # Errors
/// `Io`; `WriteFailed`, `SyncFailed`: fatal.
pub(crate) fn tidy(disk: &dyn Disk, dir: &Path, tails: &[Tail]) -> Result<(), StoreError> {
    let folder = folder(dir);
    disk.create_dir(&folder).map_err(|error| StoreError::io("make the folder", &folder, error))?;
    for name in disk.list(&folder).map_err(|error| StoreError::io("list", &folder, error))? {
        let file = folder.join(&name);
        if let Some((group, index, _)) = received_name_of(&name).filter(|received| counts(*received, tails)) {
            let named = path(dir, group, index);
            disk.rename(&file, &named).map_err(|error| StoreError::write("name a snapshot", &named, error))?;
        } else if name.ends_with(".tmp") || name.ends_with(".received") {
            disk.remove(&file).map_err(|error| StoreError::io("remove", &file, error))?;
        }
    }
    disk.sync_dir(&folder).map_err(|error| StoreError::sync("sync of the folder", &folder, error))
}

/// Whether the log has gone on behind a received snapshot: it is purged exactly as far.
pub(crate) fn counts((group, index, raft_index): (u16, u64, u64), tails: &[Tail]) -> bool {
    let tail = tails.get(usize::from(group));
    tail.is_some_and(|tail| (tail.purged, tail.raft.purged) == (index, raft_index))
}

/// A snapshot that is being written. It counts after [`SnapshotDraft::finish`]; dropped before, it leaves nothing.
#[derive(Debug)]
pub struct SnapshotDraft {
    shared: Arc<Shared>,
    group: u16,
    index: u64,
    term: u64,
    draft: PathBuf,
    /// The name that it gets.
    named: PathBuf,
    file: Arc<dyn DiskFile>,
    at: u64,
    /// Bytes that were given, and parts that were written.
    bytes: u64,
    parts: u64,
    part: Vec<u8>,
    record: Vec<u8>,
    is_named: bool,
}

/// A snapshot that is being read: verified part by part. A clone reads on from the same place, also when the file is removed.
#[derive(Debug, Clone)]
pub struct Snapshot {
    group: u16,
    index: u64,
    term: u64,
    salt: u32,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    file_bytes: u64,
    at: u64,
    bytes: u64,
    parts: u64,
    part: Vec<u8>,
    taken: usize,
    is_over: bool,
}

impl JournalReader {
    /// Begins a snapshot of a group: what its entries through `index`, which has this `term`, add up to. Write the bytes,
    /// then [`SnapshotDraft::finish`]; only then purge.
    ///
    /// # Errors
    /// `NoDataGroup`, `Full`, `Exhausted`, `WriteFailed`.
    pub fn new_snapshot(&self, group: DataGroupId, index: u64, term: u64) -> Result<SnapshotDraft, StoreError> {
        group.place()?;
        let named = path(&self.shared.dir, group.0, index);
        SnapshotDraft::begin(&self.shared, (group.0, index, term), named)
    }

    /// The newest snapshot of a group.
    ///
    /// # Errors
    /// `NoDataGroup`, `Corrupt`, `Io`.
    pub fn snapshot(&self, group: DataGroupId) -> Result<Option<Snapshot>, StoreError> {
        group.place()?;
        let shared = &self.shared;
        let newest = indexes(shared, group.0)?.into_iter().max();
        newest.map(|index| Snapshot::open(&*shared.disk, &shared.dir, shared.salt, (group.0, index))).transpose()
    }
}

/// The indexes of which a group has snapshots.
fn indexes(shared: &Shared, group: u16) -> Result<Vec<u64>, StoreError> {
    let folder = folder(&shared.dir);
    let names = shared.disk.list(&folder).map_err(|error| StoreError::io("list", &folder, error))?;
    Ok(names.iter().filter_map(|name| name_of(name)).filter(|name| name.0 == group).map(|name| name.1).collect())
}

/// The received snapshot of a group counts: it takes the place of older ones.
///
/// # Errors
/// `WriteFailed`, `SyncFailed`, `Io`: fatal.
pub(super) fn name_received(shared: &Shared, group: u16, index: u64, raft_index: u64) -> Result<(), StoreError> {
    let (received, named) = (received_path(&shared.dir, group, index, raft_index), path(&shared.dir, group, index));
    let renamed = shared.disk.rename(&received, &named);
    renamed.map_err(|error| StoreError::write("name a snapshot", &named, error))?;
    let folder = folder(&shared.dir);
    shared.disk.sync_dir(&folder).map_err(|error| StoreError::sync("sync of the folder", &folder, error))?;
    remove_older(shared, group, index)
}

fn remove_older(shared: &Shared, group: u16, index: u64) -> Result<(), StoreError> {
    for older in indexes(shared, group)?.into_iter().filter(|older| *older < index) {
        // What cannot be removed now is removed with the next one.
        let _ = shared.disk.remove(&path(&shared.dir, group, older));
    }
    Ok(())
}

impl SnapshotDraft {
    /// Begins the file that is to have this name in the end.
    pub(super) fn begin(
        shared: &Arc<Shared>,
        (group, index, term): (u16, u64, u64),
        named: PathBuf,
    ) -> Result<Self, StoreError> {
        let (shared, draft) = (shared.clone(), named.with_extension("tmp"));
        let file = shared.disk.open(&draft, Access::Create);
        let file = file.map_err(|error| StoreError::make("make a snapshot", &draft, error))?;
        let (part, record) = (Vec::with_capacity(PART_BYTES), vec![]);
        let (at, bytes, parts, is_named) = (0, 0, 0, false);
        Ok(Self { shared, group, index, term, draft, named, file, at, bytes, parts, part, record, is_named })
    }

    /// Makes the snapshot durable; it takes the place of older ones of its group. Returns the bytes of its file.
    ///
    /// # Errors
    /// `Full`: nothing is left behind. `WriteFailed`, `SyncFailed`: the node must stop.
    pub fn finish(mut self) -> Result<u64, StoreError> {
        self.name()?;
        remove_older(&self.shared, self.group, self.index)?;
        Ok(self.at)
    }

    /// Writes what is left, and makes the file durable under its name.
    pub(super) fn name(&mut self) -> Result<(), StoreError> {
        if !self.part.is_empty() {
            self.write_part()?;
        }
        self.write_part()?;
        self.file.sync().map_err(|error| StoreError::sync("sync", &self.draft, error))?;
        let (disk, folder) = (&*self.shared.disk, folder(&self.shared.dir));
        let renamed = disk.rename(&self.draft, &self.named);
        renamed.map_err(|error| StoreError::write("name a snapshot", &self.named, error))?;
        self.is_named = true;
        JournalCounters::add(&self.shared.counters.snapshots, 1);
        JournalCounters::add(&self.shared.counters.snapshot_bytes, self.at);
        disk.sync_dir(&folder).map_err(|error| StoreError::sync("sync of the folder", &folder, error))
    }

    /// Writes what gathered as the next part; nothing gathered: the end.
    fn write_part(&mut self) -> Result<(), StoreError> {
        let header = RecordHeader {
            lifetime: LIFETIME_KEPT,
            data_group: self.group,
            partition: u32::from(self.group),
            term: self.term,
            index: self.index,
            message_id: self.bytes,
            offset: self.parts,
            ..RecordHeader::own(RecordKind::Snapshot, now_us())
        };
        self.record.clear();
        header.encode(&self.part, self.shared.salt, &mut self.record);
        let written = self.file.write_at(&[IoSlice::new(&self.record)], self.at);
        written.map_err(|error| StoreError::write("write to", &self.draft, error))?;
        self.at += self.record.len() as u64;
        self.parts += 1;
        self.part.clear();
        Ok(())
    }
}

impl Write for SnapshotDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.part.len() == PART_BYTES {
            self.write_part().map_err(io::Error::other)?;
        }
        let taken = bytes.len().min(PART_BYTES - self.part.len());
        self.part.extend_from_slice(&bytes[..taken]);
        self.bytes += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for SnapshotDraft {
    fn drop(&mut self) {
        if !self.is_named {
            // What cannot be removed now is removed when the journal is opened.
            let _ = self.shared.disk.remove(&self.draft);
        }
    }
}

impl Snapshot {
    /// Opens the snapshot of a group through an index, and verifies its first part.
    pub(crate) fn open(disk: &dyn Disk, dir: &Path, salt: u32, (group, index): (u16, u64)) -> Result<Self, StoreError> {
        Self::open_file(disk, path(dir, group, index), salt, (group, index))
    }

    /// The same, whatever its name is.
    pub(crate) fn open_file(
        disk: &dyn Disk,
        path: PathBuf,
        salt: u32,
        (group, index): (u16, u64),
    ) -> Result<Self, StoreError> {
        let file = disk.open(&path, Access::Read).map_err(|error| StoreError::io("open", &path, error))?;
        let file_bytes = file.bytes().map_err(|error| StoreError::io("measure", &path, error))?;
        let part = vec![];
        let mut snapshot = Self {
            group,
            index,
            term: 0,
            salt,
            path,
            file,
            file_bytes,
            at: 0,
            bytes: 0,
            parts: 0,
            part,
            taken: 0,
            is_over: false,
        };
        snapshot.next_part()?;
        Ok(snapshot)
    }

    /// The last index that it covers.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The term of that entry.
    pub fn term(&self) -> u64 {
        self.term
    }

    /// Bytes of its file.
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Reads and verifies the next part.
    fn next_part(&mut self) -> Result<(), StoreError> {
        let mut window = Window::new(&*self.file, &self.path, self.file_bytes).with_chunk(0);
        let corrupt = |fault: Fault| StoreError::corrupt(&self.path, self.at, fault.to_string());
        let total = record::peek_bytes(window.slice(self.at, HEADER_BYTES)?).map_err(corrupt)?;
        let (header, body) = record::decode(window.slice(self.at, total)?, self.salt).map_err(corrupt)?;
        let found = (header.kind, header.data_group, header.index, header.offset, header.message_id);
        let bytes = self.bytes + body.len() as u64;
        if found != (RecordKind::Snapshot, self.group, self.index, self.parts, bytes) {
            return Err(corrupt(Fault::Misplaced("a part of another snapshot, or another part, lies here")));
        }
        (self.term, self.bytes, self.taken) = (header.term, bytes, 0);
        self.is_over = body.is_empty();
        self.part.clear();
        self.part.extend_from_slice(body);
        self.at += total as u64;
        self.parts += 1;
        Ok(())
    }
}

impl Read for Snapshot {
    /// # Errors
    /// What is wrong with the file, as a [`StoreError`] inside.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.part.len() && !self.is_over {
            self.next_part().map_err(io::Error::other)?;
        }
        let taken = bytes.len().min(self.part.len() - self.taken);
        bytes[..taken].copy_from_slice(&self.part[self.taken..self.taken + taken]);
        self.taken += taken;
        Ok(taken)
    }
}
