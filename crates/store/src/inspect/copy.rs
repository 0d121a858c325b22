//! Copying a data folder, also one that a broker is writing: each stream, and the journal, is what a crash at one moment would
//! have left, which is another one for each. The journal comes last: of what is acknowledged meanwhile it may have more.
//!
//! Why that holds, for the journal: bytes below the last whole commit never change, and neither do sealed segments. The newest
//! segment says which sealed ones count; compaction removes one only after a record that says so. So the newest segment is
//! read first, up to its last whole commit; then each sealed one that it lists is copied. When one of them is gone by then,
//! compaction came in between, and all is tried again with what the newest segment says now. Snapshots are opened before
//! that: a group's snapshot is made of durable entries only, so the segment, read later, has them all; when it says that a
//! group is purged beyond the snapshot at hand, a newer one was made meanwhile, and all is tried again. A snapshot that came from
//! a leader counts by the same record: it is copied along, under the name that it has until the next start.
//!
//! For a stream: segments are copied from the newest to the oldest, each as long as the one behind it says. Retention deletes
//! the oldest first, so what is gone by then is a beginning.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::look::{Target, written_end};
use super::report::{FileKind, Home};
use super::survey::{Survey, survey};
use crate::disk::{Access, Disk, DiskFile};
use crate::error::StoreError;
use crate::journal::{Image, received_name, segment_path, snapshot_name};
use crate::segment_file::{index_path, log_path, read_start, sequence_of};
use crate::stream::scan::StreamVisitor;

/// How often the journal is tried again when compaction comes in between.
const TRIES_MAX: u32 = 100;

/// Copies what counts of the data folder `from` into the folder `to`, synced; tells `each` of every file, and of its bytes.
/// False: `each` broke off.
///
/// # Errors
/// `NoData`, `Corrupt`, `Full`, `Io`, and the fatal ones, which are about the copy.
pub fn copy_folder(
    disk: &dyn Disk,
    from: &Path,
    to: &Path,
    each: &mut dyn FnMut(&Path, u64) -> ControlFlow<()>,
) -> Result<bool, StoreError> {
    let found = survey(disk, from)?;
    let mut copy = Copy { disk, from, to, each };
    match copy.all(&found) {
        Ok(()) => Ok(true),
        Err(Stop::Told) => Ok(false),
        Err(Stop::Gone(path)) => Err(StoreError::io("copy", &from.join(path), io::ErrorKind::NotFound.into())),
        Err(Stop::Failed(error)) => Err(error),
    }
}

struct Copy<'c> {
    disk: &'c dyn Disk,
    from: &'c Path,
    to: &'c Path,
    each: &'c mut dyn FnMut(&Path, u64) -> ControlFlow<()>,
}

/// Why copying does not go on.
enum Stop {
    /// Whoever is told wants no more.
    Told,
    /// A file that was there is not there any more.
    Gone(PathBuf),
    Failed(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Io { file, source, .. } if source.kind() == io::ErrorKind::NotFound => Self::Gone(file),
            other => Self::Failed(other),
        }
    }
}

