//! What a member begins with: who it is, and its replicas as the log has them.

use std::path::Path;
use std::sync::Arc;

use lapwing_peer::NodeId;
use lapwing_replica::{Config as ReplicaConfig, GroupStart, NamedBatch, Replica};
use lapwing_store::disk::OsDisk;
use lapwing_store::random_bytes;

use super::error::MemberError;
use super::links::Own;
use super::settings::{self, MemberConfig};
use crate::config::Config;
use crate::replica::{Identity, ReplicaError, Started, StartedLog};

/// Who this node is. Its start is on disk when this returns: only then may anything be said of it.
pub(super) fn own(config: &Config, settings: &MemberConfig, started: &Started) -> Result<Own, MemberError> {
    let dir = config.data_dir.as_deref().unwrap_or(Path::new(""));
    let cluster = started.cluster.cluster().map(|(cluster, _)| cluster);
    let identity = Identity::of(&OsDisk, dir, cluster)?;
    let mut identity = identity.ok_or_else(|| MemberError::NoMember { dir: dir.into() })?;
    let boot = identity.next_boot(&OsDisk, dir)?;
    let start = random_bytes().map_err(ReplicaError::from)?;
    Ok(Own {
        node: NodeId::new(identity.node.0).ok_or_else(|| MemberError::NoMember { dir: dir.into() })?,
        cluster: identity.cluster.0,
        folder: identity.folder.0,
        boot: boot.0,
        start: u64::from_le_bytes(start),
        window_bytes: settings.tail_bytes / 2,
        tables: settings::tables(config),
        software: settings.software.clone(),
        addresses: settings.advertise.clone(),
    })
}

/// The replicas of all groups.
pub(super) fn replicas(own: &Own, settings: &MemberConfig, started: &Started) -> Result<Replica, MemberError> {
    let config = ReplicaConfig {
        node: own.node,
        seed: own.start,
        heartbeat_ticks: settings.ticks(settings.heartbeat_ms),
        election_ticks: settings.ticks(settings.election_ms),
        tail_bytes: settings.tail_bytes,
        window_bytes: own.window_bytes,
    };
    let start = |StartedLog { group, tail, waiting }: &StartedLog| {
        let term =
            |raft_index: u64| tail.entries.iter().find(|entry| entry.index == raft_index).map_or(0, |entry| entry.term);
        let named = |(raft_index, batch): &(u64, Arc<lapwing_peer::Batch>)| NamedBatch {
            raft_index: *raft_index,
            term: term(*raft_index),
            batch: batch.clone(),
        };
        GroupStart { group: *group, log: tail.clone(), batches: waiting.iter().map(named).collect() }
    };
    Ok(Replica::new(config, settings.timing(), started.logs.iter().map(start).collect())?)
}
