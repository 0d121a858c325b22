//! Makes a member out of an empty folder: logs without entries, which a leader fills, and the identity last.
//!
//! A crash before the identity leaves a folder in which nothing is, and which can be joined anew.

use std::path::{Path, PathBuf};

use lapwing_peer::GroupNumber;
use lapwing_raft::Vote;
use lapwing_replica::{read_vote, vote_bytes};
use lapwing_store::StoreError;
use lapwing_store::disk::OsDisk;
use lapwing_store::journal::JournalReader;

use super::{Identity, ReplicaError, journal_group};
use crate::config::Config;
use crate::opened_log::MemberLog;

/// A folder with nothing in it, which nobody else has open.
pub(crate) struct EmptyFolder {
    dir: PathBuf,
    log: MemberLog,
}

impl EmptyFolder {
    /// Opens the configuration's data folder, and makes it where there is none.
    ///
    /// # Errors
    /// `Node`: none is named, or somebody has it open. `Member`: it is a member's. `NotEmpty`: it has a node's data.
    pub(crate) fn open(config: &Config) -> Result<Self, ReplicaError> {
        let log = MemberLog::open(config)?;
        let dir = config.data_dir.clone().unwrap_or_default();
        if Identity::of(&OsDisk, &dir, None)?.is_some() {
            return Err(ReplicaError::Member { dir });
        }
        match is_empty(&log.reader)? && !has_streams(&dir) {
            true => Ok(EmptyFolder { dir, log }),
            false => Err(ReplicaError::NotEmpty { dir }),
        }
    }

    /// Where it is.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// It is this member's from now on.
    ///
    /// # Errors
    /// `Store`, `Identity`: it cannot be written, and is nobody's.
    pub(crate) fn begin(self, identity: &Identity) -> Result<(), ReplicaError> {
        let EmptyFolder { dir, log: MemberLog { log, mut journal, .. } } = self;
        identity.draft(&OsDisk, &dir)?;
        let vote = vote_bytes(&Vote::default());
        for group in GroupNumber::all() {
            // No node of its own goes on with this folder.
            journal.vote(journal_group(group), &vote)?;
        }
        journal.commit()?;
        journal.close().and_then(|()| log.close())?;
        Identity::name_draft(&OsDisk, &dir)
    }
}

/// Whether nothing was ever written in the journal, but for what [`EmptyFolder::begin`] leaves when it is cut short.
fn is_empty(reader: &JournalReader) -> Result<bool, StoreError> {
    for group in GroupNumber::all() {
        let log = reader.group(journal_group(group))?;
        let has_no_vote = read_vote(&log.vote) == Some(Vote::default());
        if log.last_index > 0 || log.last_raft_index > 0 || log.purged_raft_index > 0 || !has_no_vote {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a stream lies there: members have none.
fn has_streams(dir: &Path) -> bool {
    std::fs::read_dir(dir.join("streams")).is_ok_and(|mut streams| streams.next().is_some())
}
