//! The journal as a copy of it is to have it.

use std::collections::BTreeMap;
use std::path::Path;

use super::inspect::description;
use super::manifest::Listed;
use super::opening::Opening;
use super::snapshot;
use super::tail::Tail;
use super::visitor::JournalVisitor;
use crate::disk::{Access, Disk};
use crate::error::StoreError;
use crate::inspect::look::{Target, written_end};
use crate::segment_file::log_path;

/// The journal at one moment, for a copy that is made while it is written.
#[derive(Debug)]
pub(crate) struct Image {
    pub sequence: u64,
    /// Behind the last whole commit of that segment.
    pub end: u64,
    pub allocated_bytes: u64,
    /// The sealed segments that count.
    pub listed: BTreeMap<u64, Listed>,
    /// How each group stands, by partition.
    tails: Vec<Tail>,
}

impl Image {
    /// How the newest segment stands now, and what it says of the others.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub(crate) fn take(disk: &dyn Disk, dir: &Path, sequence: u64) -> Result<Self, StoreError> {
        let meta = dir.join("meta");
        let uuid = description(disk, dir).map_err(|what| StoreError::corrupt(&meta, 0, what))?;
        let path = log_path(dir, sequence);
        let file = disk.open(&path, Access::Read).map_err(|error| StoreError::io("open", &path, error))?;
        let mut opening = Opening::read(&*file, &path, uuid, sequence)?;
        let checkpoint = opening.checkpoint.take();
        let checkpoint = checkpoint.ok_or_else(|| StoreError::corrupt(&path, 0, "the segment has no checkpoint"))?;
        let (start, start_bytes) = (&opening.start, opening.start_bytes);
        let mut visitor = JournalVisitor::new(start);
        visitor.begin(checkpoint);
        let target = Target { file: &*file, path: &path, start, start_bytes, end: None };
        let end = written_end(target, &mut visitor)?;
        let (listed, tails) = (visitor.segments, visitor.tails);
        Ok(Self { sequence, end, allocated_bytes: start.allocated_bytes, listed, tails })
    }

    /// By partition: a snapshot has to reach as far.
    pub(crate) fn purged(&self) -> impl Iterator<Item = u64> + '_ {
        self.tails.iter().map(|tail| tail.purged)
    }

    /// Whether a snapshot that came from a leader counts.
    pub(crate) fn counts(&self, received: (u16, u64, u64)) -> bool {
        snapshot::counts(received, &self.tails)
    }
}
