//! The record behind a segment's opening record: how every group stands, and which other segments there are.

use std::collections::BTreeMap;

use super::data_group::{GROUPS, OWN};
use super::manifest::Listed;
use super::tail::{Tail, VOTE_BYTES_MAX};
use super::terms::Terms;
use crate::record::{Fault, RecordHeader, RecordKind, check_numbers, u32_at, u64_at};

/// What was so when the segment was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// One per group.
    pub groups: Vec<Tail>,
    /// The sealed segments, by sequence.
    pub segments: BTreeMap<u64, Listed>,
}

impl Checkpoint {
    /// Of a journal that was just made.
    pub(crate) fn empty() -> Self {
        Self { groups: vec![Tail::default(); GROUPS], segments: BTreeMap::new() }
    }

    /// The record.
    pub(crate) fn encode(&self, created_at_us: i64, salt: u32) -> Vec<u8> {
        let mut body = (self.groups.len() as u32).to_le_bytes().to_vec();
        body.extend_from_slice(&(self.segments.len() as u32).to_le_bytes());
        self.groups.iter().for_each(|group| encode_group(group, &mut body));
        for (sequence, listed) in &self.segments {
            body.extend_from_slice(&sequence.to_le_bytes());
            body.extend_from_slice(&listed.end.to_le_bytes());
            body.extend_from_slice(&u64::from(listed.lifetime).to_le_bytes());
        }
        let header = RecordHeader { partition: OWN, ..RecordHeader::own(RecordKind::Checkpoint, created_at_us) };
        let mut out = vec![];
        header.encode(&body, salt, &mut out);
        out
    }

    /// Reads the body of a verified record.
    pub(crate) fn decode(body: &[u8]) -> Result<Self, Fault> {
        let checkpoint = take_checkpoint(&mut &*body).ok_or(Fault::Misplaced("a checkpoint of the wrong length"))?;
        check_numbers(checkpoint.groups.iter().map(|group| group.last))?;
        check_numbers(checkpoint.segments.iter().flat_map(|(sequence, listed)| [*sequence, listed.end]))?;
        Ok(checkpoint)
    }
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

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn take_checkpoint(rest: &mut &[u8]) -> Option<Checkpoint> {
    let counts = take(rest, 8)?;
    if u32_at(counts, 0) as usize != GROUPS {
        return None;
    }
    let mut groups = vec![];
    for _ in 0..GROUPS {
        groups.push(take_group(rest)?);
    }
    let segments = take(rest, (u32_at(counts, 4) as usize).checked_mul(24)?)?.chunks_exact(24);
    let listed = |bytes: &[u8]| (u64_at(bytes, 0), Listed { end: u64_at(bytes, 8), lifetime: bytes[16] });
    let segments = segments.map(listed).collect();
    rest.is_empty().then_some(Checkpoint { groups, segments })
}

fn take_group(rest: &mut &[u8]) -> Option<Tail> {
    let fixed = take(rest, 32)?;
    let vote_bytes = u32_at(fixed, 24) as usize;
    let vote = take(rest, vote_bytes)?.to_vec();
    let changes = take(rest, (u32_at(fixed, 28) as usize).checked_mul(16)?)?.chunks_exact(16);
    let terms = Terms::from_changes(changes.map(|bytes| (u64_at(bytes, 0), u64_at(bytes, 8))).collect());
    let tail = Tail { last: u64_at(fixed, 0), purged: u64_at(fixed, 8), purged_term: u64_at(fixed, 16), terms, vote };
    (vote_bytes <= VOTE_BYTES_MAX && tail.purged <= tail.last).then_some(tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{LIFETIME_KEPT, decode};

    #[test]
    fn a_checkpoint_reads_back_and_every_truncation_is_noticed() {
        let mut checkpoint = Checkpoint::empty();
        checkpoint.groups[3].append(1, 7, 2);
        checkpoint.groups[3].append(8, 9, 4);
        checkpoint.groups[3].purge(2, 0);
        checkpoint.groups[3].vote = b"a vote".to_vec();
        checkpoint.groups[15].purge(70, 8);
        checkpoint.segments.insert(4, Listed { end: 900, lifetime: LIFETIME_KEPT });
        let record = checkpoint.encode(5, 42);
        let (header, body) = decode(&record, 42).expect("a record");
        assert_eq!((header.kind, Checkpoint::decode(body)), (RecordKind::Checkpoint, Ok(checkpoint)));
        for length in 0..body.len() {
            assert!(Checkpoint::decode(&body[..length]).is_err(), "{length}");
        }
    }
}
