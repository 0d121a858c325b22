//! The files of one stream.

use std::path::{Path, PathBuf};

use super::look::{Look, Target, look};
use super::report::{FileKind, FileReport, Finding, Home, KnownFile};
use super::survey::missing;
use crate::disk::{self, Access, Disk, OsDisk};
use crate::error::StoreError;
use crate::index::Sidecar;
use crate::meta_file::DRAFT as META_DRAFT;
use crate::record::{PartitionStart, SegmentStart, StreamMeta};
use crate::scan::Walked;
use crate::segment_file::{index_path, log_path, read_start, sequence_of};
use crate::stream::named_readers::NamedReaders;
use crate::stream::scan::{StreamVisitor, scan};

/// A stream's folder.
#[derive(Debug)]
pub(crate) struct StreamView {
    pub name: String,
    pub dir: PathBuf,
    /// Nothing when it is missing or damaged.
    pub meta: Option<StreamMeta>,
    /// Numbers of its segments, ascending.
    pub sequences: Vec<u64>,
}

/// The number that the newest segment had at least, where what lies beside says that there were some, and none is there.
pub(crate) fn newest_of(files: &[&KnownFile]) -> Option<u64> {
    let tells = |kind| {
        matches!(kind, FileKind::Meta | FileKind::Readers | FileKind::Snapshot | FileKind::Received | FileKind::Spare)
    };
    let sealed = files.iter().filter(|file| file.kind == FileKind::Index).map(|file| file.number).max();
    let any = files.iter().any(|file| tells(file.kind)).then_some(1);
    sealed.map(|sealed| sealed + 1).or(any)
}

/// The opening of a segment: its record, and that record's length.
pub(crate) type Start = (SegmentStart, u64);

impl StreamView {
    /// The stream in `dir`, whose files are `files`.
    pub(crate) fn load(disk: &dyn Disk, dir: PathBuf, name: String, files: &[&KnownFile]) -> Self {
        let segments = files.iter().filter(|file| file.kind == FileKind::Segment);
        let mut sequences: Vec<u64> = segments.map(|file| file.number).collect();
        sequences.sort_unstable();
        let meta = described(disk, &dir);
        Self { name, dir, meta, sequences }
    }

    /// Files that should be there and are not.
    pub(crate) fn missing(&self, files: &[&KnownFile], place: usize) -> Vec<KnownFile> {
        let (home, folder) = (Home::Stream(place), Path::new("streams").join(&self.name));
        let has_meta = files.iter().any(|file| file.kind == FileKind::Meta || file.path.ends_with(META_DRAFT));
        let wants_meta = !has_meta && !self.sequences.is_empty();
        let meta = wants_meta.then(|| missing(folder.join("meta"), FileKind::Meta, home, 0));
        let gaps = self.sequences.windows(2).flat_map(|pair| pair[0] + 1..pair[1]);
        let newest = self.sequences.is_empty().then(|| newest_of(files)).flatten();
        let missed = gaps.chain(newest);
        let segments = missed.map(|number| missing(log_path(&folder, number), FileKind::Segment, home, number));
        meta.into_iter().chain(segments).collect()
    }

