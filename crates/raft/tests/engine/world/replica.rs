//! One replica: an engine, its disk, what it was told, and the owner that proposes while it leads.

use lapwing_raft::{
    BatchHeader, Config, Engine, Entry, EntryKind, LogTail, Membership, Message, Position, Proposed, Role, StartError,
    Turn,
};

use super::disk::Disk;

/// Who numbers messages while this replica leads.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    pub term: u64,
    pub next_sequence: u64,
}

pub struct Replica {
    pub id: u64,
    /// `None`: it has crashed, and is back in `back_at`.
    pub engine: Option<Engine>,
    pub back_at: u64,
    pub disk: Disk,
    /// The log as turns told it, synced or not.
    pub log: Vec<Entry>,
    pub base: Position,
    /// The sequence behind what lies before the log.
    pub base_sequence: u64,
    pub commit: u64,
    /// Who belonged to the group before the last turn.
    pub membership: Membership,
    /// What waits for a turn to be on disk.
    pub held: Vec<(u64, Message)>,
    pub owner: Option<Owner>,
    lives: u64,
    seed: u64,
}

/// Ticks between heartbeats and before elections, small so that much happens in few steps.
pub fn config(id: u64, seed: u64) -> Config {
    Config { heartbeat_ticks: 3, election_ticks: 15, waiting_max: 8, message_bytes_max: 1000, ..Config::new(id, seed) }
}

impl Replica {
    pub fn new(id: u64, tail: LogTail, seed: u64) -> Result<Replica, StartError> {
        let mut replica = Replica {
            id,
            engine: None,
            back_at: 0,
            disk: Disk::new(tail),
            log: Vec::new(),
            base: Position::default(),
            base_sequence: 1,
            commit: 0,
            membership: Membership::default(),
            held: Vec::new(),
            owner: None,
            lives: 0,
            seed,
        };
        replica.start()?;
        Ok(replica)
    }

    /// Starts from what the disk has.
    pub fn start(&mut self) -> Result<(), StartError> {
        self.lives += 1;
        let tail = self.disk.synced.clone();
        (self.log, self.base, self.commit) = (tail.entries.clone(), tail.compacted, tail.compacted.index);
        let engine = Engine::new(&config(self.id, self.seed.wrapping_add(self.lives)), tail)?;
        self.membership = engine.membership().clone();
        self.engine = Some(engine);
        Ok(())
    }

    pub fn stop(&mut self) {
        self.engine = None;
        self.owner = None;
        self.held.clear();
    }

    /// The entry at an index; `None`: not there, or compacted.
    pub fn entry(&self, index: u64) -> Option<&Entry> {
        self.log.get(index.checked_sub(self.base.index + 1)? as usize)
    }

    /// The log follows a turn.
    pub fn follow(&mut self, turn: &Turn) {
        if let Some(snapshot) = &turn.install {
            self.log.clear();
            self.base = snapshot.at;
        }
        if let Some(index) = turn.truncate_from {
            self.log.truncate((index - self.base.index - 1) as usize);
        }
        self.log.extend(turn.entries.iter().cloned());
        let status = turn.status;
        if status.role != Role::Leader {
            self.owner = None;
        } else if status.has_committed_own_term && self.owner.is_none_or(|owner| owner.term != status.term) {
            self.owner = Some(Owner { term: status.term, next_sequence: self.next_sequence() });
        }
    }

    /// The sequence behind the last batch; the first message ever has sequence 1.
    fn next_sequence(&self) -> u64 {
        let batch = |entry: &Entry| match entry.kind {
            EntryKind::Batch(batch) => Some(batch.end()),
            EntryKind::Blank | EntryKind::Membership(_) => None,
        };
        self.log.iter().rev().find_map(batch).unwrap_or(self.base_sequence)
    }

    /// The owner, if there is one, hands over a batch; true: it is in the log, or waits.
    pub fn propose(&mut self, count: u32) -> bool {
        let (Some(engine), Some(owner)) = (&mut self.engine, &mut self.owner) else { return false };
        let batch = BatchHeader { first_sequence: owner.next_sequence, count, bytes: count * 100 };
        let is_taken = matches!(engine.propose(batch), Ok(Proposed::At(_) | Proposed::Waits));
        if is_taken {
            owner.next_sequence = batch.end();
        }
        is_taken
    }

    pub fn leads(&self) -> bool {
        self.engine.as_ref().is_some_and(|engine| engine.status().role == Role::Leader)
    }
}
