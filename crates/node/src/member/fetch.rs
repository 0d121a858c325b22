//! Batches for who lags behind what is in memory, out of the journal.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use lapwing_peer::{Batch, List, Record};
use lapwing_replica::{Lacking, NamedBatch};
use lapwing_store::journal::{JournalReader, OwnedEntry, RaftEntry, RaftError};
use lapwing_store::{ReadLimits, StoreError};

use crate::replica::{GroupFault, ReplicaError, journal_group};

/// What one look brings at most, and a batch more: a message has no more.
const BYTES_MAX: u64 = 2 << 20;

/// The batches that are lacking, from the first on, as far as they are there and fit into one look.
///
/// # Errors
/// `Store`: the journal cannot be read. `Group`: a batch in it is none.
pub(super) fn batches(reader: &JournalReader, lacking: Lacking) -> Result<Vec<NamedBatch>, ReplicaError> {
    let limits = ReadLimits { messages_max: u64::MAX, bytes_max: BYTES_MAX };
    let mut found: BTreeMap<u64, Vec<OwnedEntry>> = BTreeMap::new();
    let mut each = |entry: RaftEntry<'_>| {
        if let RaftEntry::Entry(entry) = entry {
            found.entry(entry.raft_index).or_default().push(entry.to_owned_entry());
        }
        ControlFlow::Continue(())
    };
    let Lacking { group, from, through } = lacking;
    match reader.read_raft(journal_group(group), from, through, limits, &mut each) {
        // A snapshot has it by now: the leader's engine finds that out too.
        Err(StoreError::Raft(RaftError::Purged { .. })) => return Ok(Vec::new()),
        read => read.map(drop)?,
    }
    let named = |(raft_index, entries): (u64, Vec<OwnedEntry>)| {
        let batch = batch_of(&entries).ok_or_else(|| {
            ReplicaError::group(group, GroupFault::Log { raft_index, what: "entries that no batch has" })
        })?;
        Ok(NamedBatch { raft_index, term: entries[0].term, batch })
    };
    found.into_iter().map(named).collect()
}

fn batch_of(entries: &[OwnedEntry]) -> Option<Arc<Batch>> {
    let records: Vec<Record<'_>> = entries.iter().map(record_of).collect();
    Batch::of(entries.first()?.index, &List::from_slice(&records)).ok().map(Arc::new)
}

fn record_of(entry: &OwnedEntry) -> Record<'_> {
    let OwnedEntry { slot, message_id, appended_at_us, ref body, .. } = *entry;
    Record { slot, message_id, appended_at_us, body }
}