    /// What is to be said of one of its files.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn check(&self, disk: &dyn Disk, file: &KnownFile) -> Result<FileReport, StoreError> {
        let report = FileReport::of(file);
        Ok(match file.kind {
            FileKind::Segment => self.segment(disk, file.number, report)?,
            FileKind::Index => report.with(self.index(disk, file.number)),
            FileKind::Meta => report.with(self.description(disk)),
            FileKind::Readers => report.with(self.readers(disk)),
            FileKind::Draft => {
                report.with([Finding::mends(0, file.bytes, "left by a crash: the next start removes it")])
            }
            _ => report.with([Finding::note("not looked at")]),
        })
    }

    fn description(&self, disk: &dyn Disk) -> Option<Finding> {
        let bytes = match disk::read_whole(disk, &self.dir.join("meta"), 4096) {
            Ok(bytes) => bytes,
            Err(error) => return Some(Finding::damage(0, 0, format!("cannot read it: {error}"))),
        };
        match StreamMeta::decode(&bytes) {
            Ok(meta) if meta.name == self.name => None,
            Ok(meta) => Some(Finding::damage(0, 0, format!("it describes the stream {:?}", meta.name))),
            Err(fault) => Some(Finding::damage(0, 0, fault.to_string())),
        }
    }

    fn readers(&self, disk: &dyn Disk) -> Option<Finding> {
        let forgotten = |why: String| Finding::mends(0, 0, format!("{why}; positions of named readers are forgotten"));
        let partitions = self.meta.as_ref().map_or(u32::MAX, |meta| meta.partitions);
        match disk::read_whole(disk, &self.dir.join("readers"), 16 << 20) {
            Ok(bytes) => {
                let restored = NamedReaders::new(usize::MAX, 0).restore(&bytes, partitions);
                restored.err().map(|fault| forgotten(fault.to_string()))
            }
            Err(error) => Some(forgotten(error.to_string())),
        }
    }

    /// The opening of a segment, which has to be this stream's.
    pub(crate) fn start(&self, disk: &dyn Disk, sequence: u64) -> Result<Start, StoreError> {
        let path = log_path(&self.dir, sequence);
        let file = disk.open(&path, Access::Read).map_err(|error| StoreError::io("open", &path, error))?;
        let (start, start_bytes) = read_start(&*file, &path)?;
        let is_ours = |meta: &StreamMeta| (meta.uuid, meta.partitions as usize) == (start.uuid, start.partitions.len());
        match start.sequence == sequence && self.meta.as_ref().is_none_or(is_ours) {
            true => Ok((start, start_bytes)),
            false => Err(StoreError::corrupt(&path, 0, "the segment belongs to another stream or place")),
        }
    }

    /// The opening of the segment behind this one, which closes its books; `None` for the last one.
    pub(crate) fn following(&self, disk: &dyn Disk, sequence: u64) -> Option<Result<SegmentStart, StoreError>> {
        let next = self.sequences.iter().find(|number| **number > sequence)?;
        Some(self.start(disk, *next).map(|start| start.0))
    }

    fn segment(&self, disk: &dyn Disk, sequence: u64, mut report: FileReport) -> Result<FileReport, StoreError> {
        let path = log_path(&self.dir, sequence);
        let opened = disk.open(&path, Access::Read).map_err(|error| StoreError::io("open", &path, error));
        let (file, (start, start_bytes)) = match opened.and_then(|file| Ok((file, self.start(disk, sequence)?))) {
            Ok(opened) => opened,
            Err(error) => return Ok(report.with([Finding::of(&error)])),
        };
        let following = self.following(disk, sequence);
        let end = match &following {
            Some(Ok(following)) => Some(following.previous_end),
            // Its books are lost with the opening of the next one; it was cut to its end when it was sealed.
            Some(Err(_)) => Some(report.bytes),
            None => None,
        };
        let mut visitor = StreamVisitor::new(&start);
        let target = Target { file: &*file, path: &path, start: &start, start_bytes, end };
        let Look { records, commits, findings, .. } = look(target, &mut visitor)?;
        (report.records, report.commits) = (records, commits);
        let is_whole = findings.is_empty();
        report = report.with(findings);
        if let Some(Ok(following)) = following.as_ref().filter(|_| is_whole) {
            report = report.with(books(&visitor, following));
        }
        let is_bare = end.is_some() && disk.open(&index_path(&self.dir, sequence), Access::Read).is_err();
        Ok(report
            .with(is_bare.then(|| Finding::mends(0, 0, "its index is missing: it is made again when it is needed"))))
    }

    fn index(&self, disk: &dyn Disk, sequence: u64) -> Option<Finding> {
        let again = |why: String| Some(Finding::mends(0, 0, format!("{why}: it is made again when it is needed")));
        let (Ok((start, _)), Some(Ok(following))) = (self.start(disk, sequence), self.following(disk, sequence)) else {
            return Some(Finding::note("it belongs to no sealed segment that can be read"));
        };
        let sidecar = Sidecar { sequence, salt: start.salt, end: following.previous_end };
        match disk::read_whole(disk, &index_path(&self.dir, sequence), following.previous_end) {
            Ok(bytes) => {
                sidecar.decode(&bytes, start.partitions.len()).err().and_then(|fault| again(fault.to_string()))
            }
            Err(error) => again(error.to_string()),
        }
    }

    /// Makes the index of a sealed segment again; false for the one being written.
    pub(crate) fn remake_index(&self, disk: &dyn Disk, sequence: u64) -> Result<bool, StoreError> {
        let Some(following) = self.following(disk, sequence).transpose()? else { return Ok(false) };
        let (start, start_bytes) = self.start(disk, sequence)?;
        let path = log_path(&self.dir, sequence);
        let file = disk.open(&path, Access::Read).map_err(|error| StoreError::io("open", &path, error))?;
        let limit = following.previous_end;
        let (found, end) = scan(Walked { file: &*file, path: &path, start: &start, start_bytes, limit })?;
        if let Some((at, fault)) = end.stopped {
            return Err(StoreError::corrupt(&path, at, fault.to_string()));
        }
        let (sidecar, file) = (Sidecar { sequence, salt: start.salt, end: limit }, index_path(&self.dir, sequence));
        let replaced = disk::replace(disk, &file, &sidecar.encode(&found.index));
        replaced.map(|()| true).map_err(|error| StoreError::write("write", &file, error))
    }
}

/// The partitions that a stream was made with; `None`: nothing was ever kept of it, or it cannot be read.
pub fn made_partitions(dir: &Path, name: &str) -> Option<u32> {
    let folder = dir.join("streams").join(name);
    let names = OsDisk.list(&folder).ok()?;
    let is_made = names.iter().any(|name| sequence_of(name, ".log").is_some());
    described(&OsDisk, &folder).filter(|_| is_made).map(|meta| meta.partitions)
}

/// What a stream's description says; nothing where it is missing or damaged.
pub(super) fn described(disk: &dyn Disk, folder: &Path) -> Option<StreamMeta> {
    let bytes = disk::read_whole(disk, &folder.join("meta"), 4096).ok()?;
    StreamMeta::decode(&bytes).ok()
}

/// A segment has to end where the next one begins.
fn books(visitor: &StreamVisitor, following: &SegmentStart) -> Vec<Finding> {
    let pairs = visitor.next.iter().zip(&following.partitions).enumerate();
    let wrong = pairs.filter(|(_, (next, partition))| **next != partition.first_offset);
    let say = |(partition, (next, start)): (usize, (&u64, &PartitionStart))| {
        let begins = start.first_offset;
        Finding::damage(
            0,
            0,
            format!("partition {partition} ends before {next}, and the next segment begins at {begins}"),
        )
    };
    wrong.map(say).collect()
}
