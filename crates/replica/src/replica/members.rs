//! Who belongs to the groups: brought to what the metadata says.

use lapwing_cluster::{ClusterState, Entry};
use lapwing_peer::GroupNumber;
use lapwing_raft::NotDone;

use super::Replica;
use crate::membership::{GroupView, Steps, decide, has_caught_up};

impl Replica {
    /// Where this node leads all groups: proposes what is to change in who belongs to them, by what the metadata says; one node at
    /// a time in each. Gives the entry that the metadata lacks, if it lacks one. Called again from time to time; nothing is kept.
    pub fn follow_members(&mut self, cluster: &ClusterState) -> Option<Entry> {
        let observed = self.observed();
        if observed.leads != u16::MAX || !observed.leads_metadata {
            return None;
        }
        let views: Vec<GroupView> = GroupNumber::all().map(|group| self.view(group)).collect();
        let Steps { changes, entry } = decide(cluster, &views);
        for (group, change) in changes {
            let proposed = self.propose_membership(group, &[change]);
            // One that is under way, a term that is new and a leadership that is being handed over are waited for.
            debug_assert!(!matches!(proposed, Err(NotDone::ChangeInvalid)), "{change:?}");
        }
        entry
    }

    fn view(&self, group: GroupNumber) -> GroupView {
        let (engine, last) = (self.engine(group), self.status(group).last);
        let peers = engine.peers().into_iter().filter(|peer| has_caught_up(peer, last));
        GroupView { group, membership: engine.membership().clone(), caught_up: peers.map(|peer| peer.node).collect() }
    }

    /// Whether a node belongs to all groups, which this one leads, is there, and lacks next to nothing of any.
    pub fn has_caught_up(&self, node: u8) -> bool {
        let has = |group| self.view(group).caught_up.contains(&node.into());
        GroupNumber::all().all(has)
    }

    /// Whether a node belongs to any group, as far as this one knows.
    pub fn is_in_any_group(&self, node: u8) -> bool {
        GroupNumber::all().any(|group| self.engine(group).membership().contains(node.into()))
    }
}
