//! What Raft counts in a group, as a map: batches and markers by Raft index.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::common::*;
use lapwing_store::StoreError;
use lapwing_store::journal::{Covered, DataGroupId, JournalReader, JournalWriter, Marker, RaftEntry};

/// A Raft index.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Held {
    term: u64,
    /// The last entry through it.
    through: u64,
    /// The body of a marker.
    marker: Option<Vec<u8>>,
}

/// One group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RaftModel {
    held: BTreeMap<u64, Held>,
    pub last: u64,
    purged: u64,
    purged_term: u64,
    /// The last entry that is purged.
    purged_through: u64,
}

impl RaftModel {
    /// The Raft index of the next entry, which is of the last batch if it may be.
    pub fn next(&self, term: u64, is_of_last: bool) -> u64 {
        let last = self.held.get(&self.last).filter(|held| held.term == term && held.marker.is_none());
        if is_of_last && last.is_some() { self.last } else { self.last + 1 }
    }

    pub fn append(&mut self, raft_index: u64, term: u64, index: u64) {
        self.held.insert(raft_index, Held { term, through: index, marker: None });
        self.last = raft_index;
    }

    /// A marker in both.
    pub fn mark(
        &mut self,
        writer: &mut JournalWriter,
        group: DataGroupId,
        term: u64,
        bytes: usize,
    ) -> Result<(), StoreError> {
        let (raft_index, body) = (self.last + 1, vec![self.last as u8; bytes]);
        writer.mark(Marker { group, raft_index, term, body: &body })?;
        let through = self.through(self.last);
        self.held.insert(raft_index, Held { term, through, marker: Some(body) });
        self.last = raft_index;
        Ok(())
    }

    fn through(&self, raft_index: u64) -> u64 {
        self.held.range(..=raft_index).next_back().map_or(self.purged_through, |held| held.1.through)
    }

    /// Truncates both from a Raft index, which is clamped; returns the last entry that is left.
    pub fn truncate(&mut self, writer: &mut JournalWriter, group: DataGroupId, from: u64) -> Result<u64, StoreError> {
        let from = from.clamp(self.purged + 1, self.last + 1);
        writer.truncate_raft(group, from)?;
        drop(self.held.split_off(&from));
        self.last = from - 1;
        Ok(self.through(self.last))
    }

    /// Purges both through a Raft index, that far beyond the end too; returns the last entry that is purged.
    pub fn purge(
        &mut self,
        writer: &mut JournalWriter,
        group: DataGroupId,
        (through, term, last_index): (u64, u64, u64),
    ) -> Result<u64, StoreError> {
        let beyond = through.saturating_sub(self.last);
        let index = if beyond > 0 { last_index + beyond / 2 } else { self.through(through) };
        writer.purge_raft(group, Covered { index, raft_index: through, term })?;
        if through > self.purged {
            self.purged_term = self.held.get(&through).map_or(term, |held| held.term);
            self.held = self.held.split_off(&(through + 1));
            (self.purged, self.last, self.purged_through) = (through, self.last.max(through), index);
        }
        Ok(self.purged_through)
    }

    /// Compares all that can be asked by Raft index.
    pub fn check(&self, group: DataGroupId, reader: &JournalReader) -> Result<(), String> {
        let say = |error: StoreError| error.to_string();
        let log = reader.group(group).map_err(say)?;
        let found = (log.last_raft_index, log.purged_raft_index, log.purged_raft_term);
        if found != (self.last, self.purged, self.purged_term) {
            return Err(format!("by Raft index it stands {found:?} and not {self:?}"));
        }
        for (raft_index, held) in &self.held {
            let term = reader.raft_term(group, *raft_index).map_err(say)?;
            let through = reader.index_through(group, *raft_index).map_err(say)?;
            if (term, through) != (Some(held.term), Some(held.through)) {
                return Err(format!("Raft index {raft_index} has term {term:?}, entry {through:?}, not {held:?}"));
            }
        }
        self.check_read(group, reader)
    }

    fn check_read(&self, group: DataGroupId, reader: &JournalReader) -> Result<(), String> {
        let mut found: BTreeMap<u64, Held> = BTreeMap::new();
        let read = reader.read_raft(group, self.purged + 1, u64::MAX, EVERYTHING, &mut |entry| {
            let held = match entry {
                RaftEntry::Entry(entry) => Held { term: entry.term, through: entry.index, marker: None },
                RaftEntry::Marker(marker) => {
                    let through = found.values().next_back().map_or(self.purged_through, |held| held.through);
                    Held { term: marker.term, through, marker: Some(marker.body.to_vec()) }
                }
            };
            found.insert(entry.raft_index(), held);
            ControlFlow::Continue(())
        });
        let next = read.map_err(|error| error.to_string())?.next_raft_index;
        match found == self.held && next == self.last + 1 {
            true => Ok(()),
            false => Err(format!("read {found:?} up to {next} and not {:?}", self.held)),
        }
    }
}
