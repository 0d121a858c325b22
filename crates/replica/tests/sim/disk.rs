//! A disk: writes are synced in order, some time later; a crash takes what was not, or a part of it.

use std::collections::VecDeque;

use lapwing_peer::GroupNumber;
use lapwing_raft::{Entry, EntryKind, LogTail, Snapshot, Vote};
use lapwing_replica::{Body, GroupStart, GroupWrite, Lacking, LogEntry, NamedBatch, Write};

use crate::state::State;

/// A snapshot with its bytes.
#[derive(Clone, Debug)]
pub struct Saved {
    pub snapshot: Snapshot,
    pub state: State,
}

/// One group's log.
#[derive(Clone, Debug)]
struct Log {
    saved: Saved,
    entries: Vec<LogEntry>,
    vote: Vote,
}

/// By place of the group.
#[derive(Clone, Debug)]
struct Logs(Vec<Log>);

/// A write on its way.
#[derive(Debug)]
struct Queued {
    due_ms: u64,
    write: Write,
    /// The snapshots that it installs.
    installs: Vec<(GroupNumber, Saved)>,
}

/// What the disk has, and what is on its way to it.
#[derive(Debug)]
pub struct Disk {
    synced: Logs,
    /// With everything that was handed over.
    written: Logs,
    queue: VecDeque<Queued>,
    pub lags_until_ms: u64,
}

impl Disk {
    /// Of a member of a new cluster.
    pub fn founded(voters: &[u64]) -> Disk {
        let LogTail { compacted: at, membership, vote, .. } = LogTail::founded(voters);
        let saved = Saved { snapshot: Snapshot { at, membership }, state: State::founded() };
        let logs = Logs(GroupNumber::all().map(|_| Log { saved: saved.clone(), entries: vec![], vote }).collect());
        Disk { synced: logs.clone(), written: logs, queue: VecDeque::new(), lags_until_ms: 0 }
    }

    /// Of who joins: it has nothing, and knows nobody.
    pub fn joining() -> Disk {
        let LogTail { compacted: at, membership, vote, .. } = LogTail::joining();
        let saved = Saved { snapshot: Snapshot { at, membership }, state: State::default() };
        let logs = Logs(GroupNumber::all().map(|_| Log { saved: saved.clone(), entries: vec![], vote }).collect());
        Disk { synced: logs.clone(), written: logs, queue: VecDeque::new(), lags_until_ms: 0 }
    }

    /// Takes a write; it is synced at `due_ms`, behind all before it.
    pub fn write(&mut self, due_ms: u64, write: Write, installs: Vec<(GroupNumber, Saved)>) {
        write.groups.iter().for_each(|group| self.written.store(group, &installs));
        self.queue.push_back(Queued { due_ms, write, installs });
    }

    /// The number of the last write that is synced by now, if any was since the last question.
    pub fn sync(&mut self, now_ms: u64) -> Option<u64> {
        let mut last = None;
        while now_ms >= self.lags_until_ms && self.queue.front().is_some_and(|queued| queued.due_ms <= now_ms) {
            let Queued { write, installs, .. } = self.queue.pop_front().expect("looked at");
            write.groups.iter().for_each(|group| self.synced.store(group, &installs));
            last = Some(write.number);
        }
        last
    }

    /// Of what was not synced `writes` are there whole, and of the next one what `groups` groups have stored.
    pub fn crash(&mut self, writes: usize, groups: usize) {
        for (place, Queued { write, installs, .. }) in std::mem::take(&mut self.queue).into_iter().enumerate() {
            let whole = if place < writes { write.groups.len() } else { groups };
            write.groups.iter().take(whole).for_each(|group| self.synced.store(group, &installs));
            if place >= writes {
                break;
            }
        }
        self.written = self.synced.clone();
    }

    /// The disk lies: of each group the last entry that it said to have is gone.
    pub fn lose_suffix(&mut self) {
        self.synced.0.iter_mut().for_each(|log| drop(log.entries.pop()));
        self.synced.0.iter_mut().for_each(|log| log.vote.commit = log.vote.commit.min(log.last()));
        self.written = self.synced.clone();
    }

