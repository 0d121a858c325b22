//! The record behind a segment's opening record: how every group stands, and which other segments there are. In a cluster it
//! is of another kind, says how many groups it tells of, and what Raft counts in each.

use std::collections::BTreeMap;

use super::data_group::{Layout, OWN, PLACES};
use super::manifest::Listed;
use super::raft_log::RaftLog;
use super::tail::{Tail, VOTE_BYTES_MAX};
use super::terms::Terms;
use crate::record::{Fault, RecordHeader, RecordKind, check_numbers, u32_at, u64_at};

/// What was so when the segment was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// Of the segment.
    pub layout: Layout,
    /// By partition.
    pub groups: Vec<Tail>,
    /// The sealed segments, by sequence.
    pub segments: BTreeMap<u64, Listed>,
}

impl Checkpoint {
    /// Of a journal that was just made.
    pub(crate) fn empty() -> Self {
        Self { layout: Layout::OneNode, groups: vec![Tail::default(); PLACES], segments: BTreeMap::new() }
    }

    /// The record.
    pub(crate) fn encode(&self, created_at_us: i64, salt: u32) -> Vec<u8> {
        let told = places(self.layout);
        let mut body = (told.len() as u32).to_le_bytes().to_vec();
        body.extend_from_slice(&(self.segments.len() as u32).to_le_bytes());
        for group in told.iter().map(|place| &self.groups[*place]) {
            encode_group(group, &mut body);
            if self.layout == Layout::Cluster {
                group.raft.encode(&mut body);
            }
        }
        for (sequence, listed) in &self.segments {
            body.extend_from_slice(&sequence.to_le_bytes());
            body.extend_from_slice(&listed.end.to_le_bytes());
            body.extend_from_slice(&u64::from(listed.lifetime).to_le_bytes());
        }
        let kind = match self.layout {
            Layout::OneNode => RecordKind::Checkpoint,
            Layout::Cluster => RecordKind::ClusterCheckpoint,
        };
        let header = RecordHeader { partition: OWN, ..RecordHeader::own(kind, created_at_us) };
        let mut out = vec![];
        header.encode(&body, salt, &mut out);
        out
    }

    /// Reads the body of a verified record of this kind, at the head of a segment of this layout.
    pub(crate) fn decode(layout: Layout, kind: RecordKind, body: &[u8]) -> Result<Self, Fault> {
        match (layout, kind) {
            (Layout::OneNode, RecordKind::Checkpoint) | (Layout::Cluster, RecordKind::ClusterCheckpoint) => {}
            _ => return Err(Fault::Misplaced("a checkpoint belongs here")),
        }
        let taken = take_checkpoint(layout, &mut &*body);
        let checkpoint = taken.ok_or(Fault::Misplaced("a checkpoint of the wrong length"))?;
        check_numbers(checkpoint.groups.iter().map(|group| group.last))?;
        check_numbers(checkpoint.segments.iter().flat_map(|(sequence, listed)| [*sequence, listed.end]))?;
        Ok(checkpoint)
    }
}

/// The places of the groups that it tells of, in order.
fn places(layout: Layout) -> Vec<usize> {
    (0..layout.started()).filter(|place| *place != OWN as usize).collect()
}

fn encode_group(group: &Tail, body: &mut Vec<u8>) {
    for number in [group.last, group.purged, group.purged_term] {
        body.extend_from_slice(&number.to_le_bytes());
    }
    body.extend_from_slice(&(group.vote.len() as u32).to_le_bytes());
    body.extend_from_slice(&(group.terms.changes().len() as u32).to_le_bytes());
    body.extend_from_slice(&group.vote);
    for (index, term) in group.terms.changes() {
        body.extend_from_slice(&index.to_le_bytes());
        body.extend_from_slice(&term.to_le_bytes());
    }
}

/// The first `count` bytes; nothing when there are fewer.
pub(super) fn take<'b>(bytes: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn take_checkpoint(layout: Layout, rest: &mut &[u8]) -> Option<Checkpoint> {
    let (counts, told) = (take(rest, 8)?, places(layout));
    if u32_at(counts, 0) as usize != told.len() {
        return None;
    }
    let mut groups = vec![Tail::default(); PLACES];
    for place in told {
        groups[place] = take_group(layout, rest)?;
    }
    let segments = take(rest, (u32_at(counts, 4) as usize).checked_mul(24)?)?.chunks_exact(24);
    let listed = |bytes: &[u8]| (u64_at(bytes, 0), Listed { end: u64_at(bytes, 8), lifetime: bytes[16] });
    let segments = segments.map(listed).collect();
    rest.is_empty().then_some(Checkpoint { layout, groups, segments })
}

fn take_group(layout: Layout, rest: &mut &[u8]) -> Option<Tail> {
    let fixed = take(rest, 32)?;
    let vote_bytes = u32_at(fixed, 24) as usize;
    let vote = take(rest, vote_bytes)?.to_vec();
    let changes = take(rest, (u32_at(fixed, 28) as usize).checked_mul(16)?)?.chunks_exact(16);
    let terms = Terms::from_changes(changes.map(|bytes| (u64_at(bytes, 0), u64_at(bytes, 8))).collect());
    let raft = match layout {
        Layout::OneNode => RaftLog::default(),
        Layout::Cluster => RaftLog::take(rest)?,
    };
    let [last, purged, purged_term] = [0, 8, 16].map(|at| u64_at(fixed, at));
    let tail = Tail { last, purged, purged_term, terms, raft, vote };
    (vote_bytes <= VOTE_BYTES_MAX && tail.purged <= tail.last).then_some(tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{LIFETIME_KEPT, decode};

    fn filled(layout: Layout) -> Checkpoint {
        let mut checkpoint = Checkpoint { layout, ..Checkpoint::empty() };
        checkpoint.groups[3].append(1, 7, 2);
        checkpoint.groups[3].append(8, 9, 4);
        checkpoint.groups[3].purge(2, 0);
        checkpoint.groups[3].vote = b"a vote".to_vec();
        checkpoint.groups[15].purge(70, 8);
        checkpoint.segments.insert(4, Listed { end: 900, lifetime: LIFETIME_KEPT });
        checkpoint
    }

    fn check(checkpoint: Checkpoint, kind: RecordKind) {
        let record = checkpoint.encode(5, 42);
        let (header, body) = decode(&record, 42).expect("a record");
        let layout = checkpoint.layout;
        let read = |body: &[u8]| Checkpoint::decode(layout, header.kind, body);
        assert_eq!((header.kind, read(body)), (kind, Ok(checkpoint)));
        for length in 0..body.len() {
            assert!(read(&body[..length]).is_err(), "{length}");
        }
        for other in [Layout::OneNode, Layout::Cluster].into_iter().filter(|other| *other != layout) {
            assert!(Checkpoint::decode(other, header.kind, body).is_err(), "a segment of another layout");
        }
    }

    #[test]
    fn a_checkpoint_reads_back_and_every_truncation_is_noticed() {
        check(filled(Layout::OneNode), RecordKind::Checkpoint);
    }

    #[test]
    fn that_of_a_cluster_has_one_group_more_and_what_raft_counts() {
        let mut checkpoint = filled(Layout::Cluster);
        checkpoint.groups[3].raft.batch((6, 4), 10, 12);
        checkpoint.groups[17].append(1, 3, 4);
        checkpoint.groups[17].raft.marker((9, 4), 3, b"members"[..].into());
        check(checkpoint, RecordKind::ClusterCheckpoint);
    }
}
