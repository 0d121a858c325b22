//! What is on disk, what follows from that, and what may be forgotten.

use super::Engine;
use crate::error::NotDone;
use crate::turn::Snapshot;

impl Engine {
    /// All that turns gave to be stored, through the turn of this number, is on disk.
    ///
    /// # Errors
    /// `Beyond`: that turn was not handed out: the caller's fault. `Stopped`.
    pub fn persisted(&mut self, turn: u64) -> Result<(), NotDone> {
        self.alive()?;
        let Some(durable) = self.pending.persisted(turn) else {
            return Err(NotDone::Beyond { asked: turn, limit: self.pending.handed_out() });
        };
        if let Some(index) = durable.installed {
            self.raft.on_persist_snap(index);
        }
        if let Some(last) = durable.last {
            self.raft.on_persist_entries(last.index, last.term);
        }
        // Not only with the next turn: raft-rs looks through what is not applied before it asks for votes, and of what a
        // snapshot replaced there is nothing left to look through.
        self.follow_commit();
        Ok(())
    }

    /// Where a snapshot at this Raft index is, and who belongs to the group there: to be written with its bytes.
    ///
    /// # Errors
    /// `Beyond`: above what is committed and on this disk, or compacted already. `Stopped`.
    pub fn snapshot_at(&self, index: u64) -> Result<Snapshot, NotDone> {
        self.alive()?;
        let applied = self.raft.raft_log.applied;
        let found = if index > applied || self.is_installing() { None } else { self.raft.store().snapshot_at(index) };
        found.ok_or(NotDone::Beyond { asked: index, limit: applied })
    }

    /// Forgets entries up to this Raft index: the caller has a snapshot there, or behind it, on its disk.
    ///
    /// # Errors
    /// `Beyond`: above what is committed and on this disk. `Stopped`.
    pub fn compact(&mut self, through: u64) -> Result<(), NotDone> {
        self.alive()?;
        let applied = self.raft.raft_log.applied;
        if through > applied || self.is_installing() {
            return Err(NotDone::Beyond { asked: through, limit: applied });
        }
        self.raft.mut_store().compact(through);
        Ok(())
    }

    /// What is committed and on this disk counts as applied: memberships do from there on. The caller applies what is
    /// committed, on whoever's disks that is.
    pub(super) fn follow_commit(&mut self) {
        while !self.is_installing() {
            let log = &self.raft.raft_log;
            let (applied, through, last) = (log.applied, log.committed.min(log.persisted), log.last_index());
            if through <= applied {
                return;
            }
            self.apply_memberships(applied + 1, through);
            // It may append the entry that ends a joint membership.
            self.raft.commit_apply(through);
            self.has_unsent |= self.raft.raft_log.last_index() > last;
        }
    }

    /// Whether a snapshot is on its way to the disk: what lies before it is not applied any more, it is replaced.
    pub(super) fn is_installing(&self) -> bool {
        self.raft.raft_log.unstable.snapshot.is_some() || self.pending.is_installing()
    }
}
