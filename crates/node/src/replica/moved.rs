//! What of a group goes to a follower that lacks what the log no longer has: its newest snapshot, and the entries that this refers
//! to.

use std::io::{self, Read};
use std::ops::ControlFlow;

use lapwing_peer::GroupNumber;
use lapwing_replica::read_vote;
use lapwing_store::ReadLimits;
use lapwing_store::journal::{Covered, JournalReader, Received, Snapshot};

use super::preface::Preface;
use super::walk::GroupState;
use super::{GroupFault, ReplicaError, journal_group};

/// A snapshot that is to be sent, open: it can be read again and again, also when a newer one has taken its place.
pub(crate) struct Moved {
    pub(crate) group: GroupNumber,
    pub(crate) preface: Preface,
    pub(crate) covered: Covered,
    snapshot: Snapshot,
    /// Bytes of the state, behind the preface.
    pub(crate) state_bytes: u64,
    /// The sequences of the entries that it refers to and that were there, ascending, and the bytes of their bodies.
    ///
    /// Some may go meanwhile: what the leader's state no longer refers to is dead for who comes as far, and nobody is served before.
    pub(crate) live: Vec<u64>,
    pub(crate) live_bytes: u64,
}

impl Moved {
    /// The newest snapshot of a group; nothing where there is none.
    ///
    /// # Errors
    /// `Group`: it is no member's. `Store`.
    pub(crate) fn newest(reader: &JournalReader, group: GroupNumber) -> Result<Option<Self>, ReplicaError> {
        let Some(snapshot) = reader.snapshot(journal_group(group))? else { return Ok(None) };
        let (index, (preface, mut bytes)) = (snapshot.index(), open(group, &snapshot)?);
        let read = io::copy(&mut bytes, &mut io::sink());
        let state_bytes = read.map_err(|error| ReplicaError::Store(crate::log::snapshot::store_error(error)))?;
        let covered = Covered { index, raft_index: preface.at.index, term: preface.at.term };
        let (live, live_bytes) = live(reader, group, index, open(group, &snapshot)?.1)?;
        Ok(Some(Moved { group, preface, covered, snapshot, state_bytes, live, live_bytes }))
    }

    /// The state's bytes, from the first on.
    ///
    /// # Errors
    /// As [`Moved::newest`].
    pub(crate) fn state(&self) -> Result<impl Read + use<>, ReplicaError> {
        Ok(open(self.group, &self.snapshot)?.1)
    }
}

fn open(group: GroupNumber, snapshot: &Snapshot) -> Result<(Preface, impl Read + use<>), ReplicaError> {
    let read = Preface::read::<Snapshot>(snapshot.clone());
    let (preface, state) = read.map_err(|why| ReplicaError::unreadable(group, snapshot.index(), why))?;
    let fault = GroupFault::Snapshot("its snapshot was written by a node on its own");
    Ok((preface.ok_or_else(|| ReplicaError::group(group, fault))?, state))
}

/// The entries that a state refers to and that are there; the metadata's refers to none.
fn live(
    reader: &JournalReader,
    group: GroupNumber,
    index: u64,
    bytes: impl Read,
) -> Result<(Vec<u64>, u64), ReplicaError> {
    let GroupState::Data(state) = GroupState::read(group, index, bytes)? else { return Ok((vec![], 0)) };
    let (mut live, mut live_bytes) = (vec![], 0);
    let everything = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
    reader.read(journal_group(group), 1, index, everything, &mut |entry| {
        if state.is_live(entry.index) {
            live.push(entry.index);
            live_bytes += entry.body.len() as u64;
        }
        ControlFlow::Continue(())
    })?;
    Ok((live, live_bytes))
}

/// The state in a snapshot that was received.
///
/// # Errors
/// `Group`: it is none, or not the one that was named. `Store`.
pub(crate) fn moved_state(received: &Received, group: GroupNumber) -> Result<GroupState, ReplicaError> {
    let (_, state) = open(group, &received.snapshot()?)?;
    GroupState::read(group, received.covered().index, state)
}

/// Up to where the log of a group is the leader's, as far as this disk knows: what is committed there is so for ever.
///
/// # Errors
/// `Group`: its vote is none. `Store`.
pub(crate) fn common_raft_index(reader: &JournalReader, group: GroupNumber) -> Result<u64, ReplicaError> {
    let log = reader.group(journal_group(group))?;
    let malformed = GroupFault::Snapshot("its vote is nothing that a member writes");
    let vote = read_vote(&log.vote).ok_or_else(|| ReplicaError::group(group, malformed))?;
    Ok(vote.commit.clamp(log.purged_raft_index, log.last_raft_index))
}
