//! What Raft counts in a group, as a part of a checkpoint's body.
//!
//! ```text
//!  0 last u64     8 purged u64    16 purged term u64   24 entry before the first u64
//! 32 terms u32   36 markers u32   40 Raft indexes u32  44 bytes of these u32
//! then per term: its first Raft index u64, term u64
//! per marker: Raft index u64, bytes u64, body
//! per Raft index, as varints: how much more than the one before, how many entries more
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::checkpoint::take;
use super::marker::MARKER_BYTES_MAX;
use super::raft_log::{End, RaftLog};
use super::terms::Terms;
use crate::record::{NUMBER_MAX, u32_at, u64_at};
use crate::varint;

const FIXED_BYTES: usize = 48;

impl RaftLog {
    /// Appends it to a checkpoint's body.
    pub(super) fn encode(&self, body: &mut Vec<u8>) {
        let ends = self.encoded_ends();
        for number in [self.last, self.purged, self.purged_term, self.base] {
            body.extend_from_slice(&number.to_le_bytes());
        }
        for count in [self.terms.changes().len(), self.markers.len(), self.ends.len(), ends.len()] {
            body.extend_from_slice(&(count as u32).to_le_bytes());
        }
        for number in self.terms.changes().iter().flat_map(|(raft_index, term)| [raft_index, term]) {
            body.extend_from_slice(&number.to_le_bytes());
        }
        for (raft_index, marker) in &self.markers {
            body.extend_from_slice(&raft_index.to_le_bytes());
            body.extend_from_slice(&(marker.len() as u64).to_le_bytes());
            body.extend_from_slice(marker);
        }
        body.extend_from_slice(&ends);
    }

    fn encoded_ends(&self) -> Vec<u8> {
        let mut bytes = vec![];
        let mut before = End { raft_index: 0, index: self.base };
        for end in &self.ends {
            varint::put(end.raft_index - before.raft_index, &mut bytes);
            varint::put(end.index - before.index, &mut bytes);
            before = *end;
        }
        bytes
    }

    /// Takes it from a checkpoint's body; nothing when it is not one.
    pub(super) fn take(rest: &mut &[u8]) -> Option<Self> {
        let fixed = take(rest, FIXED_BYTES)?;
        let [last, purged, purged_term, base] = [0, 8, 16, 24].map(|at| u64_at(fixed, at));
        let [terms, markers, count, bytes] = [32, 36, 40, 44].map(|at| u32_at(fixed, at) as usize);
        if purged > last || last > NUMBER_MAX || base > NUMBER_MAX {
            return None;
        }
        let changes = take(rest, terms.checked_mul(16)?)?.chunks_exact(16);
        let terms = Terms::from_changes(changes.map(|bytes| (u64_at(bytes, 0), u64_at(bytes, 8))).collect());
        let markers = take_markers(rest, markers)?;
        let ends = take_ends(take(rest, bytes)?, count, base)?;
        let is_there = |raft_index: u64| (purged + 1..=last).contains(&raft_index);
        let outermost = [ends.front(), ends.back()];
        let fits = outermost.iter().flatten().all(|end| is_there(end.raft_index));
        let fits = fits && markers.keys().all(|raft_index| is_there(*raft_index));
        fits.then_some(Self { last, purged, purged_term, base, ends, terms, markers })
    }
}

fn take_markers(rest: &mut &[u8], count: usize) -> Option<BTreeMap<u64, Arc<[u8]>>> {
    let mut markers = BTreeMap::new();
    for _ in 0..count {
        let fixed = take(rest, 16)?;
        let bytes = usize::try_from(u64_at(fixed, 8)).ok().filter(|bytes| *bytes <= MARKER_BYTES_MAX)?;
        markers.insert(u64_at(fixed, 0), take(rest, bytes)?.into());
    }
    Some(markers)
}

fn take_ends(mut bytes: &[u8], count: usize, base: u64) -> Option<VecDeque<End>> {
    let mut ends = VecDeque::new();
    let mut end = End { raft_index: 0, index: base };
    for _ in 0..count {
        let more = varint::take(&mut bytes).filter(|more| *more > 0)?;
        end.raft_index = end.raft_index.checked_add(more)?;
        end.index = end.index.checked_add(varint::take(&mut bytes)?).filter(|index| *index <= NUMBER_MAX)?;
        ends.push_back(end);
    }
    bytes.is_empty().then_some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_and_every_truncation_and_impossible_number_is_noticed() {
        let mut raft = RaftLog::default();
        raft.purge((7, 2), 40);
        (8..600).for_each(|index| raft.batch((index, index / 100), index * 3 + 17, index * 3 + 19));
        raft.marker((600, 6), 1816, b"who votes"[..].into());
        raft.marker((602, 7), 1816, b""[..].into());
        let mut body = vec![];
        raft.encode(&mut body);
        assert!(body.len() < 1500, "{} bytes: a Raft index is two or so", body.len());
        assert_eq!(RaftLog::take(&mut &body[..]), Some(raft));
        for length in 0..body.len() {
            assert_eq!(RaftLog::take(&mut &body[..length]), None, "{length}");
        }
        for at in [0, 8, 24] {
            let mut wrong = body.clone();
            wrong[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
            assert_eq!(RaftLog::take(&mut &wrong[..]), None, "at {at}");
        }
    }
}
