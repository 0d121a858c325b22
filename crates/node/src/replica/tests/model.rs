//! What one group's log has to be after so many steps.

use std::sync::Arc;

use lapwing_peer::{Batch, GroupNumber};
use lapwing_raft::{BatchHeader, Entry, EntryKind, Position, Vote};
use lapwing_replica::{Body, LogEntry};

/// The parts of writes, as a crash may divide them.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Truncate(u64),
    Append(LogEntry),
    Vote(Vote),
}

#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) group: GroupNumber,
    /// From Raft index 1 on.
    pub(super) log: Vec<LogEntry>,
    pub(super) vote: Vote,
}

impl Model {
    pub(super) fn new(group: GroupNumber) -> Self {
        Model { group, log: vec![], vote: Vote::default() }
    }

    pub(super) fn take(&mut self, step: &Step) {
        match step {
            Step::Truncate(from) => self.log.truncate(*from as usize - 1),
            Step::Append(entry) => self.log.push(entry.clone()),
            Step::Vote(vote) => self.vote = *vote,
        }
    }

    pub(super) fn last(&self) -> Position {
        self.log.last().map_or(Position::default(), |entry| Position { index: entry.raft_index, term: entry.term })
    }

    pub(super) fn term_at(&self, raft_index: u64) -> u64 {
        raft_index.checked_sub(1).and_then(|at| self.log.get(at as usize)).map_or(0, |entry| entry.term)
    }

    pub(super) fn next_sequence(&self) -> u64 {
        1 + self.log.iter().filter_map(batch_of).map(|batch| u64::from(batch.head().count)).sum::<u64>()
    }

    /// Headers of all behind a Raft index.
    pub(super) fn headers(&self, behind: u64) -> Vec<Entry> {
        let header = |entry: &LogEntry| {
            let kind = match &entry.body {
                Body::Blank => EntryKind::Blank,
                Body::Membership(changes) => EntryKind::Membership(changes.clone()),
                Body::Batch(batch) => {
                    let head = batch.head();
                    let (first_sequence, count, bytes) = (head.first_sequence, head.count, head.bytes);
                    EntryKind::Batch(BatchHeader { first_sequence, count, bytes })
                }
            };
            Entry { index: entry.raft_index, term: entry.term, kind }
        };
        self.log.iter().skip(behind as usize).map(header).collect()
    }

    /// The batches behind a Raft index.
    pub(super) fn batches(&self, behind: u64) -> Vec<(u64, Arc<Batch>)> {
        let of = |entry: &LogEntry| batch_of(entry).map(|batch| (entry.raft_index, batch.clone()));
        self.log.iter().skip(behind as usize).filter_map(of).collect()
    }

    /// Bodies of all records through a Raft index.
    pub(super) fn bodies(&self, through: u64) -> Vec<Vec<u8>> {
        let batches = self.log.iter().take(through as usize).filter_map(batch_of);
        batches
            .flat_map(|batch| batch.records().iter().map(|record| record.body.to_vec()).collect::<Vec<_>>())
            .collect()
    }
}

fn batch_of(entry: &LogEntry) -> Option<&Arc<Batch>> {
    match &entry.body {
        Body::Batch(batch) => Some(batch),
        Body::Blank | Body::Membership(_) => None,
    }
}
