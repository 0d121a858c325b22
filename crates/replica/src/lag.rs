//! Where batches are found for who is sent them: in the tail, or among what was read from the journal for who lags.

use std::collections::BTreeMap;
use std::sync::Arc;

use lapwing_peer::{Batch, GroupNumber};
use lapwing_raft::{EntryKind, Message};

use crate::tail::Tail;
use crate::write::Body;

/// Entries whose batches a follower needs and that are no longer in memory: read them from the journal, and
/// [give](crate::Replica::provide) them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lacking {
    /// Whose.
    pub group: GroupNumber,
    /// The first Raft index.
    pub from: u64,
    /// The last one.
    pub through: u64,
}

/// A batch with the entry that names it.
#[derive(Clone, Debug)]
pub struct NamedBatch {
    /// The Raft index of the entry.
    pub raft_index: u64,
    /// Its term.
    pub term: u64,
    /// What it weighs.
    pub batch: Arc<Batch>,
}

/// What was read for one node, by group, Raft index and term, until it has gone out.
pub(crate) type Fetched = BTreeMap<(GroupNumber, u64, u64), Arc<Batch>>;

/// All batches that a message names.
///
/// # Errors
/// What is lacking; `None`: it is not in the log any more.
pub(crate) fn batches_of(
    (group, tail): (GroupNumber, &Tail),
    fetched: &Fetched,
    message: &Message,
) -> Result<Vec<NamedBatch>, Option<Lacking>> {
    let last = message.entries.last().map_or(0, |last| last.index);
    let batches = message.entries.iter().filter(|entry| matches!(entry.kind, EntryKind::Batch(_)));
    let found = batches.map(|entry| {
        let (raft_index, term) = (entry.index, entry.term);
        let batch = match tail.at(raft_index) {
            Some((found, Body::Batch(batch))) if *found == term => Some(batch),
            None if !tail.is_behind(raft_index) => fetched.get(&(group, raft_index, term)),
            // Something else is there, or nothing at all.
            _ => return Err(None),
        };
        let batch = batch.ok_or(Lacking { group, from: raft_index, through: last })?.clone();
        Ok(NamedBatch { raft_index, term, batch })
    });
    found.collect()
}
