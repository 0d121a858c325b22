//! Several members of one cluster made at once, each on an empty folder: a seam for tests.

use std::path::Path;

use lapwing_cluster::{Boot, ClusterId, ClusterState, Entry, FolderId, Newcomer, NodeId, SecretHash};
use lapwing_ledger::DataGroupState;
use lapwing_peer::GroupNumber;
use lapwing_raft::LogTail;
use lapwing_replica::vote_bytes;
use lapwing_store::disk::OsDisk;

use super::snapshot::{write_cluster, write_data_group};
use super::{Identity, Preface, ReplicaError, journal_group, raft_id};
use crate::config::Config;
use crate::member::{MemberError, features};
use crate::opened_log::MemberLog;

/// Makes members of the folders of these configurations, with the numbers 1 and on; `addresses`: where each is to be reached.
///
/// # Errors
/// A folder cannot be written.
#[doc(hidden)]
pub fn found_together(cluster: [u8; 16], configs: &[Config], addresses: &[String]) -> Result<(), MemberError> {
    let folders = 1..=configs.len() as u8;
    let newcomer = |node: u8, address: &String| Newcomer {
        name: format!("node-{node}"),
        folder: FolderId([node; 16]),
        addresses: vec![address.clone()],
        zone: String::new(),
        release: "lapwing".into(),
        features: features(),
    };
    let newcomers: Vec<Newcomer> = folders.zip(addresses).map(|(node, address)| newcomer(node, address)).collect();
    let state = state_of(ClusterId(cluster), &newcomers);
    for (config, node) in configs.iter().zip(1..) {
        begin(config, &state, &newcomers, node)?;
    }
    Ok(())
}

fn state_of(cluster: ClusterId, newcomers: &[Newcomer]) -> ClusterState {
    let (mut state, mut sequence) = (ClusterState::new(), 0);
    let mut say = |entry: &Entry| {
        sequence += 1;
        state.apply(sequence, entry).expect("nothing refuses it");
    };
    for (place, newcomer) in newcomers.iter().enumerate() {
        let secret = SecretHash([place as u8; 32]);
        if place == 0 {
            say(&Entry::Founded { cluster, name: "marsh".into(), founder: newcomer.clone() });
        } else {
            say(&Entry::TokenMade { secret, made_at_ms: 1 });
            say(&Entry::Joined { secret, newcomer: newcomer.clone(), joined_at_ms: 1 });
            say(&Entry::Promoted { node: NodeId(place as u8 + 1) });
        }
    }
    state
}

fn begin(config: &Config, state: &ClusterState, newcomers: &[Newcomer], node: u8) -> Result<(), MemberError> {
    let MemberLog { log, mut journal, reader, .. } = MemberLog::open(config)?;
    let voters: Vec<u64> = (1..=newcomers.len() as u8).map(|node| raft_id(NodeId(node))).collect();
    let LogTail { compacted, membership, vote, .. } = LogTail::founded(&voters);
    let preface = Preface { at: compacted, membership };
    for group in GroupNumber::all() {
        let (covered, _) = match group {
            GroupNumber::METADATA => write_cluster(&reader, &preface, state),
            _ => write_data_group(&reader, group, &preface, DataGroupState::new().freeze()),
        }
        .map_err(ReplicaError::from)?;
        journal.purge_raft(journal_group(group), covered).map_err(ReplicaError::from)?;
        journal.vote(journal_group(group), &vote_bytes(&vote)).map_err(ReplicaError::from)?;
    }
    journal.close().and_then(|()| log.close()).map_err(ReplicaError::from)?;
    let (cluster, cluster_name) = state.cluster().map(|(id, name)| (id, name.to_owned())).expect("it is founded");
    let folder = newcomers[usize::from(node) - 1].folder;
    let identity = Identity { cluster, cluster_name, node: NodeId(node), folder, boot: Boot(0) };
    let dir = config.data_dir.as_deref().unwrap_or(Path::new(""));
    identity.draft(&OsDisk, dir)?;
    Ok(Identity::name_draft(&OsDisk, dir)?)
}