    /// Whether this entry, or a snapshot with it, is synced.
    pub fn has(&self, group: GroupNumber, raft_index: u64, term: u64) -> bool {
        let log = &self.synced.0[place(group)];
        let at = log.saved.snapshot.at;
        raft_index <= at.index || log.find(raft_index).is_some_and(|entry| entry.term == term)
    }

    /// The last Raft index that is synced.
    pub fn synced_through(&self, group: GroupNumber) -> u64 {
        self.synced.0[place(group)].last()
    }

    /// A group's snapshot, as synced.
    pub fn saved(&self, group: GroupNumber) -> &Saved {
        &self.synced.0[place(group)].saved
    }

    /// A snapshot is there: entries that it has are forgotten.
    pub fn compact(&mut self, group: GroupNumber, saved: &Saved) {
        [&mut self.synced, &mut self.written].into_iter().for_each(|logs| logs.0[place(group)].compact(saved));
    }

    /// Reads what a follower lacks.
    pub fn read(&self, lacking: Lacking) -> Vec<NamedBatch> {
        let log = &self.written.0[place(lacking.group)];
        (lacking.from..=lacking.through).filter_map(|index| log.find(index).and_then(named)).collect()
    }

    /// What a node starts with: logs, and states up to what is known to be committed.
    pub fn start(&self) -> (Vec<GroupStart>, Vec<State>) {
        GroupNumber::all().zip(&self.synced.0).map(|(group, log)| log.start(group)).unzip()
    }
}

impl Logs {
    fn store(&mut self, write: &GroupWrite, installs: &[(GroupNumber, Saved)]) {
        let log = &mut self.0[place(write.group)];
        if write.install.is_some() {
            let (_, saved) = installs.iter().find(|(group, _)| *group == write.group).expect("its bytes have come");
            (log.saved, log.entries) = (saved.clone(), vec![]);
        }
        if let Some(from) = write.truncate_from {
            log.entries.retain(|entry| entry.raft_index < from);
        }
        log.entries.extend(write.entries.iter().cloned());
        log.vote = write.vote.unwrap_or(log.vote);
    }
}

impl Log {
    fn last(&self) -> u64 {
        self.entries.last().map_or(self.saved.snapshot.at.index, |entry| entry.raft_index)
    }

    fn find(&self, raft_index: u64) -> Option<&LogEntry> {
        let first = self.entries.first()?.raft_index;
        self.entries.get(raft_index.checked_sub(first)? as usize)
    }

    fn compact(&mut self, saved: &Saved) {
        if saved.snapshot.at.index > self.saved.snapshot.at.index {
            self.entries.retain(|entry| entry.raft_index > saved.snapshot.at.index);
            self.saved = saved.clone();
        }
    }

    fn start(&self, group: GroupNumber) -> (GroupStart, State) {
        let mut vote = self.vote;
        let Snapshot { at, membership } = self.saved.snapshot.clone();
        vote.commit = vote.commit.max(at.index);
        vote.term = vote.term.max(at.term);
        let mut state = self.saved.state;
        for entry in self.entries.iter().filter(|entry| entry.raft_index <= vote.commit) {
            state.apply(entry.raft_index, &entry.body).expect("what is committed follows");
        }
        let behind = self.entries.iter().filter(|entry| entry.raft_index > vote.commit);
        let batches = behind.filter_map(named).collect();
        let log = LogTail { compacted: at, membership, entries: self.entries.iter().map(header).collect(), vote };
        (GroupStart { group, log, batches }, state)
    }
}

fn header(entry: &LogEntry) -> Entry {
    let kind = match &entry.body {
        Body::Blank => EntryKind::Blank,
        Body::Membership(changes) => EntryKind::Membership(changes.clone()),
        Body::Batch(batch) => {
            let head = batch.head();
            let (first_sequence, count, bytes) = (head.first_sequence, head.count, head.bytes);
            EntryKind::Batch(lapwing_raft::BatchHeader { first_sequence, count, bytes })
        }
    };
    Entry { index: entry.raft_index, term: entry.term, kind }
}

fn named(entry: &LogEntry) -> Option<NamedBatch> {
    let batch = entry.body.batch()?.clone();
    Some(NamedBatch { raft_index: entry.raft_index, term: entry.term, batch })
}

/// The place of a group in lists of all.
pub fn place(group: GroupNumber) -> usize {
    GroupNumber::all().position(|one| one == group).expect("one of all")
}
