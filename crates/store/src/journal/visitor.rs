//! What a walk of a segment of the journal finds: its index, and how each group stands behind it.

use std::collections::BTreeMap;

use super::checkpoint::Checkpoint;
use super::data_group::{Layout, OWN, PARTITIONS, PLACES};
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
    layout: Layout,
    /// Per group the last index, counting the commit that is being walked.
    last: Vec<u64>,
    /// The same of Raft indexes, as far as that is known.
    last_raft: Vec<u64>,
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
            tails: vec![Tail::default(); PLACES],
            segments: BTreeMap::new(),
            last_at_us: None,
            is_kept: start.lifetime == LIFETIME_KEPT,
            layout: Layout::of(start.partitions.len()).unwrap_or_default(),
            last: (0..PLACES).map(last).collect(),
            last_raft: vec![0; PLACES],
            ops: (0..PARTITIONS).map(|_| Ops::default()).collect(),
            seen_at_us: None,
        }
    }

    /// The walk begins behind this checkpoint, which the writer goes on from too: what the opening record says besides is for
    /// walks without one.
    pub(crate) fn begin(&mut self, checkpoint: Checkpoint) {
        (self.last, self.last_raft) = checkpoint.groups.iter().map(|group| (group.last, group.raft.last)).unzip();
        (self.tails, self.segments) = (checkpoint.groups, checkpoint.segments);
    }

    /// Notes an entry, which has to follow the one before it; in a segment of kept entries it only has to come behind.
    fn entry(&mut self, found: &Found<'_>) -> Result<(), Fault> {
        let partition = found.run.partition as usize;
        let header = &found.header;
        if partition == OWN as usize {
            return Err(Fault::Misplaced("an entry of no data group lies here"));
        }
        let (last, last_raft) = (&mut self.last[partition], &mut self.last_raft[partition]);
        let follows = if self.is_kept { header.index > *last } else { header.index == *last + 1 };
        if !follows || usize::from(header.data_group) != partition {
            return Err(Fault::Misplaced("an entry of another data group or index lies here"));
        }
        // Among kept ones, what came with a leader's snapshot has none, and lies behind others that have one.
        if header.offset < *last_raft && !self.is_kept {
            return Err(Fault::Misplaced("an entry with a Raft index of before lies here"));
        }
        (*last, *last_raft) = (header.index, header.offset);
        self.ops[partition].entry(header, found.at, found.bytes);
        Ok(())
    }

    /// Notes another record; what it says has to make sense where the group stands.
    fn other(&mut self, found: &Found<'_>) -> Result<(), Fault> {
        let partition = found.run.partition as usize;
        let op = Op::of(&found.header, found.body)?;
        let (last, last_raft) = (&mut self.last[partition], &mut self.last_raft[partition]);
        match (&op, partition == OWN as usize) {
            (Op::Replaced(_), true) => {}
            (Op::Vote(_), false) => {}
            (Op::Stretch, false) if self.is_kept => {}
            (Op::Marker { raft_index, .. }, false) if *raft_index > *last_raft => *last_raft = *raft_index,
            (Op::Purge { through, raft_index, .. }, false) => {
                (*last, *last_raft) = ((*last).max(*through), (*last_raft).max(*raft_index));
            }
            (Op::Truncate { from, raft_index: 0 }, false) if (1..=*last).contains(from) => *last = from - 1,
            // Where only markers are void it names the entry that would follow.
            (Op::Truncate { from, raft_index }, false) if (1..=*last + 1).contains(from) => {
                (*last, *last_raft) = (from - 1, (*last_raft).min(raft_index.saturating_sub(1)));
            }
            _ => return Err(Fault::Misplaced("a record that does not fit its data group lies here")),
        }
        self.ops[partition].push(op);
        Ok(())
    }
}

impl Visitor for JournalVisitor {
    fn partitions(&self) -> usize {
        self.layout.partitions()
    }

    fn record(&mut self, found: &Found<'_>) -> Result<(), Fault> {
        if found.header.partition != found.run.partition {
            return Err(Fault::Misplaced("a record of another run lies here"));
        }
        if Layout::needed_by(&found.header) > self.layout {
            return Err(Fault::Misplaced("a record of a cluster lies in a segment of one node"));
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
