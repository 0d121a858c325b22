//! The journal's files, looked at from outside.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::data_group::DataGroupId;
use super::index::SegmentIndex;
use super::manifest::{Listed, Replaced};
use super::open::META_NAME;
use super::opening::Opening;
use super::sidecar::{Detail, Sidecar};
use super::snapshot::{self, Snapshot, received_name_of};
use super::state::segment_path;
use super::tail::Tail;
use super::visitor::JournalVisitor;
use crate::disk::{self, Access, Disk, DiskFile};
use crate::error::StoreError;
use crate::info::StreamUuid;
use crate::inspect::look::{Look, Target, look};
use crate::inspect::newest_of;
use crate::inspect::salvage::{Piece, salvage};
use crate::inspect::survey::missing;
use crate::inspect::{FileKind, FileReport, Finding, Home, KnownFile, Severity};
use crate::meta_file::{DRAFT as META_DRAFT, meta_path};
use crate::record::{LIFETIME_JOURNAL, LIFETIME_KEPT, RecordKind, StreamMeta};
use crate::segment_file::{index_path, log_path, read_start};

/// The folder `log`.
#[derive(Debug)]
pub(crate) struct JournalView {
    pub dir: PathBuf,
    /// Nothing when the description is missing or damaged.
    uuid: Option<StreamUuid>,
    active: Option<Written>,
    /// Segments as they come, ascending.
    pub young: Vec<u64>,
    /// By group: the newest snapshot.
    snapshots: BTreeMap<u16, u64>,
    /// The segment that was looked at last, if it is whole.
    walked: Option<(u64, SegmentIndex)>,
}

/// The segment being written.
#[derive(Debug)]
struct Written {
    sequence: u64,
    /// Nothing when its opening cannot be read: then nobody knows which segments count either.
    known: Option<Known>,
    look: Look,
}

#[derive(Debug)]
struct Known {
    salt: u32,
    listed: BTreeMap<u64, Listed>,
    /// How each group stands, by partition.
    tails: Vec<Tail>,
}

/// An open segment.
pub(crate) type Opened = (Arc<dyn DiskFile>, Opening);

