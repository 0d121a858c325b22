//! What must hold after every step, whatever happens.

use std::collections::BTreeMap;

use lapwing_raft::{Entry, EntryKind, Membership, Role, Turn};

use super::replica::Replica;

/// Why a run is wrong.
pub type Violation = String;

/// All that was ever seen of the group.
#[derive(Debug, Default)]
pub struct Book {
    /// What is committed, from index 2 on: index 1 is where the group was founded.
    committed: Vec<Entry>,
    /// Every entry that was ever in any log, by index and term.
    known: BTreeMap<(u64, u64), Entry>,
    leaders: BTreeMap<u64, u64>,
    /// The sequence that comes next, behind each committed entry.
    sequences: Vec<u64>,
}

impl Book {
    /// The last index that is committed anywhere.
    pub fn committed(&self) -> u64 {
        self.committed.len() as u64 + 1
    }

    /// The sequence behind the committed entries up to `index`.
    pub fn sequence_behind(&self, index: u64) -> u64 {
        let place = index.checked_sub(2).map(|place| place as usize);
        place.and_then(|place| self.sequences.get(place)).copied().unwrap_or(1)
    }

    /// Looks at what a replica was just told.
    pub fn look(&mut self, of: u64, turn: &Turn, replicas: &[Replica]) -> Result<(), Violation> {
        let replica = replicas.iter().find(|replica| replica.id == of).ok_or("nobody's turn")?;
        self.one_leader_a_term(of, turn)?;
        self.logs_match(turn)?;
        if turn.status.commit < replica.commit {
            return Err(format!("commit of {of} went back from {} to {}", replica.commit, turn.status.commit));
        }
        for index in replica.commit + 1..=turn.status.commit {
            self.commits(index, replica, turn, replicas)?;
        }
        Ok(())
    }

    fn one_leader_a_term(&mut self, of: u64, turn: &Turn) -> Result<(), Violation> {
        if turn.status.role != Role::Leader {
            return Ok(());
        }
        let leader = *self.leaders.entry(turn.status.term).or_insert(of);
        if leader == of { Ok(()) } else { Err(format!("{leader} and {of} led in term {}", turn.status.term)) }
    }

    /// The same index and term is the same entry, everywhere and for ever.
    fn logs_match(&mut self, turn: &Turn) -> Result<(), Violation> {
        for entry in &turn.entries {
            let known = self.known.entry((entry.index, entry.term)).or_insert_with(|| entry.clone());
            if known != entry {
                return Err(format!("two entries with one position: {known:?} and {entry:?}"));
            }
        }
        Ok(())
    }

    /// A replica calls this index committed.
    fn commits(&mut self, index: u64, by: &Replica, turn: &Turn, all: &[Replica]) -> Result<(), Violation> {
        let known = index.checked_sub(2).and_then(|place| self.committed.get(place as usize));
        let Some(entry) = by.entry(index) else {
            // It lies in a snapshot, which somebody made of what was committed.
            return if known.is_some() || index < 2 { Ok(()) } else { Err(format!("nobody has committed {index}")) };
        };
        if let Some(known) = known {
            return if known == entry { Ok(()) } else { Err(format!("{known:?} was committed, now {entry:?} is")) };
        }
        if index != self.committed() + 1 {
            return Err(format!("{index} is committed, and what lies before it is not"));
        }
        let memberships = [Some(&by.membership), turn.membership.as_ref()];
        if !memberships.into_iter().flatten().any(|membership| has_quorum(entry, membership, all)) {
            return Err(format!("{entry:?} is committed without a quorum of disks"));
        }
        self.push(entry.clone())
    }

    fn push(&mut self, entry: Entry) -> Result<(), Violation> {
        let mut sequence = self.sequences.last().copied().unwrap_or(1);
        if let EntryKind::Batch(batch) = entry.kind {
            if batch.first_sequence != sequence {
                return Err(format!("sequence {} is committed where {sequence} follows", batch.first_sequence));
            }
            sequence = batch.end();
        }
        self.sequences.push(sequence);
        self.committed.push(entry);
        Ok(())
    }

    /// How many committed entries are batches.
    pub fn batches(&self) -> usize {
        self.committed.iter().filter(|entry| matches!(entry.kind, EntryKind::Batch(_))).count()
    }

    /// How many terms had a leader.
    pub fn elections(&self) -> usize {
        self.leaders.len()
    }
}

/// Whether a quorum of each half of the voters has the entry on disk.
fn has_quorum(entry: &Entry, membership: &Membership, all: &[Replica]) -> bool {
    let has = |node: &&u64| all.iter().any(|replica| replica.id == **node && replica.disk.has(entry));
    let is_quorum = |voters: &[u64]| voters.is_empty() || voters.iter().filter(has).count() > voters.len() / 2;
    is_quorum(&membership.voters) && is_quorum(&membership.outgoing)
}
