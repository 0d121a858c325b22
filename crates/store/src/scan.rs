//! Walking a whole segment: what is in it, where it ends, and whether what follows is a torn tail or damage.

use std::path::Path;

use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::record::{self, CommitBody, Fault, HEADER_BYTES, RecordHeader, RecordKind, Run, SegmentStart};
use crate::window::Window;

/// A record on a walk, verified.
#[derive(Debug)]
pub(crate) struct Found<'w> {
    /// The run that it belongs to.
    pub run: &'w Run,
    /// Where it lies in the file, and its bytes on disk.
    pub at: u64,
    pub bytes: u64,
    pub header: RecordHeader,
    pub body: &'w [u8],
}

/// Who a walk tells of what it finds. Records of a commit that turns out not to be whole were told in vain.
pub(crate) trait Visitor {
    /// Runs are of partitions below this.
    fn partitions(&self) -> usize;
    /// The next record; a fault ends the walk before its commit.
    fn record(&mut self, found: &Found<'_>) -> Result<(), Fault>;
    /// All records told since the last call are in a whole commit, which ends at `end`.
    fn committed(&mut self, commit: &CommitBody, end: u64);
    /// They are not; the last whole commit ended at `end`.
    fn abandoned(&mut self, end: u64);
}

/// How far a walk came.
#[derive(Debug)]
pub(crate) struct WalkEnd {
    /// Behind the last whole commit.
    pub end: u64,
    /// Why the walk ended before the limit, and at which byte.
    pub stopped: Option<(u64, Fault)>,
}

/// A segment to walk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walked<'s> {
    pub file: &'s dyn DiskFile,
    pub path: &'s Path,
    pub start: &'s SegmentStart,
    /// Bytes of the opening records.
    pub start_bytes: u64,
    /// Nothing at or behind this is looked at.
    pub limit: u64,
}

/// Walks commit by commit until the limit or the first byte that is no good.
///
/// # Errors
/// `Io` only; what is wrong with the bytes is in `stopped`.
pub(crate) fn walk(walked: Walked<'_>, visitor: &mut impl Visitor) -> Result<WalkEnd, StoreError> {
    let mut end = WalkEnd { end: walked.start_bytes, stopped: None };
    let mut window = Window::new(walked.file, walked.path, walked.limit);
    while end.end < walked.limit {
        let mut walk = CommitWalk { window: &mut window, salt: walked.start.salt, at: end.end };
        match walk.commit(visitor)? {
            Ok(()) => end.end = walk.at,
            Err(fault) => {
                end.stopped = Some((walk.at, fault));
                visitor.abandoned(end.end);
                break;
            }
        }
    }
    Ok(end)
}

/// A fault of the bytes inside, an error of the file system outside.
type Checked<T> = Result<Result<T, Fault>, StoreError>;

struct CommitWalk<'w, 'f> {
    window: &'w mut Window<'f>,
    salt: u32,
    /// The record being looked at.
    at: u64,
}

impl CommitWalk<'_, '_> {
    /// Walks one commit.
    fn commit(&mut self, visitor: &mut impl Visitor) -> Checked<()> {
        let body = match self.opening()? {
            Ok(body) => body,
            Err(fault) => return Ok(Err(fault)),
        };
        let mut ascending_from = 0;
        for run in &body.runs {
            if run.partition as usize >= visitor.partitions() || run.partition < ascending_from {
                return Ok(Err(Fault::Misplaced(
                    "a commit names its partitions out of order, or one that is not there",
                )));
            }
            ascending_from = run.partition + 1;
            if let Err(fault) = self.run(run, visitor)? {
                return Ok(Err(fault));
            }
        }
        visitor.committed(&body, self.at);
        Ok(Ok(()))
    }