impl Copy<'_> {
    fn all(&mut self, found: &Survey) -> Result<(), Stop> {
        self.folder(Path::new(""))?;
        let is_root = |home: Home, kind: FileKind| {
            home == Home::Root && matches!(kind, FileKind::Format | FileKind::Stamps | FileKind::Clock)
        };
        for file in found.files.iter().filter(|file| is_root(file.home, file.kind) && !file.is_missing) {
            self.whole(&file.path)?;
        }
        self.folder(Path::new("streams"))?;
        for name in &found.streams {
            self.stream(&Path::new("streams").join(name))?;
        }
        self.sync(Path::new("streams"))?;
        if found.has_journal {
            self.journal()?;
        }
        self.sync(Path::new(""))
    }

    fn stream(&mut self, folder: &Path) -> Result<(), Stop> {
        self.folder(folder)?;
        let mut sequences = self.sequences(folder)?;
        let Some(newest) = sequences.pop_last() else { return Ok(()) };
        self.whole(&folder.join("meta"))?;
        let path = log_path(folder, newest);
        let (full, file) = self.open(&path)?;
        let (start, start_bytes) = read_start(&*file, &full)?;
        let target = Target { file: &*file, path: &full, start: &start, start_bytes, end: None };
        let end = written_end(target, &mut StreamVisitor::new(&start))?;
        self.part(&path, &*file, end, end.max(start.allocated_bytes))?;
        let mut end = start.previous_end;
        for sequence in sequences.into_iter().rev() {
            match self.sealed(folder, sequence, end) {
                Ok(previous_end) => end = previous_end,
                Err(Stop::Gone(_)) => break,
                Err(other) => return Err(other),
            }
        }
        self.if_there(&folder.join("readers"))?;
        self.sync(folder)
    }

    /// A sealed segment of a stream; returns where the one before it ends.
    fn sealed(&mut self, folder: &Path, sequence: u64, end: u64) -> Result<u64, Stop> {
        let path = log_path(folder, sequence);
        let (full, file) = self.open(&path)?;
        let (start, _) = read_start(&*file, &full)?;
        self.part(&path, &*file, end, end)?;
        self.if_there(&index_path(folder, sequence))?;
        Ok(start.previous_end)
    }

    fn journal(&mut self) -> Result<(), Stop> {
        let folder = Path::new("log");
        self.folder(folder)?;
        if self.sequences(folder)?.is_empty() {
            return self.sync(folder);
        }
        self.folder(&folder.join("snapshots"))?;
        self.whole(&folder.join("meta"))?;
        let mut done = BTreeMap::new();
        let mut gone = None;
        for _ in 0..TRIES_MAX {
            match self.try_journal(folder, &mut done) {
                Ok(()) => {
                    self.sync(&folder.join("snapshots"))?;
                    return self.sync(folder);
                }
                Err(Stop::Gone(path)) => gone = Some(path),
                Err(other) => return Err(other),
            }
        }
        Err(Stop::Gone(gone.unwrap_or_default()))
    }

    /// One try; `done`: sealed segments that are copied already, and how long they are.
    fn try_journal(&mut self, folder: &Path, done: &mut BTreeMap<PathBuf, u64>) -> Result<(), Stop> {
        let snapshots = self.snapshots(&folder.join("snapshots"))?;
        let received = self.received(&folder.join("snapshots"))?;
        let Some(newest) = self.sequences(folder)?.pop_last() else { return Err(Stop::Gone(folder.to_path_buf())) };
        let image = Image::take(self.disk, &self.from.join(folder), newest)?;
        let received: Vec<_> = received.into_iter().filter(|(name, ..)| image.counts(*name)).collect();
        for (group, purged) in (0u16..).zip(image.purged()) {
            let is_received = received.iter().any(|(name, ..)| name.0 == group);
            if !is_received && snapshots.get(&group).map_or(0, |snapshot| snapshot.0) < purged {
                return Err(Stop::Gone(folder.join("snapshots")));
            }
        }
        let mut wanted = BTreeSet::new();
        for (sequence, listed) in &image.listed {
            let path = segment_path(folder, *sequence, listed.lifetime);
            if done.get(&path) != Some(&listed.end) {
                let (_, file) = self.open(&path)?;
                self.part(&path, &*file, listed.end, listed.end)?;
                self.if_there(&index_path(folder, *sequence))?;
                done.insert(path.clone(), listed.end);
            }
            wanted.insert(path);
        }
        let path = log_path(folder, image.sequence);
        let (_, file) = self.open(&path)?;
        self.part(&path, &*file, image.end, image.end.max(image.allocated_bytes))?;
        let received = received.iter().map(|(_, path, file)| (path, file));
        for (path, file) in snapshots.values().map(|(_, path, file)| (path, file)).chain(received) {
            let bytes = file.bytes().map_err(|error| StoreError::io("measure", path, error))?;
            self.part(path, &**file, bytes, bytes)?;
        }
        for path in done.keys().filter(|path| !wanted.contains(*path)) {
            // It gave way while the others were copied; what cannot be removed is removed when the copy is opened.
            let _ = self.disk.remove(&self.to.join(path));
            let _ = self.disk.remove(&self.to.join(path).with_extension("idx"));
        }
        Ok(())
    }

    /// By group the newest snapshot, open: its index, its path, the file.
    #[allow(clippy::type_complexity, reason = "one list, used at once")]
    fn snapshots(&self, folder: &Path) -> Result<BTreeMap<u16, (u64, PathBuf, Arc<dyn DiskFile>)>, Stop> {
        let mut newest: BTreeMap<u16, (u64, PathBuf)> = BTreeMap::new();
        for name in self.list(folder)? {
            let Some((group, index)) = snapshot_name(&name) else { continue };
            if newest.get(&group).is_none_or(|known| known.0 < index) {
                newest.insert(group, (index, folder.join(name)));
            }
        }
        let open = |(group, (index, path)): (u16, (u64, PathBuf))| -> Result<_, Stop> {
            let (_, file) = self.open(&path)?;
            Ok((group, (index, path, file)))
        };
        newest.into_iter().map(open).collect()
    }

    /// Snapshots that came from a leader and have no name of their own yet, open: group, index and Raft index, path, file.
    #[allow(clippy::type_complexity, reason = "one list, used at once")]
    fn received(&self, folder: &Path) -> Result<Vec<((u16, u64, u64), PathBuf, Arc<dyn DiskFile>)>, Stop> {
        let names = self.list(folder)?;
        let named = names.iter().filter_map(|name| Some((received_name(name)?, folder.join(name))));
        let open = |(name, path): ((u16, u64, u64), PathBuf)| -> Result<_, Stop> {
            let (_, file) = self.open(&path)?;
            Ok((name, path, file))
        };
        named.map(open).collect()
    }

    fn list(&self, folder: &Path) -> Result<Vec<String>, Stop> {
        let path = self.from.join(folder);
        match self.disk.list(&path) {
            Ok(names) => Ok(names),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(vec![]),
            Err(error) => Err(Stop::Failed(StoreError::io("list", &path, error))),
        }
    }

    fn sequences(&self, folder: &Path) -> Result<BTreeSet<u64>, Stop> {
        Ok(self.list(folder)?.iter().filter_map(|name| sequence_of(name, ".log")).collect())
    }

    fn open(&self, path: &Path) -> Result<(PathBuf, Arc<dyn DiskFile>), StoreError> {
        let full = self.from.join(path);
        let file = self.disk.open(&full, Access::Read).map_err(|error| StoreError::io("open", &full, error))?;
        Ok((full, file))
    }

    fn folder(&self, path: &Path) -> Result<(), Stop> {
        let full = self.to.join(path);
        self.disk.create_dir(&full).map_err(|error| Stop::Failed(StoreError::io("make the folder", &full, error)))
    }

    fn sync(&self, path: &Path) -> Result<(), Stop> {
        let full = self.to.join(path);
        self.disk.sync_dir(&full).map_err(|error| Stop::Failed(StoreError::sync("sync of the folder", &full, error)))
    }

    /// All of a small file that is never changed, only replaced.
    fn whole(&mut self, path: &Path) -> Result<(), Stop> {
        let (full, file) = self.open(path)?;
        let bytes = file.bytes().map_err(|error| StoreError::io("measure", &full, error))?;
        self.part(path, &*file, bytes, bytes)
    }

    /// The same for one that need not be there.
    fn if_there(&mut self, path: &Path) -> Result<(), Stop> {
        match self.whole(path) {
            Err(Stop::Gone(_)) => Ok(()),
            other => other,
        }
    }

    /// The first `bytes` of a file; the copy is `length` long.
    fn part(&mut self, path: &Path, file: &dyn DiskFile, bytes: u64, length: u64) -> Result<(), Stop> {
        const CHUNK_BYTES: usize = 1 << 20;
        let (source, target) = (self.from.join(path), self.to.join(path));
        let out = self.disk.open(&target, Access::Create).map_err(|error| StoreError::make("make", &target, error))?;
        let mut chunk = vec![0; bytes.min(CHUNK_BYTES as u64) as usize];
        let mut at = 0;
        while at < bytes {
            let wanted = (bytes - at).min(CHUNK_BYTES as u64) as usize;
            let read =
                file.read_at(&mut chunk[..wanted], at).map_err(|error| StoreError::io("read", &source, error))?;
            if read == 0 {
                return Err(Stop::Failed(StoreError::corrupt(&source, at, "the file ends here, and was longer")));
            }
            let written = out.write_at(&[IoSlice::new(&chunk[..read])], at);
            written.map_err(|error| StoreError::write("write to", &target, error))?;
            at += read as u64;
        }
        out.set_len(length).map_err(|error| StoreError::write("write to", &target, error))?;
        out.sync().map_err(|error| StoreError::sync("sync", &target, error))?;
        match (self.each)(path, bytes) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stop::Told),
        }
    }
}
