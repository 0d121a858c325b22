//! Segments that are written no more: their files, and their indexes from beside them or made again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::index::SegmentIndex;
use super::manifest::Listed;
use super::opening::Opening;
use super::sidecar::{Detail, Sidecar};
use super::state::{Shared, segment_path};
use super::visitor::JournalVisitor;
use crate::disk::{self, Access, Disk, DiskFile};
use crate::error::StoreError;
use crate::info::StreamUuid;
use crate::notice::Notice;
use crate::record::{self, HEADER_BYTES};
use crate::scan::{Walked, walk};
use crate::segment_file::index_path;

/// An open sealed segment with its marks. Whoever holds it can read on when compaction deletes the file.
#[derive(Debug)]
pub(crate) struct OpenSegment {
    pub file: Arc<dyn DiskFile>,
    pub path: Arc<Path>,
    pub index: SegmentIndex,
}

/// A sealed segment that the journal lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SealedFile<'s> {
    pub disk: &'s dyn Disk,
    pub dir: &'s Path,
    pub uuid: StreamUuid,
    pub salt: u32,
    pub sequence: u64,
    pub listed: Listed,
}

impl Shared {
    /// A sealed segment of this journal.
    pub(crate) fn sealed_file(&self, sequence: u64, listed: Listed) -> SealedFile<'_> {
        SealedFile { disk: &*self.disk, dir: &self.dir, uuid: self.uuid, salt: self.salt, sequence, listed }
    }

    /// The segment, opened now or before.
    ///
    /// # Errors
    /// `Corrupt`, `Io` (also when compaction deleted it).
    pub(crate) fn open_sealed(&self, sequence: u64, listed: Listed) -> Result<Arc<OpenSegment>, StoreError> {
        self.sealed.get(sequence, || {
            let sealed = self.sealed_file(sequence, listed);
            let (file, _) = sealed.open()?;
            let (index, notices) = sealed.index(Detail::Marks)?;
            notices.into_iter().for_each(|notice| self.notice(notice));
            Ok(OpenSegment { file, path: sealed.path().into(), index })
        })
    }
}

impl SealedFile<'_> {
    pub(crate) fn path(&self) -> PathBuf {
        segment_path(self.dir, self.sequence, self.listed.lifetime)
    }

    /// Opens the file and reads how it begins.
    ///
    /// # Errors
    /// `Corrupt` (also when it is shorter than it was), `Io`.
    pub(crate) fn open(&self) -> Result<(Arc<dyn DiskFile>, Opening), StoreError> {
        let path = self.path();
        let file = self.disk.open(&path, Access::Read).map_err(|error| StoreError::io("open", &path, error))?;
        let opening = Opening::read(&*file, &path, self.uuid, self.sequence)?;
        let bytes = file.bytes().map_err(|error| StoreError::io("measure", &path, error))?;
        match bytes >= self.listed.end && opening.start.lifetime == self.listed.lifetime {
            true => Ok((file, opening)),
            false => {
                Err(StoreError::corrupt(&path, bytes, "the segment is not the one that was sealed under this name"))
            }
        }
    }

    /// The index from its file; when that is missing or damaged, from the segment, and the file is written again.
    ///
    /// # Errors
    /// `Corrupt`: the segment is damaged, so nobody knows what lies behind. `Io`.
    pub(crate) fn index(&self, detail: Detail) -> Result<(SegmentIndex, Vec<Notice>), StoreError> {
        let file = index_path(self.dir, self.sequence);
        let why = match read_sidecar(self.disk, &file, detail) {
            Ok(bytes) => match self.sidecar().decode(&bytes, detail) {
                Ok(index) => return Ok((index, vec![])),
                Err(fault) => fault.to_string(),
            },
            Err(error) => error.to_string(),
        };
        let index = self.scan()?;
        let mut notices = vec![Notice::IndexRebuilt { file, why }];
        notices.extend(self.write_index(&index));
        Ok((index, notices))
    }

    /// Writes the index beside the segment; says so when that failed. It only saves time, and its checksums tell whether
    /// it is whole, so it is not synced.
    pub(crate) fn write_index(&self, index: &SegmentIndex) -> Option<Notice> {
        let file = index_path(self.dir, self.sequence);
        let draft = file.with_extension("tmp");
        let contents = self.sidecar().encode(index);
        let parts = contents.parts();
        let written = self.disk.open(&draft, Access::Create).and_then(|handle| {
            handle.write_at(&parts, 0)?;
            self.disk.rename(&draft, &file)
        });
        written.err().map(|error| Notice::Postponed { file, why: error.to_string() })
    }

    fn sidecar(&self) -> Sidecar {
        Sidecar { sequence: self.sequence, salt: self.salt, end: self.listed.end }
    }

    /// Walks the segment.
    fn scan(&self) -> Result<SegmentIndex, StoreError> {
        let path = self.path();
        let (file, opening) = self.open()?;
        let (start, start_bytes) = (&opening.start, opening.start_bytes);
        let walked = Walked { file: &*file, path: &path, start, start_bytes, limit: self.listed.end };
        let mut visitor = JournalVisitor::new(start);
        match walk(walked, &mut visitor)?.stopped {
            None => Ok(visitor.index),
            Some((at, fault)) => Err(StoreError::corrupt(&path, at, fault.to_string())),
        }
    }
}

/// The whole file, or only its first record where that is enough.
fn read_sidecar(disk: &dyn Disk, file: &Path, detail: Detail) -> io::Result<Vec<u8>> {
    const BYTES_MAX: u64 = 1 << 30;
    const HEADS_BYTES: usize = 4 << 10;
    if detail != Detail::Stretches {
        return disk::read_whole(disk, file, BYTES_MAX);
    }
    let handle = disk.open(file, Access::Read)?;
    let mut bytes = vec![0; HEADS_BYTES];
    let read = handle.read_at(&mut bytes, 0)?;
    let wanted = record::peek_bytes(&bytes[..read.min(HEADER_BYTES)]).unwrap_or(0);
    if wanted > read && read == HEADS_BYTES {
        return disk::read_whole(disk, file, BYTES_MAX);
    }
    bytes.truncate(read);
    Ok(bytes)
}