impl JournalView {
    /// The journal in `dir`, whose files are `files`.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn load(disk: &dyn Disk, dir: PathBuf, files: &[&KnownFile]) -> Result<Self, StoreError> {
        let of = |kind| files.iter().filter(move |file| file.kind == kind).map(|file| file.number);
        let mut young: Vec<u64> = of(FileKind::Segment).collect();
        young.sort_unstable();
        let mut snapshots = BTreeMap::new();
        for file in files.iter().filter(|file| file.kind == FileKind::Snapshot) {
            let newest = snapshots.entry(file.group).or_insert(file.number);
            *newest = file.number.max(*newest);
        }
        let uuid = description(disk, &dir).ok();
        let mut view = Self { dir, uuid, active: None, young, snapshots, walked: None };
        if let Some(sequence) = view.young.last().copied() {
            view.active = Some(view.written(disk, sequence)?);
        }
        Ok(view)
    }

    /// Files that should be there and are not.
    pub(crate) fn missing(&self, disk: &dyn Disk, found: &[&KnownFile], has_clock: bool) -> Vec<KnownFile> {
        let has_segments = found.iter().any(|file| matches!(file.kind, FileKind::Segment | FileKind::Kept));
        let (home, folder) = (Home::Journal, Path::new("log"));
        let is_there = |path: &Path| disk.open(path, Access::Read).is_ok();
        let mut files = vec![];
        if has_segments && !is_there(&meta_path(&self.dir)) && !is_there(&self.dir.join(META_DRAFT)) {
            files.push(missing(folder.join("meta"), FileKind::Meta, home, 0));
        }
        let newest = if has_segments { Some(1) } else { newest_of(found).or(has_clock.then_some(1)) };
        if let Some(number) = newest.filter(|_| self.active.is_none()) {
            files.push(missing(log_path(folder, number), FileKind::Segment, home, number));
        }
        for (sequence, listed) in self.listed() {
            if !is_there(&segment_path(&self.dir, sequence, listed.lifetime)) {
                let kind = if listed.lifetime == LIFETIME_KEPT { FileKind::Kept } else { FileKind::Segment };
                files.push(missing(segment_path(folder, sequence, listed.lifetime), kind, home, sequence));
            }
        }
        files
    }

    /// The segment being written, and whether it is whole.
    pub(crate) fn active(&self) -> Option<u64> {
        self.active.as_ref().map(|active| active.sequence)
    }

    /// Whether the segment being written says which others count.
    pub(crate) fn is_listing(&self) -> bool {
        self.active.as_ref().is_some_and(|active| active.known.is_some())
    }

    /// The sealed segments, by sequence; none where the one being written cannot be read.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (u64, Listed)> + '_ {
        let known = self.active.iter().filter_map(|active| active.known.as_ref());
        known.flat_map(|known| known.listed.iter().map(|(sequence, listed)| (*sequence, *listed)))
    }

    /// Where a segment ended when it was sealed; `None`: it is the one being written, or nobody knows.
    pub(crate) fn end_of(&self, sequence: u64) -> Option<u64> {
        self.listed().find(|segment| segment.0 == sequence).map(|segment| segment.1.end)
    }

    /// Opens a segment.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub(crate) fn open(&self, disk: &dyn Disk, sequence: u64, lifetime: u8) -> Result<Opened, StoreError> {
        let path = segment_path(&self.dir, sequence, lifetime);
        let file = disk.open(&path, Access::Read).map_err(|error| StoreError::io("open", &path, error))?;
        let uuid = match self.uuid {
            Some(uuid) => uuid,
            None => read_start(&*file, &path)?.0.uuid,
        };
        let opening = Opening::read(&*file, &path, uuid, sequence)?;
        match opening.start.lifetime == lifetime {
            true => Ok((file, opening)),
            false => Err(StoreError::corrupt(&path, 0, "the segment is not the one that was sealed under this name")),
        }
    }

    /// The index beside a sealed segment, when it is whole.
    pub(crate) fn sidecar(&self, disk: &dyn Disk, sequence: u64) -> Result<SegmentIndex, String> {
        let known = self.active.as_ref().and_then(|active| active.known.as_ref());
        let listed = known.and_then(|known| Some((known.salt, known.listed.get(&sequence)?.end)));
        let (salt, end) = listed.ok_or("it belongs to no sealed segment")?;
        let bytes = disk::read_whole(disk, &index_path(&self.dir, sequence), 1 << 30);
        let bytes = bytes.map_err(|error| error.to_string())?;
        Sidecar { sequence, salt, end }.decode(&bytes, Detail::Lengths).map_err(|fault| fault.to_string())
    }

    /// What is to be said of one of its files.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn check(&mut self, disk: &dyn Disk, file: &KnownFile) -> Result<FileReport, StoreError> {
        let report = FileReport::of(file);
        Ok(match file.kind {
            FileKind::Segment => self.segment(disk, file.number, LIFETIME_JOURNAL, report)?,
            FileKind::Kept => self.segment(disk, file.number, LIFETIME_KEPT, report)?,
            FileKind::Index => report.with(self.index(disk, file.number)),
            FileKind::Snapshot => report.with(self.snapshot(disk, (file.group, file.number))),
            FileKind::Received => report.with(self.received(disk, file)),
            FileKind::Meta => report.with(description(disk, &self.dir).err().map(|what| Finding::damage(0, 0, what))),
            FileKind::Draft => {
                report.with([Finding::mends(0, file.bytes, "left by a crash: the next start removes it")])
            }
            FileKind::Spare => report,
            _ => report.with([Finding::note("not looked at")]),
        })
    }

    /// Looks at the segment being written, and at what it says of the others.
    fn written(&self, disk: &dyn Disk, sequence: u64) -> Result<Written, StoreError> {
        let path = log_path(&self.dir, sequence);
        let unreadable = |error: &StoreError| {
            let look = Look { findings: vec![Finding::of(error)], ..Look::default() };
            Written { sequence, known: None, look }
        };
        let (file, mut opening) = match self.open(disk, sequence, LIFETIME_JOURNAL) {
            Ok(opened) => opened,
            Err(error) => return Ok(unreadable(&error)),
        };
        let Some(checkpoint) = opening.checkpoint.take() else {
            return Ok(unreadable(&StoreError::corrupt(&path, 0, "the segment being written has no checkpoint")));
        };
        let start = &opening.start;
        let mut visitor = JournalVisitor::new(start);
        visitor.begin(checkpoint);
        let target = Target { file: &*file, path: &path, start, start_bytes: opening.start_bytes, end: None };
        let look = look(target, &mut visitor)?;
        let mut listed = visitor.segments;
        if look.is_damaged() {
            // What it says behind the damage counts too.
            let synced = look.synced;
            salvage(target.walked()?, look.end, &mut |piece| match piece {
                Piece::Record { at, header, body, .. } if at < synced => {
                    if header.kind == RecordKind::Replaced
                        && let Ok(replaced) = Replaced::decode(body)
                    {
                        replaced.apply(&mut listed);
                    }
                    ControlFlow::Continue(())
                }
                Piece::Gap { from, .. } if from < synced => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            })?;
        }
        Ok(Written { sequence, known: Some(Known { salt: start.salt, listed, tails: visitor.tails }), look })
    }

    fn segment(
        &mut self,
        disk: &dyn Disk,
        sequence: u64,
        lifetime: u8,
        mut report: FileReport,
    ) -> Result<FileReport, StoreError> {
        self.walked = None;
        if let Some(active) = self.active.as_ref().filter(|active| active.sequence == sequence)
            && lifetime == LIFETIME_JOURNAL
        {
            (report.records, report.commits) = (active.look.records, active.look.commits);
            return Ok(report.with(active.look.findings.clone()));
        }
        let is_known = self.is_listing();
        let listed = self.listed().find(|segment| segment.0 == sequence && segment.1.lifetime == lifetime);
        let end = match listed {
            Some((_, listed)) => listed.end,
            None if is_known => {
                return Ok(report.with([Finding::mends(
                    0,
                    0,
                    "it was given up before a crash: the next start removes it",
                )]));
            }
            // It was cut to its end when it was sealed.
            None => report.bytes,
        };
        let path = segment_path(&self.dir, sequence, lifetime);
        let (file, opening) = match self.open(disk, sequence, lifetime) {
            Ok(opened) => opened,
            Err(error) => return Ok(report.with([Finding::of(&error)])),
        };
        let (start, start_bytes) = (&opening.start, opening.start_bytes);
        let mut visitor = JournalVisitor::new(start);
        let look = look(Target { file: &*file, path: &path, start, start_bytes, end: Some(end) }, &mut visitor)?;
        (report.records, report.commits) = (look.records, look.commits);
        if !look.is_damaged() {
            self.walked = Some((sequence, visitor.index));
        }
        let is_bare = disk.open(&index_path(&self.dir, sequence), Access::Read).is_err();
        let bare = is_bare.then(|| Finding::mends(0, 0, "its index is missing: the next start makes it again"));
        Ok(report.with(look.findings).with(bare))
    }

    fn index(&self, disk: &dyn Disk, sequence: u64) -> Option<Finding> {
        if self.active.as_ref().is_some_and(|active| active.known.is_none()) {
            return Some(Finding::note("not looked at: the segment being written cannot be read"));
        }
        if self.end_of(sequence).is_none() {
            return Some(Finding::mends(0, 0, "it belongs to no sealed segment: the next start removes it"));
        }
        let again = |why: &str| Some(Finding::mends(0, 0, format!("{why}: it is made again when it is needed")));
        let index = match self.sidecar(disk, sequence) {
            Ok(index) => index,
            Err(why) => return again(&why),
        };
        let walked = self.walked.as_ref().filter(|walked| walked.0 == sequence)?;
        let mut pairs = index.groups.iter().zip(&walked.1.groups);
        let is_same = pairs.all(|(said, found)| said.stretches == found.stretches && said.cut_from == found.cut_from);
        if is_same { None } else { again("it says something else than its segment") }
    }

    fn snapshot(&self, disk: &dyn Disk, (group, index): (u16, u64)) -> Option<Finding> {
        if DataGroupId(group).place().is_err() {
            return Some(Finding::note("there is no such data group"));
        }
        let known = self.active.as_ref().and_then(|active| active.known.as_ref());
        let Some(salt) = known.map(|known| known.salt) else {
            return Some(Finding::note("not looked at: the segment being written cannot be read"));
        };
        let read = Snapshot::open(disk, &self.dir, salt, (group, index)).and_then(|found| self.read_through(found));
        match read {
            Err(error) => Some(Finding::of(&error)),
            Ok(()) if self.snapshots.get(&group) != Some(&index) => Some(Finding::note("there is a newer one")),
            Ok(()) => None,
        }
    }

    fn read_through(&self, mut snapshot: Snapshot) -> Result<(), StoreError> {
        let read = io::copy(&mut snapshot, &mut io::sink());
        read.map(drop).map_err(|error| {
            let path = self.dir.join("snapshots");
            error.downcast().unwrap_or_else(|other| StoreError::io("read", &path, other))
        })
    }

    /// What came from a leader counts where the log goes on behind it.
    fn received(&self, disk: &dyn Disk, file: &KnownFile) -> Option<Finding> {
        let known = self.active.as_ref().and_then(|active| active.known.as_ref());
        let Some(known) = known else {
            return Some(Finding::note("not looked at: the segment being written cannot be read"));
        };
        let name = file.path.file_name().and_then(|name| received_name_of(name.to_str()?));
        let Some(name) = name.filter(|name| snapshot::counts(*name, &known.tails)) else {
            let what = "it came from another node and does not count: the next start removes it";
            return Some(Finding::mends(0, file.bytes, what));
        };
        let path = self.dir.join("snapshots").join(file.path.file_name()?);
        let opened = Snapshot::open_file(disk, path, known.salt, (name.0, name.1));
        match opened.and_then(|found| self.read_through(found)) {
            Err(error) => Some(Finding::of(&error)),
            Ok(()) => {
                Some(Finding::mends(0, 0, "it came from another node and counts: the next start gives it its name"))
            }
        }
    }
}

impl Look {
    fn is_damaged(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Damage)
    }
}

/// The identity under which the journal was made, or what is wrong with its description.
pub(super) fn description(disk: &dyn Disk, dir: &Path) -> Result<StreamUuid, String> {
    let bytes = disk::read_whole(disk, &dir.join("meta"), 4096).map_err(|error| format!("cannot read it: {error}"))?;
    let meta = StreamMeta::decode(&bytes).map_err(|fault| fault.to_string())?;
    match meta.name == META_NAME && meta.partitions == u32::from(DataGroupId::COUNT) {
        true => Ok(meta.uuid),
        false => Err("the file describes something else".to_owned()),
    }
}
