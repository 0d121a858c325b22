//! Who is to belong to the groups: what the metadata says of members, brought to all seventeen groups, one change at a time in each.
//!
//! It is decided anew each time from what the engines and the metadata say: a leader that comes goes on where the last one was.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_cluster::{ClusterState, Entry, NodeId, Standing};
use lapwing_peer::GroupNumber;
use lapwing_raft::{Change, Membership, Peer, Standing as InGroup};

/// As engines have a node.
fn raft_id(node: NodeId) -> u64 {
    node.0.into()
}

/// Entries of Raft of one group that somebody may lack and still be called caught up: while there is load somebody always lacks
/// the newest.
const CAUGHT_UP_ENTRIES: u64 = 64;

/// One group as its leader sees it.
#[derive(Clone, Debug)]
pub(crate) struct GroupView {
    pub(crate) group: GroupNumber,
    pub(crate) membership: Membership,
    /// Nodes that are there and lack next to nothing.
    pub(crate) caught_up: BTreeSet<u64>,
}

/// What is to be proposed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    pub(crate) changes: Vec<(GroupNumber, Change)>,
    /// Somebody votes in all groups, and the metadata does not say so yet.
    pub(crate) entry: Option<Entry>,
}

/// What the leader of all groups does next.
pub(crate) fn decide(cluster: &ClusterState, groups: &[GroupView]) -> Steps {
    let candidate = candidate(cluster, groups);
    let goals: BTreeMap<u64, InGroup> = cluster
        .members()
        .map(|member| {
            let goal = match member.standing {
                Standing::Voter => InGroup::Voter,
                Standing::Learner if candidate == Some(member.id) => InGroup::Voter,
                Standing::Learner => InGroup::Learner,
                Standing::Gone => InGroup::Gone,
            };
            (raft_id(member.id), goal)
        })
        .collect();
    let changes = groups.iter().filter_map(|view| Some((view.group, change(&view.membership, &goals)?))).collect();
    let votes_everywhere =
        |node: &NodeId| groups.iter().all(|view| standing(&view.membership, raft_id(*node)) == InGroup::Voter);
    let entry = candidate.filter(votes_everywhere).map(|node| Entry::Promoted { node });
    Steps { changes, entry }
}

/// The learner that is to vote, if one is: one at a time, who has begun to first, then who has caught up in all groups.
fn candidate(cluster: &ClusterState, groups: &[GroupView]) -> Option<NodeId> {
    if !cluster.has_room_for_a_voter() {
        return None;
    }
    let has_begun = |node: &NodeId| groups.iter().any(|view| view.membership.voters.contains(&raft_id(*node)));
    let has_caught_up = |node: &NodeId| {
        let node = raft_id(*node);
        groups.iter().all(|view| view.membership.contains(node) && view.caught_up.contains(&node))
    };
    let begun = cluster.learners().find(has_begun);
    begun.or_else(|| cluster.learners().find(has_caught_up))
}

/// The first thing that is not as it should be; nothing while two sets of voters decide together.
fn change(membership: &Membership, goals: &BTreeMap<u64, InGroup>) -> Option<Change> {
    if membership.is_joint() {
        return None;
    }
    let (node, goal) = goals.iter().find(|(node, goal)| standing(membership, **node) != **goal)?;
    Some(Change { node: *node, standing: *goal })
}

fn standing(membership: &Membership, node: u64) -> InGroup {
    match () {
        () if membership.is_voter(node) => InGroup::Voter,
        () if membership.learners.contains(&node) => InGroup::Learner,
        () => InGroup::Gone,
    }
}

/// Whether a node is there and lacks next to nothing of a log that ends at `last`. Who was never heard has nothing, however short the
/// log is; an engine takes it for active at first.
pub(crate) fn has_caught_up(peer: &Peer, last: u64) -> bool {
    let lacks = last.saturating_sub(peer.matched);
    peer.matched > 0 && peer.is_active && !peer.needs_snapshot && lacks <= CAUGHT_UP_ENTRIES
}

