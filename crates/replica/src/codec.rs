//! The bytes of what has no message in it: of a membership entry, and of a vote record.
//!
//! ```text
//! membership: for each change: standing u8 (1 voter, 2 learner, 3 gone), node u64
//! vote: term u64, voted for u64, commit u64
//! ```

use lapwing_raft::{CHANGES_MAX, Change, Membership, Standing, Vote};

/// Bytes of one change.
const CHANGE_BYTES: usize = 9;
const VOTE_BYTES: usize = 24;

/// The bytes of a membership entry, for a frame and for a marker of the journal.
pub fn membership_bytes(changes: &[Change]) -> Vec<u8> {
    changes.iter().flat_map(change_bytes).collect()
}

/// Reads them back; `None`: nobody has written that.
pub fn read_membership(bytes: &[u8]) -> Option<Vec<Change>> {
    let (changes, rest) = bytes.as_chunks::<CHANGE_BYTES>();
    if !rest.is_empty() || changes.len() > CHANGES_MAX {
        return None;
    }
    changes.iter().map(change_of).collect()
}

/// A vote record as the journal keeps it.
pub fn vote_bytes(vote: &Vote) -> [u8; VOTE_BYTES] {
    let mut bytes = [0; VOTE_BYTES];
    for (place, number) in bytes.chunks_exact_mut(8).zip([vote.term, vote.voted_for, vote.commit]) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// Reads it back: nothing at all where a group has not voted yet. `None`: nobody has written that.
pub fn read_vote(bytes: &[u8]) -> Option<Vote> {
    if bytes.is_empty() {
        return Some(Vote::default());
    }
    let (numbers, rest) = bytes.as_chunks::<8>();
    match (numbers, rest) {
        ([term, voted_for, commit], []) => {
            let [term, voted_for, commit] = [term, voted_for, commit].map(|bytes| u64::from_le_bytes(*bytes));
            Some(Vote { term, voted_for, commit })
        }
        _ => None,
    }
}

fn change_bytes(change: &Change) -> [u8; CHANGE_BYTES] {
    let standing = match change.standing {
        Standing::Voter => 1,
        Standing::Learner => 2,
        Standing::Gone => 3,
    };
    let mut bytes = [standing; CHANGE_BYTES];
    bytes[1..].copy_from_slice(&change.node.to_le_bytes());
    bytes
}

fn change_of(bytes: &[u8; CHANGE_BYTES]) -> Option<Change> {
    let (standing, node) = bytes.split_first_chunk::<1>()?;
    let standing = match standing {
        [1] => Standing::Voter,
        [2] => Standing::Learner,
        [3] => Standing::Gone,
        _ => return None,
    };
    let node = u64::from_le_bytes(node.try_into().ok()?);
    (node != 0).then_some(Change { node, standing })
}

/// The bytes of a whole membership, for a snapshot: four lists, each behind its length.
pub fn whole_membership_bytes(membership: &Membership) -> Vec<u8> {
    let mut bytes = vec![];
    for list in [&membership.voters, &membership.learners, &membership.outgoing, &membership.demoted] {
        bytes.push(list.len() as u8);
        list.iter().for_each(|node| bytes.extend_from_slice(&node.to_le_bytes()));
    }
    bytes
}

/// Reads it back; `None`: nobody has written that.
pub fn read_whole_membership(mut bytes: &[u8]) -> Option<Membership> {
    let mut list = || {
        let (count, rest) = bytes.split_first()?;
        let (nodes, rest) = rest.split_at_checked(usize::from(*count) * 8)?;
        bytes = rest;
        Some(nodes.as_chunks::<8>().0.iter().map(|node| u64::from_le_bytes(*node)).collect())
    };
    let membership = Membership { voters: list()?, learners: list()?, outgoing: list()?, demoted: list()? };
    bytes.is_empty().then_some(membership)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each come back, and is each that is cut or longer none?
    #[test]
    fn there_and_back() {
        let changes = [(1, Standing::Voter), (9, Standing::Learner), (u64::MAX, Standing::Gone)];
        let changes = changes.map(|(node, standing)| Change { node, standing });
        let bytes = membership_bytes(&changes);
        assert_eq!(read_membership(&bytes).as_deref(), Some(&changes[..]));
        let vote = Vote { term: 7, voted_for: 2, commit: 1 << 40 };
        assert_eq!(read_vote(&vote_bytes(&vote)), Some(vote));
        assert_eq!(read_vote(&[]), Some(Vote::default()));
        let joint = Membership { voters: vec![1, 2], learners: vec![3], outgoing: vec![2, 4], demoted: vec![4] };
        let whole = whole_membership_bytes(&joint);
        assert_eq!(read_whole_membership(&whole), Some(joint));
        for length in 0..whole.len() {
            assert_eq!(read_whole_membership(&whole[..length]), None, "{length}");
        }
        assert_eq!(read_membership(&bytes[1..]), None);
        assert_eq!(read_vote(&vote_bytes(&vote)[..23]), None);
        assert_eq!(read_membership(&[4, 1, 0, 0, 0, 0, 0, 0, 0]), None, "no such standing");
        assert_eq!(read_membership(&[1, 0, 0, 0, 0, 0, 0, 0, 0]), None, "nobody");
    }
}
