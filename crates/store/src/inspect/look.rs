//! Looking at one segment from end to end.

use std::ops::ControlFlow;
use std::path::Path;

use super::report::Finding;
use super::salvage::{Piece, salvage};
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::record::{CommitBody, Fault, RecordKind, SegmentStart};
use crate::scan::{Found, Visitor, Walked, search_tail, walk};

/// A segment whose opening could be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'s> {
    pub file: &'s dyn DiskFile,
    pub path: &'s Path,
    pub start: &'s SegmentStart,
    pub start_bytes: u64,
    /// Where it ended when it was sealed; `None`: it is being written.
    pub end: Option<u64>,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub records: u64,
    pub commits: u64,
    /// Behind the last whole commit before any damage.
    pub end: u64,
    /// Everything before this was synced.
    pub synced: u64,
    pub findings: Vec<Finding>,
}

impl<'s> Target<'s> {
    /// The part of the file that holds records, or may.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn walked(&self) -> Result<Walked<'s>, StoreError> {
        let bytes = self.file.bytes().map_err(|error| StoreError::io("measure", self.path, error))?;
        let limit = self.end.map_or(bytes, |end| end.min(bytes));
        let Self { file, path, start, start_bytes, .. } = *self;
        Ok(Walked { file, path, start, start_bytes, limit })
    }
}

/// Walks the segment, tells `visitor` of all before the first damage, and finds the rest of the damage.
///
/// # Errors
/// `Io` only.
pub(crate) fn look(target: Target<'_>, visitor: &mut impl Visitor) -> Result<Look, StoreError> {
    let walked = target.walked()?;
    let mut look = Look { findings: length(&target)?, ..Look::default() };
    let mut counting = Counting { inner: visitor, records: 0, commits: 0, seen: 0 };
    let walk = walk(walked, &mut counting)?;
    (look.records, look.commits) = (counting.records, counting.commits);
    (look.end, look.synced) = (walk.end, walk.end);
    let Some((at, fault)) = walk.stopped else { return Ok(look) };
    match target.end {
        Some(_) => look.synced = walked.limit,
        None => {
            let tail = search_tail(walked, walk.end)?;
            if at >= tail.synced {
                let bytes = tail.dirty_end - walk.end;
                let what = "a torn tail, never synced: the next start cuts it";
                look.findings.extend((bytes > 0).then(|| Finding::mends(walk.end, bytes, what)));
                return Ok(look);
            }
            look.synced = tail.synced;
        }
    }
    look.search(walked, at, &fault)?;
    Ok(look)
}

/// Where the whole commits of a segment end that somebody may be writing: they are all there, and stay as they are.
///
/// What later commits vouch for is found first: all of it was written before it is walked, so that the walk has to come
/// as far.
/// # Errors
/// `Corrupt`, `Io`.
pub(crate) fn written_end(target: Target<'_>, visitor: &mut impl Visitor) -> Result<u64, StoreError> {
    let walked = target.walked()?;
    let synced = search_tail(walked, target.start_bytes)?.synced;
    let walk = walk(walked, visitor)?;
    match walk.stopped {
        Some((at, fault)) if at < synced => Err(StoreError::corrupt(target.path, at, fault.to_string())),
        _ => Ok(walk.end),
    }
}

/// A file that is shorter than it was.
fn length(target: &Target<'_>) -> Result<Vec<Finding>, StoreError> {
    let bytes = target.file.bytes().map_err(|error| StoreError::io("measure", target.path, error))?;
    let (wanted, what) = match target.end {
        Some(end) => (end, "the file ends here, and was longer when it was sealed"),
        None => (target.start.allocated_bytes, "the file ends here, and more was reserved for it"),
    };
    Ok(if bytes < wanted { vec![Finding::damage(bytes, wanted - bytes, what)] } else { vec![] })
}

impl Look {
    /// Finds every gap behind the last whole commit, and counts what can be read between them.
    fn search(&mut self, walked: Walked<'_>, at: u64, fault: &Fault) -> Result<(), StoreError> {
        let (mut gaps, mut records, synced) = (vec![], 0, self.synced);
        salvage(walked, self.end, &mut |piece| match piece {
            Piece::Gap { from, .. } if from >= synced => ControlFlow::Break(()),
            Piece::Gap { from, until } => {
                gaps.push((from, until));
                ControlFlow::Continue(())
            }
            Piece::Record { header, .. } => {
                records += u64::from(header.kind == RecordKind::Data);
                ControlFlow::Continue(())
            }
        })?;
        self.records += records;
        if gaps.iter().all(|gap| gap.0 != at) {
            // Every record can be read, and they do not fit together.
            self.findings.push(Finding::damage(at, 0, fault.to_string()));
        }
        for (from, until) in gaps {
            let what = if from == at { fault.to_string() } else { "no record can be read here".to_owned() };
            self.findings.push(Finding::damage(from, until - from, what));
        }
        Ok(())
    }
}

/// Counts what is told to another visitor.
struct Counting<'v, V> {
    inner: &'v mut V,
    records: u64,
    commits: u64,
    /// Of the commit that is being walked.
    seen: u64,
}

impl<V: Visitor> Visitor for Counting<'_, V> {
    fn partitions(&self) -> usize {
        self.inner.partitions()
    }

    fn record(&mut self, found: &Found<'_>) -> Result<(), Fault> {
        self.seen += u64::from(found.header.kind == RecordKind::Data);
        self.inner.record(found)
    }

    fn committed(&mut self, commit: &CommitBody, end: u64) {
        self.records += std::mem::take(&mut self.seen);
        self.commits += 1;
        self.inner.committed(commit, end);
    }

    fn abandoned(&mut self, end: u64) {
        self.seen = 0;
        self.inner.abandoned(end);
    }
}
