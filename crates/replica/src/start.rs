//! Replicas made of what a node has on its disk.

use lapwing_peer::GroupNumber;
use lapwing_raft::{Config as EngineConfig, Engine, EntryKind, StartError};
use thiserror::Error;

use crate::config::{Config, GroupStart};
use crate::group::Group;
use crate::tail::Tail;
use crate::write::Body;

/// Why a node's replicas do not start.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotStarted {
    /// A group's log is not what it should be.
    #[error("group {group}: {error}")]
    Group {
        /// Whose.
        group: GroupNumber,
        /// Why.
        error: StartError,
    },
    /// The batch of an entry that may still be void is missing.
    #[error("group {group}: entry {raft_index} has no batch")]
    NoBatch {
        /// Whose.
        group: GroupNumber,
        /// The entry.
        raft_index: u64,
    },
    /// A group is missing, or there twice.
    #[error("a node has each group once, and group {group} is missing or there twice")]
    Groups {
        /// Which.
        group: GroupNumber,
    },
}

/// All groups, in the order of their numbers.
pub(crate) fn groups(config: &Config, mut starts: Vec<GroupStart>) -> Result<Vec<Group>, NotStarted> {
    starts.sort_by_key(|start| start.group);
    for (place, group) in GroupNumber::all().enumerate() {
        if starts.get(place).is_none_or(|start| start.group != group) {
            return Err(NotStarted::Groups { group });
        }
    }
    starts.into_iter().map(|start| group(config, start)).collect()
}

fn group(config: &Config, start: GroupStart) -> Result<Group, NotStarted> {
    let tail = tail(&start)?;
    let GroupStart { group, log, .. } = start;
    let engine_config = EngineConfig {
        heartbeat_ticks: config.heartbeat_ticks,
        election_ticks: config.election_ticks,
        votes_after_ticks: config.election_ticks,
        // Groups of one node do not stand for election all in the same tick.
        ..EngineConfig::new(config.node.value().into(), config.seed.wrapping_add(u64::from(group.value()) << 32))
    };
    let engine = Engine::new(&engine_config, log).map_err(|error| NotStarted::Group { group, error })?;
    Ok(Group::new(group, engine, tail))
}

/// What is not committed by the log's own record, with what it weighs.
fn tail(start: &GroupStart) -> Result<Tail, NotStarted> {
    let commit = start.log.vote.commit;
    let mut tail = Tail::from(commit + 1);
    let mut batches = start.batches.iter();
    for entry in start.log.entries.iter().filter(|entry| entry.index > commit) {
        let body = match &entry.kind {
            EntryKind::Blank => Body::Blank,
            EntryKind::Membership(changes) => Body::Membership(changes.clone()),
            EntryKind::Batch(_) => {
                let is_it = |named: &&crate::NamedBatch| (named.raft_index, named.term) == (entry.index, entry.term);
                let missing = NotStarted::NoBatch { group: start.group, raft_index: entry.index };
                Body::Batch(batches.find(is_it).ok_or(missing)?.batch.clone())
            }
        };
        tail.put(entry.index, entry.term, body);
    }
    Ok(tail)
}
