//! A disk: what turns gave to be stored, in order; what is synced; and what a crash leaves.

use std::collections::VecDeque;

use lapwing_raft::{Entry, LogTail, Snapshot, Turn, Vote};

/// Something that a disk, or whoever speaks for it, does wrong: planted, to see that it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// The engine is told that a turn is on disk before it is.
    PersistedTooEarly,
    /// What waits for the disk is sent at once.
    AnswersTooEarly,
    /// Terms and votes are not written, but for what entries say of terms.
    VotesNotWritten,
    /// A restart finds fewer entries than were synced.
    SuffixLost,
}

#[derive(Debug)]
struct Written {
    turn: u64,
    install: Option<Snapshot>,
    truncate_from: Option<u64>,
    entries: Vec<Entry>,
    vote: Option<Vote>,
}

/// What is synced, and what was written and is not.
#[derive(Debug)]
pub struct Disk {
    pub synced: LogTail,
    unsynced: VecDeque<Written>,
    /// It does nothing before this step.
    pub stands_still_until: u64,
}

impl Disk {
    pub fn new(synced: LogTail) -> Disk {
        Disk { synced, unsynced: VecDeque::new(), stands_still_until: 0 }
    }

    pub fn write(&mut self, turn: &Turn) {
        let (install, entries) = (turn.install.clone(), turn.entries.clone());
        let (truncate_from, vote) = (turn.truncate_from, turn.vote);
        if install.is_some() || !entries.is_empty() || vote.is_some() {
            self.unsynced.push_back(Written { turn: turn.number, install, truncate_from, entries, vote });
        }
    }

    /// How many turns are not synced.
    pub fn lag(&self) -> usize {
        self.unsynced.len()
    }

    /// Syncs the next so many turns; the number of the last one.
    pub fn sync(&mut self, many: usize, mutant: Option<Mutant>) -> Option<u64> {
        let many = many.min(self.unsynced.len());
        let mut last = None;
        for written in self.unsynced.drain(..many) {
            last = Some(written.turn);
            store(&mut self.synced, written, mutant);
        }
        last
    }

    /// A crash: of what is not synced so many turns are there nevertheless.
    pub fn crash(&mut self, kept: usize, mutant: Option<Mutant>) {
        self.sync(kept, mutant);
        self.unsynced.clear();
        self.stands_still_until = 0;
    }

    /// Loses the last entries, and the memory that they were committed.
    pub fn lose(&mut self, entries: usize) {
        let kept = self.synced.entries.len().saturating_sub(entries);
        self.synced.entries.truncate(kept);
        self.synced.vote.commit = self.synced.vote.commit.min(self.synced.last().index);
    }

    /// Forgets what lies up to a snapshot.
    pub fn compact(&mut self, snapshot: Snapshot) {
        self.synced.entries.retain(|entry| entry.index > snapshot.at.index);
        self.synced.compacted = snapshot.at;
        self.synced.membership = snapshot.membership;
    }

    /// Whether the entry, or a snapshot behind it, is synced.
    pub fn has(&self, entry: &Entry) -> bool {
        let compacted = self.synced.compacted.index;
        let place = entry.index.checked_sub(compacted + 1);
        place.is_none_or(|place| self.synced.entries.get(place as usize) == Some(entry))
    }
}

fn store(tail: &mut LogTail, written: Written, mutant: Option<Mutant>) {
    if let Some(snapshot) = written.install {
        tail.entries.clear();
        tail.compacted = snapshot.at;
        tail.membership = snapshot.membership;
    }
    if let Some(index) = written.truncate_from {
        tail.entries.retain(|entry| entry.index < index);
    }
    tail.entries.extend(written.entries);
    if let Some(vote) = written.vote {
        tail.vote = vote;
    }
    if mutant == Some(Mutant::VotesNotWritten) {
        tail.vote = Vote { term: tail.last().term, voted_for: 0, commit: tail.vote.commit };
    }
}