    fn opening(&mut self) -> Checked<CommitBody> {
        let salt = self.salt;
        let bytes = match self.record()? {
            Ok(bytes) => bytes,
            Err(fault) => return Ok(Err(fault)),
        };
        let total = bytes.len() as u64;
        let opened = record::decode(bytes, salt).and_then(|(header, body)| match header.kind {
            RecordKind::Commit => CommitBody::decode(body),
            _ => Err(Fault::Misplaced("a commit record belongs here")),
        });
        if opened.is_ok() {
            self.at += total;
        }
        Ok(opened)
    }

    fn run(&mut self, run: &Run, visitor: &mut impl Visitor) -> Checked<()> {
        let run_start = self.at;
        for _ in 0..run.records {
            let (at, salt) = (self.at, self.salt);
            let record = match self.record()? {
                Ok(record) => record,
                Err(fault) => return Ok(Err(fault)),
            };
            let bytes = record.len() as u64;
            let told = record::decode(record, salt)
                .and_then(|(header, body)| visitor.record(&Found { run, at, bytes, header, body }));
            if let Err(fault) = told {
                return Ok(Err(fault));
            }
            self.at += bytes;
        }
        match self.at - run_start == run.bytes {
            true => Ok(Ok(())),
            false => Ok(Err(Fault::Misplaced("a run is not as long as its commit says"))),
        }
    }

    /// The whole record at `at`, not yet verified.
    fn record(&mut self) -> Checked<&[u8]> {
        let total = match record::peek_bytes(self.window.slice(self.at, HEADER_BYTES)?) {
            Ok(total) => total,
            Err(fault) => return Ok(Err(fault)),
        };
        let bytes = self.window.slice(self.at, total)?;
        Ok(if bytes.len() == total { Ok(bytes) } else { Err(Fault::Short) })
    }
}

/// What lies behind the last whole commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The highest position that any commit record in the tail says was synced before it.
    pub synced: u64,
    /// Behind the last byte that is not zero; `from` when all are.
    pub dirty_end: u64,
}

/// Searches everything from `from` for commit records. They begin at multiples of 8 and carry the segment's salt, so
/// no payload can pose as one.
///
/// # Errors
/// `Io`.
pub(crate) fn search_tail(walked: Walked<'_>, from: u64) -> Result<Tail, StoreError> {
    const STEP_BYTES: usize = 128 << 10;
    let mut window = Window::new(walked.file, walked.path, walked.limit);
    let mut tail = Tail { synced: 0, dirty_end: from };
    let mut at = from;
    while at < walked.limit {
        let bytes = window.slice(at, STEP_BYTES)?;
        if bytes.is_empty() {
            break;
        }
        if let Some(last) = bytes.iter().rposition(|byte| *byte != 0) {
            tail.dirty_end = at + last as u64 + 1;
        }
        let read = bytes.len();
        let candidates: Vec<u64> = if tail.dirty_end > at { candidates(bytes, at) } else { vec![] };
        for candidate in candidates {
            tail.synced = tail.synced.max(synced_before(&mut window, candidate, walked.start.salt)?);
        }
        at += read as u64;
    }
    Ok(tail)
}

/// Positions in `bytes`, which lie at `at` in the file, where a header may start. Headers that cross the end of `bytes`
/// are looked up by the caller's window like any other: only the magic number has to lie inside.
pub(crate) fn candidates(bytes: &[u8], at: u64) -> Vec<u64> {
    let magic = record::MAGIC.to_le_bytes();
    let steps = bytes.chunks(8).enumerate();
    steps.filter(|(_, chunk)| chunk.starts_with(&magic)).map(|(place, _)| at + place as u64 * 8).collect()
}

/// What the commit record at `at` says, 0 when there is none.
fn synced_before(window: &mut Window<'_>, at: u64, salt: u32) -> Result<u64, StoreError> {
    let header = window.slice(at, HEADER_BYTES)?;
    let total = match record::peek_bytes(header) {
        Ok(total) if header[13] == RecordKind::Commit as u8 => total,
        _ => return Ok(0),
    };
    let said = record::decode(window.slice(at, total)?, salt).and_then(|(_, body)| CommitBody::decode(body));
    Ok(said.map_or(0, |body| body.synced_before))
}