/// Whether a member may be taken out, by who is connected to the leader `own`.
///
/// # Errors
/// What stands against it, in words, with what to do.
pub fn check_removal(
    cluster: &ClusterState,
    own: NodeId,
    connected: &BTreeSet<NodeId>,
    node: NodeId,
) -> Result<(), String> {
    if node == own {
        return Err(format!(
            "node {node} leads the cluster: have it step down first, then remove it at the next leader"
        ));
    }
    let left: Vec<NodeId> = cluster.voters().filter(|voter| *voter != node).collect();
    let there = left.iter().filter(|voter| **voter == own || connected.contains(voter)).count();
    match there * 2 > left.len() {
        true => Ok(()),
        false => Err(format!(
            "without node {node} {} of {} that vote would be connected, and nobody could decide anything: start others first",
            there,
            left.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_cluster::{ClusterId, Features, FolderId, Newcomer, SecretHash};

    fn newcomer(number: u8) -> Newcomer {
        Newcomer {
            name: format!("n{number}"),
            folder: FolderId([number; 16]),
            addresses: vec!["h:1".into()],
            zone: String::new(),
            release: String::new(),
            features: Features { least: 1, most: 1 },
        }
    }

    /// Members by number, of which some vote.
    fn cluster(members: u8, voters: u8) -> ClusterState {
        let mut state = ClusterState::new();
        let founder = newcomer(1);
        say(&mut state, Entry::Founded { cluster: ClusterId([1; 16]), name: "marsh".into(), founder });
        for number in 2..=members {
            let secret = SecretHash([number; 32]);
            say(&mut state, Entry::TokenMade { secret, made_at_ms: 1 });
            say(&mut state, Entry::Joined { secret, newcomer: newcomer(number), joined_at_ms: 1 });
            if number <= voters {
                say(&mut state, Entry::Promoted { node: NodeId(number) });
            }
        }
        state
    }

    fn say(state: &mut ClusterState, entry: Entry) {
        state.apply(state.applied() + 1, &entry).expect("nothing refuses it");
    }

    /// All groups with the same members.
    fn groups(voters: &[u64], learners: &[u64], caught_up: &[u64]) -> Vec<GroupView> {
        let view = |group| GroupView {
            group,
            membership: Membership { learners: learners.to_vec(), ..Membership::of(voters) },
            caught_up: caught_up.iter().copied().collect(),
        };
        GroupNumber::all().map(view).collect()
    }

    /// Applies what was decided until nothing is left to do; how many rounds that took.
    fn settle(cluster: &mut ClusterState, groups: &mut [GroupView]) -> usize {
        for round in 0..100 {
            let steps = decide(cluster, groups);
            if steps == Steps::default() {
                return round;
            }
            for (group, change) in steps.changes {
                let view = groups.iter_mut().find(|view| view.group == group).expect("there is one");
                apply(&mut view.membership, change);
            }
            if let Some(entry) = steps.entry {
                say(cluster, entry);
            }
        }
        panic!("it never ends");
    }

    fn apply(membership: &mut Membership, Change { node, standing }: Change) {
        membership.voters.retain(|other| *other != node);
        membership.learners.retain(|other| *other != node);
        match standing {
            InGroup::Voter => membership.voters.push(node),
            InGroup::Learner => membership.learners.push(node),
            InGroup::Gone => {}
        }
    }

    /// Does who joined learn in all groups first, and vote only when it has caught up in every one?
    #[test]
    fn a_newcomer_learns_before_it_votes() {
        let (mut state, mut views) = (cluster(2, 1), groups(&[1], &[], &[]));
        let steps = decide(&state, &views);
        assert_eq!(steps.changes.len(), 17);
        assert!(steps.changes.iter().all(|(_, change)| *change == Change { node: 2, standing: InGroup::Learner }));
        settle(&mut state, &mut views);
        assert!(views.iter().all(|view| view.membership.learners == [2]));
        views.iter_mut().skip(1).for_each(|view| _ = view.caught_up.insert(2));
        assert_eq!(decide(&state, &views), Steps::default(), "one group lacks something");
        views[0].caught_up.insert(2);
        settle(&mut state, &mut views);
        assert_eq!(state.voters().collect::<Vec<_>>(), [NodeId(1), NodeId(2)]);
        assert!(views.iter().all(|view| view.membership == Membership::of(&[1, 2])));
    }

    /// Is somebody who was never heard, who waits for a snapshot, is away or far behind not taken for caught up?
    #[test]
    fn who_has_nothing_has_not_caught_up() {
        let near = Peer { node: 2, matched: 90, needs_snapshot: false, is_active: true };
        assert!(has_caught_up(&near, 90) && has_caught_up(&near, 154) && !has_caught_up(&near, 155));
        assert!(!has_caught_up(&Peer { matched: 0, ..near }, 5));
        assert!(!has_caught_up(&Peer { needs_snapshot: true, ..near }, 90));
        assert!(!has_caught_up(&Peer { is_active: false, ..near }, 90));
    }

    /// A leader that comes when some groups were changed: does it end what was begun, though nobody is caught up at the moment?
    #[test]
    fn another_leader_goes_on() {
        let (mut state, mut views) = (cluster(3, 1), groups(&[1], &[2, 3], &[2, 3]));
        for view in views.iter_mut().take(5) {
            apply(&mut view.membership, Change { node: 3, standing: InGroup::Voter });
            view.caught_up.clear();
        }
        let steps = decide(&state, &views);
        assert!(steps.entry.is_none() && steps.changes.len() == 12);
        assert!(steps.changes.iter().all(|(_, change)| change.node == 3), "the one that was begun");
        settle(&mut state, &mut views);
        assert!(views.iter().all(|view| view.membership.voters == [1, 3]));
    }

    /// Is nobody promoted beyond five, and is who was taken out taken out of all groups, by one change at a time in each?
    #[test]
    fn five_vote_and_who_is_removed_goes() {
        let (mut state, mut views) = (cluster(6, 5), groups(&[1, 2, 3, 4, 5], &[6], &[2, 3, 4, 5, 6]));
        assert_eq!(decide(&state, &views), Steps::default());
        say(&mut state, Entry::Removed { node: NodeId(4) });
        assert!(decide(&state, &views).changes.iter().all(|(_, change)| change.node == 4));
        settle(&mut state, &mut views);
        assert_eq!(state.voters().map(|node| node.0).collect::<Vec<_>>(), [1, 2, 3, 5, 6]);
        assert!(views.iter().all(|view| view.membership == Membership::of(&[1, 2, 3, 5, 6])));
        views[2].membership.outgoing = vec![1];
        say(&mut state, Entry::Removed { node: NodeId(5) });
        assert_eq!(decide(&state, &views).changes.len(), 16, "a joint one is waited for");
    }

    /// Is a removal refused that leaves no majority of those who are there, and that of the leader itself?
    #[test]
    fn a_removal_leaves_a_majority() {
        let state = cluster(3, 3);
        let check = |connected: &[u8], node| {
            check_removal(&state, NodeId(1), &connected.iter().copied().map(NodeId).collect(), NodeId(node))
        };
        assert!(check(&[2, 3], 1).is_err_and(|words| words.contains("step down")));
        assert_eq!(check(&[2, 3], 3), Ok(()));
        assert_eq!(check(&[2], 3), Ok(()), "who is not there goes");
        assert!(check(&[2], 2).is_err_and(|words| words.contains("1 of 2")));
        assert_eq!(check_removal(&cluster(2, 2), NodeId(1), &BTreeSet::new(), NodeId(2)), Ok(()));
    }
}
