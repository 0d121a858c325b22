//! Where a member stands, for people and for load balancers.

use std::collections::BTreeMap;

use lapwing_cluster::{Role, Standing};
use lapwing_peer::GroupNumber;
use serde::Serialize;

use super::core::Core;
use super::links::Links;
use super::moving::Moving;

/// A member's view of its cluster.
#[derive(Clone, Debug, Serialize)]
pub struct MemberStatus {
    /// The cluster's id, in hexadecimal digits.
    pub cluster: String,
    /// What people call it.
    pub name: String,
    /// This node.
    pub node: u8,
    /// Whether it serves: `active`, `arriving` or `standby`.
    pub role: &'static str,
    /// Who leads the metadata group, as far as this node knows; that one serves, or is about to.
    pub leader: Option<u8>,
    /// The term of the metadata group.
    pub term: u64,
    /// Data groups that this node leads.
    pub leads: u32,
    /// Entries of Raft that are committed here and not applied, all groups together.
    pub behind: u64,
    /// Bytes of entries in the logs that no snapshot has let go of, all data groups together.
    pub log_bytes: u64,
    /// Everybody who belongs to the cluster.
    pub nodes: Vec<NodeStatus>,
    /// Groups whose replica here has stopped, and why.
    pub stopped: BTreeMap<u8, String>,
    /// Snapshots that went to others or came from them since the start: `sent`, `sent_bytes`, `unsent`, `received`, `resumed` (over
    /// another connection), `refused`.
    pub moved: BTreeMap<&'static str, u64>,
    /// Why one was not sent or taken, the last time.
    pub not_moved: Option<String>,
    /// Connections that were cut, by reason.
    pub cuts: BTreeMap<&'static str, u64>,
    /// What nodes have said that do not speak to this one.
    pub refusals: BTreeMap<u8, String>,
}

impl MemberStatus {
    /// Whether another voter is there, who could serve.
    pub(super) fn has_successor(&self) -> bool {
        let could_serve = |node: &NodeStatus| node.node != self.node && node.standing == "voter" && node.is_connected;
        self.nodes.iter().any(could_serve)
    }
}

/// One node, as this one sees it.
#[derive(Clone, Debug, Serialize)]
pub struct NodeStatus {
    /// Its number.
    pub node: u8,
    /// What people call it.
    pub name: String,
    /// Where it stands.
    pub zone: String,
    /// `voter`, `learner` or `gone`.
    pub standing: &'static str,
    /// Where others reach it.
    pub addresses: Vec<String>,
    /// Its program.
    pub release: String,
    /// Whether it is connected to this node, or is this node.
    pub is_connected: bool,
    /// As the leader of the metadata group sees it: entries of Raft that it lacks, all groups together. `None`: this node does
    /// not lead, or does not know.
    pub behind: Option<u64>,
}

/// As this node sees it now.
pub(super) fn status(core: &Core, links: &Links, moving: &Moving) -> MemberStatus {
    let metadata = core.replica.status(GroupNumber::METADATA);
    let (cluster, name) =
        core.cluster.cluster().map_or_else(Default::default, |(id, name)| (id.to_string(), name.to_owned()));
    MemberStatus {
        cluster,
        name,
        node: core.own.node.value(),
        role: match core.replica.serving() {
            Role::Active => "active",
            Role::Arriving => "arriving",
            Role::Standby => "standby",
        },
        leader: u8::try_from(metadata.leader).ok().filter(|leader| *leader != 0),
        term: metadata.term,
        leads: core.replica.observed().leads.count_ones(),
        behind: GroupNumber::all()
            .map(|group| core.replica.status(group).commit.saturating_sub(core.applied(group).index))
            .sum(),
        log_bytes: core.unpurged_bytes.values().sum(),
        nodes: nodes(core),
        stopped: core.stopped.iter().map(|(group, stop)| (group.value(), stop.to_string())).collect(),
        moved: moving.counts.named(),
        not_moved: moving.last_refusal.clone(),
        cuts: links.cuts().clone(),
        refusals: links.refusals().iter().map(|(node, words)| (node.value(), words.clone())).collect(),
    }
}

fn nodes(core: &Core) -> Vec<NodeStatus> {
    let is_connected =
        |node| node == core.own.node.value() || core.introduced.keys().any(|connected| connected.value() == node);
    let node = |member: &lapwing_cluster::Member| NodeStatus {
        node: member.id.0,
        name: member.said.name.clone(),
        zone: member.said.zone.clone(),
        standing: match member.standing {
            Standing::Voter => "voter",
            Standing::Learner => "learner",
            Standing::Gone => "gone",
        },
        addresses: member.said.addresses.clone(),
        release: member.said.release.clone(),
        is_connected: is_connected(member.id.0),
        behind: behind(core, member.id.0),
    };
    core.cluster.members().map(node).collect()
}

/// What a node lacks of the groups that this one leads, if that is all of them.
fn behind(core: &Core, node: u8) -> Option<u64> {
    if core.replica.observed().leads != u16::MAX {
        return None;
    }
    if node == core.own.node.value() {
        return Some(0);
    }
    let lack = |group| {
        let peers = core.replica.engine(group).peers();
        let peer = peers.into_iter().find(|peer| peer.node == u64::from(node))?;
        Some(core.replica.status(group).last.saturating_sub(peer.matched))
    };
    GroupNumber::all().map(lack).sum()
}
