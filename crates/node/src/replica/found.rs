//! Makes a cluster of one out of a stopped node's folder.
//!
//! All that the folder has goes on, as the state at Raft index 1 of each group. Snapshots of the states and the identity are
//! written beside what counts; then one commit makes all of it count at once. A crash before leaves one node's folder with
//! everything in it, one behind it a member's.

use std::path::Path;

use lapwing_cluster::{Boot, ClusterId, ClusterState, Entry, Features, FolderId, Newcomer, NodeId};
use lapwing_peer::GroupNumber;
use lapwing_raft::LogTail;
use lapwing_replica::vote_bytes;
use lapwing_store::disk::{Disk, OsDisk};
use lapwing_store::journal::{Covered, JournalConfig, JournalReader, JournalWriter};
use lapwing_store::{Log, LogConfig, random_bytes};

use super::snapshot::{write_cluster, write_data_group};
use super::{Identity, Preface, ReplicaError, is_of_cluster, journal_group, raft_id};
use crate::config::Config;
use crate::data_groups::DataGroups;
use crate::error::NodeError;
use crate::start_progress::StartProgress;

/// Who founds a cluster always has this number.
const FOUNDER: NodeId = NodeId(0);

/// What its founder says of a cluster and of itself.
#[derive(Clone, Debug)]
pub(crate) struct Founding {
    /// What people call the cluster.
    pub(crate) cluster_name: String,
    /// What people call the node.
    pub(crate) node_name: String,
    /// Where other nodes reach it, `HOST:PORT`.
    pub(crate) addresses: Vec<String>,
    /// Where it stands; empty: nobody has said.
    pub(crate) zone: String,
    /// Of its program, for people.
    pub(crate) release: String,
    /// Of its program.
    pub(crate) features: Features,
}

/// Founds a cluster in the configuration's data folder, which no broker uses meanwhile.
///
/// # Errors
/// `Member`: the folder has one already. `Said`: names what cannot be said. `Node`: there is no folder, or its states cannot be
/// read. `Store`, `Identity`: the folder cannot be written. In each case it is as it was.
pub(crate) fn found_cluster(config: &Config, founding: Founding) -> Result<Identity, ReplicaError> {
    let Some(dir) = config.data_dir.as_deref() else {
        let what = "it is not set, and a cluster keeps its log there".to_owned();
        return Err(NodeError::config("data_dir", what, "Name the folder of this node's data.").into());
    };
    // Streams stay as they are: they are not looked at.
    let (log, _) = Log::open(dir, &LogConfig::default(), &[])?;
    let segment_bytes = config.limits.log_segment_bytes;
    let (mut journal, reader) = log.open_journal(&JournalConfig { segment_bytes, ..JournalConfig::default() })?;
    let identity = found(&OsDisk, dir, (&mut journal, &reader), founding)?;
    journal.close()?;
    log.close()?;
    Ok(identity)
}

/// The same in a folder whose journal is open.
pub(super) fn found(
    disk: &dyn Disk,
    dir: &Path,
    (journal, reader): (&mut JournalWriter, &JournalReader),
    founding: Founding,
) -> Result<Identity, ReplicaError> {
    if is_of_cluster(reader)? || Identity::of(disk, dir, None)?.is_some() {
        return Err(ReplicaError::Member { dir: dir.into() });
    }
    let (cluster, folder) = (ClusterId(random_bytes()?), FolderId(random_bytes()?));
    let cluster_name = founding.cluster_name.clone();
    let state = founded(cluster, folder, founding)?;
    let (data_groups, _) = DataGroups::recover(reader, &StartProgress::default())?;
    let identity = Identity { cluster, cluster_name, node: FOUNDER, folder, boot: Boot(0) };
    identity.draft(disk, dir)?;
    begin_logs(journal, &snapshots(reader, &data_groups, &state)?)?;
    Identity::name_draft(disk, dir)?;
    Ok(identity)
}

/// A cluster with its founder.
fn founded(cluster: ClusterId, folder: FolderId, founding: Founding) -> Result<ClusterState, ReplicaError> {
    let Founding { cluster_name, node_name, addresses, zone, release, features } = founding;
    let founder = Newcomer { name: node_name, folder, addresses, zone, release, features };
    let entry = Entry::Founded { cluster, name: cluster_name, founder };
    // As everybody would read it: whatever is out of bounds is found before anything is written.
    let entry = Entry::decode(&entry.encode())?;
    let mut state = ClusterState::new();
    let answer = state.apply(1, &entry);
    debug_assert_eq!(answer, Ok(lapwing_cluster::Answer::Member(FOUNDER)), "nothing refuses the first entry");
    Ok(state)
}

/// Writes each group's state as it is now; what each of them covers.
fn snapshots(
    reader: &JournalReader,
    data_groups: &DataGroups,
    cluster: &ClusterState,
) -> Result<Vec<(GroupNumber, Covered)>, ReplicaError> {
    let first = first_log();
    let preface = Preface { at: first.compacted, membership: first.membership };
    let write = |group: GroupNumber| {
        let (covered, _) = match group {
            GroupNumber::METADATA => write_cluster(reader, &preface, cluster)?,
            _ => {
                let state = data_groups.get(u16::from(group.value())).freeze();
                write_data_group(reader, group, &preface, state)?
            }
        };
        Ok((group, covered))
    };
    GroupNumber::all().map(write).collect()
}

/// Has every log begin at its snapshot, by one commit.
fn begin_logs(journal: &mut JournalWriter, covered: &[(GroupNumber, Covered)]) -> Result<(), ReplicaError> {
    let vote = vote_bytes(&first_log().vote);
    for (group, covered) in covered {
        journal.purge_raft(journal_group(*group), *covered)?;
        journal.vote(journal_group(*group), &vote)?;
    }
    journal.commit()?;
    Ok(())
}

fn first_log() -> LogTail {
    LogTail::founded(&[raft_id(FOUNDER)])
}
