//! Who belongs to a group, and what changes in that.

use crate::bounds::MEMBERS_MAX;

/// What one node is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The node; never 0.
    pub node: u64,
    /// What it is from then on.
    pub standing: Standing,
}

/// What a node is in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It votes, and what is on its disk counts towards a quorum.
    Voter,
    /// It gets everything and decides nothing.
    Learner,
    /// It does not belong to the group.
    Gone,
}

/// Who belongs to a group. While several change at once it is *joint*: a quorum of the old and of the new voters decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// Who votes, in ascending order. Nobody: a node that has not heard of its group yet.
    pub voters: Vec<u64>,
    /// Who gets everything and does not vote.
    pub learners: Vec<u64>,
    /// While it is joint: who voted before.
    pub outgoing: Vec<u64>,
    /// While it is joint: who votes still and becomes a learner when it ends.
    pub demoted: Vec<u64>,
}

impl Membership {
    /// A group of voters alone.
    pub fn of(voters: &[u64]) -> Membership {
        let mut voters = voters.to_vec();
        voters.sort_unstable();
        Membership { voters, ..Membership::default() }
    }

    /// Whether two sets of voters decide together.
    pub fn is_joint(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Whether the node's vote counts.
    pub fn is_voter(&self, node: u64) -> bool {
        self.voters.contains(&node) || self.outgoing.contains(&node)
    }

    /// Whether the node belongs to the group.
    pub fn contains(&self, node: u64) -> bool {
        self.is_voter(node) || self.learners.contains(&node)
    }

    /// All that vote, each once, in ascending order.
    pub fn all_voters(&self) -> Vec<u64> {
        let mut voters = [self.voters.as_slice(), &self.outgoing].concat();
        voters.sort_unstable();
        voters.dedup();
        voters
    }

    /// Why it cannot be anybody's, if it cannot: raft-rs panics at such a one.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let lists = [&self.voters, &self.learners, &self.outgoing, &self.demoted];
        if self.voters.is_empty() && lists.iter().any(|list| !list.is_empty()) {
            return Some("nobody votes");
        }
        if lists.iter().map(|list| list.len()).sum::<usize>() > MEMBERS_MAX {
            return Some("too many members");
        }
        if lists.iter().any(|list| list.contains(&0) || has_repeats(list)) {
            return Some("a member is 0, or named twice");
        }
        if self.learners.iter().any(|node| self.is_voter(*node)) {
            return Some("a learner votes");
        }
        let is_leaving = |node: &u64| self.outgoing.contains(node) && !self.voters.contains(node);
        if !self.demoted.iter().all(is_leaving) {
            return Some("who becomes a learner did not vote before, or goes on voting");
        }
        None
    }
}

fn has_repeats(list: &[u64]) -> bool {
    list.iter().enumerate().any(|(at, node)| list[..at].contains(node))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is each kind of nonsense named, and what can be accepted?
    #[test]
    fn nonsense_is_named() {
        let joint = Membership { outgoing: vec![1, 2, 4], demoted: vec![4], ..Membership::of(&[1, 2, 3]) };
        assert_eq!(Membership::default().fault(), None);
        assert_eq!(Membership::of(&[3, 1, 2]).fault(), None);
        assert_eq!(joint.fault(), None);
        let wrong = [
            Membership { learners: vec![1], ..Membership::default() },
            Membership::of(&[0, 1]),
            Membership::of(&[1, 1]),
            Membership::of(&(1..=33).collect::<Vec<_>>()),
            Membership { learners: vec![2], ..Membership::of(&[1, 2]) },
            Membership { learners: vec![4], ..joint.clone() },
            Membership { demoted: vec![4], ..Membership::of(&[1, 2]) },
            Membership { demoted: vec![1], ..joint },
        ];
        for membership in wrong {
            assert!(membership.fault().is_some(), "{membership:?}");
        }
    }

    /// Are all who vote named once, in order?
    #[test]
    fn voters_of_both_halves_are_named_once() {
        let joint = Membership { outgoing: vec![1, 2, 4], ..Membership::of(&[3, 1, 2]) };
        assert_eq!(joint.all_voters(), [1, 2, 3, 4]);
        assert!(joint.is_joint() && joint.is_voter(4) && !joint.contains(5));
    }
}
