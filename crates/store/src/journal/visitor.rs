//! What a walk of a segment of the journal finds: its index, and how each group stands behind it.

use std::collections::BTreeMap;

use super::data_group::{GROUPS, OWN, PARTITIONS};
use super::index::SegmentIndex;
use super::manifest::Listed;
use super::op::{Op, Ops};
use super::tail::Tail;
use crate::record::{CommitBody, Fault, LIFETIME_KEPT, RecordKind, SegmentStart};
use crate::scan::{Found, Visitor};

/// What was found up to the last whole commit.
#[derive(Debug)]
pub(crate) struct JournalVisitor {
    pub index: SegmentIndex,
    /// How each group stands; only meaningful when the walk began with a checkpoint.
    pub tails: Vec<Tail>,
    /// Which other segments count; likewise.
    pub segments: BTreeMap<u64, Listed>,
    /// Append time of the last record.
    pub last_at_us: Option<i64>,
    is_kept: bool,
    /// Per group the last index, counting the commit that is being walked.
    last: Vec<u64>,
    /// What the commit that is being walked does.
    ops: Vec<Ops>,
    seen_at_us: Option<i64>,
}

impl JournalVisitor {
    /// Nothing walked yet of the segment that begins so.
    pub(crate) fn new(start: &SegmentStart) -> Self {
        let last =
            |place: usize| start.partitions.get(place).map_or(0, |partition| partition.first_offset.saturating_sub(1));
        Self {
            index: SegmentIndex::new(),
            tails: vec![Tail::default(); GROUPS],
            segments: BTreeMap::new(),
            last_at_us: None,
            is_kept: start.lifetime == LIFETIME_KEPT,
            last: (0..GROUPS).map(last).collect(),
            ops: (0..PARTITIONS).map(|_| Ops::default()).collect(),
            seen_at_us: None,
        }
    }

    /// Notes an entry, which has to follow the one before it; in a segment of kept entries it only has to come behind.
    fn entry(&mut self, found: &Found<'_>) -> Result<(), Fault> {
        let partition = found.run.partition as usize;
        let (header, Some(last)) = (&found.header, self.last.get_mut(partition)) else {
            return Err(Fault::Misplaced("an entry of no data group lies here"));
        };
        let follows = if self.is_kept { header.index > *last } else { header.index == *last + 1 };
        if !follows || usize::from(header.data_group) != partition {
            return Err(Fault::Misplaced("an entry of another data group or index lies here"));
        }
        *last = header.index;
        self.ops[partition].entry(header, found.at, found.bytes);
        Ok(())
    }

    /// Notes another record; what it says has to make sense where the group stands.
    fn other(&mut self, found: &Found<'_>) -> Result<(), Fault> {
        let partition = found.run.partition as usize;
        let op = Op::of(&found.header, found.body)?;
        match (&op, self.last.get_mut(partition)) {
            (Op::Replaced(_), None) => {}
            (Op::Vote(_), Some(_)) => {}
            (Op::Stretch, Some(_)) if self.is_kept => {}
            (Op::Purge { through, .. }, Some(last)) => *last = (*last).max(*through),
            (Op::Truncate { from }, Some(last)) if (1..=*last).contains(from) => *last = from - 1,
            _ => return Err(Fault::Misplaced("a record that does not fit its data group lies here")),
        }
        self.ops[partition].push(op);
        Ok(())
    }
}

impl Visitor for JournalVisitor {
    fn partitions(&self) -> usize {
        PARTITIONS as usize
    }

    fn record(&mut self, found: &Found<'_>) -> Result<(), Fault> {
        if found.header.partition != found.run.partition {
            return Err(Fault::Misplaced("a record of another run lies here"));
        }
        self.seen_at_us = Some(found.header.appended_at_us);
        match found.header.kind {
            RecordKind::Data => self.entry(found),
            RecordKind::Lost => Ok(()),
            _ => self.other(found),
        }
    }

    fn committed(&mut self, _: &CommitBody, _: u64) {
        for (partition, ops) in self.ops.iter_mut().enumerate() {
            for op in ops.list() {
                match op {
                    Op::Replaced(replaced) if partition == OWN as usize => replaced.apply(&mut self.segments),
                    _ => {
                        // Positions on a walk are those of the file.
                        self.index.apply(partition, op, 0, self.is_kept);
                        self.tails[partition].apply(op);
                    }
                }
            }
            ops.clear();
        }
        self.last_at_us = self.seen_at_us;
    }

    fn abandoned(&mut self, _: u64) {
        self.ops.iter_mut().for_each(Ops::clear);
    }
}
