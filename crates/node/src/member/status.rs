//! Where a member stands, for people and for load balancers.

use std::collections::BTreeMap;
use std::time::Instant;

use lapwing_cluster::{Role, Standing};
use lapwing_peer::{DiskRoom, GroupNumber, NodeId};
use lapwing_raft::Role as RaftRole;
use serde::Serialize;

use super::core::Core;
use super::error::MemberError;
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
    /// For how long the oldest batch has waited for its commit, of the groups that this node leads, in milliseconds; `None`: it
    /// leads none.
    pub uncommitted_age_ms: Option<u64>,
    /// Elections that this node has stood for since its start, in all groups.
    pub elections: u64,
    /// Tokens and removals that were refused because so many waited.
    pub changes_refused: u64,
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
    /// Whether the node of that number could serve, or any other one.
    ///
    /// # Errors
    /// `NoSuccessor`: there is none. `NotSuccessor`: that one could not.
    pub(super) fn check_successor(&self, to: Option<u8>) -> Result<(), MemberError> {
        let Some(to) = to else {
            let is_any = self.nodes.iter().any(|node| self.why_no_successor(node).is_none());
            return if is_any { Ok(()) } else { Err(MemberError::NoSuccessor) };
        };
        let found = self.nodes.iter().find(|node| node.node == to);
        let why = found.map_or(Some("does not belong to the cluster"), |node| self.why_no_successor(node));
        let name = || found.map_or_else(|| format!("node {to}"), |node| node.name.clone());
        why.map_or(Ok(()), |why| Err(MemberError::NotSuccessor { name: name(), why }))
    }

    /// What keeps a node from serving in place of this one.
    fn why_no_successor(&self, node: &NodeStatus) -> Option<&'static str> {
        match node {
            _ if node.node == self.node => Some("is the one that is to step down"),
            _ if node.standing == "gone" => Some("was removed from the cluster"),
            _ if node.standing != "voter" => Some("has no vote"),
            _ if !node.is_connected => Some("is not connected"),
            _ => None,
        }
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
    /// As the leader of the metadata group sees it: whether it lacks more of any group than who votes may lack, or does not belong
    /// to one yet. `None`: this node does not lead.
    pub is_catching_up: Option<bool>,
    /// Of the disk that its data folder lies on, as it says itself: `ok`, `low` or `full`. `None`: it is not connected.
    pub disk: Option<&'static str>,
    /// Bytes that are free there; `None`: it cannot tell, or is not connected.
    pub disk_free_bytes: Option<u64>,
    /// Its wall clock less this node's, in milliseconds.
    pub skew_ms: Option<i64>,
    /// Bytes of entries that this node has sent it since its start.
    pub sent_bytes: u64,
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
        uncommitted_age_ms: uncommitted_age_ms(core),
        elections: core.replica.counters().elections,
        changes_refused: core.desk.crowded_out,
        nodes: core.cluster.members().map(|member| node(core, member)).collect(),
        stopped: core.stopped.iter().map(|(group, stop)| (group.value(), stop.to_string())).collect(),
        moved: moving.counts.named(),
        not_moved: moving.last_refusal.clone(),
        cuts: links.cuts().clone(),
        refusals: links.refusals().iter().map(|(node, words)| (node.value(), words.clone())).collect(),
    }
}

fn node(core: &Core, member: &lapwing_cluster::Member) -> NodeStatus {
    let number = member.id.0;
    let id = NodeId::new(number);
    let (room, free_bytes, skew_ms) = said(core, number);
    NodeStatus {
        node: number,
        name: member.said.name.clone(),
        zone: member.said.zone.clone(),
        standing: match member.standing {
            Standing::Voter => "voter",
            Standing::Learner => "learner",
            Standing::Gone => "gone",
        },
        addresses: member.said.addresses.clone(),
        release: member.said.release.clone(),
        is_connected: id.is_some_and(|id| id == core.own.node || core.introduced.contains_key(&id)),
        behind: behind(core, number),
        is_catching_up: is_catching_up(core, number).filter(|_| member.standing != Standing::Gone),
        disk: room.map(DiskRoom::name),
        disk_free_bytes: free_bytes,
        skew_ms,
        sent_bytes: id.and_then(|id| core.replica.appended_bytes().get(&id)).copied().unwrap_or(0),
    }
}

/// What a node says of its disk, and how far its clock is from this one's.
fn said(core: &Core, node: u8) -> (Option<DiskRoom>, Option<u64>, Option<i64>) {
    if node == core.own.node.value() {
        return (Some(core.telling.room), core.telling.free_bytes, Some(0));
    }
    let heard = NodeId::new(node).and_then(|node| core.telling.heard(node));
    heard.map_or((None, None, None), |heard| (Some(heard.told.room), heard.told.free_bytes, Some(heard.skew_ms)))
}

fn uncommitted_age_ms(core: &Core) -> Option<u64> {
    let leads = |group| {
        let status = core.replica.status(group);
        (status.role == RaftRole::Leader).then_some(status.term)
    };
    let leads_any = GroupNumber::all().any(|group| leads(group).is_some());
    leads_any.then(|| core.uncommitted.age(leads, Instant::now()).as_millis() as u64)
}

/// Whether a node lacks more than next to nothing of the groups that this one leads, if that is all of them.
fn is_catching_up(core: &Core, node: u8) -> Option<bool> {
    let leads_all = core.replica.observed().leads == u16::MAX;
    let has_all = || node == core.own.node.value() || core.replica.has_caught_up(node);
    leads_all.then(|| !has_all())
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
