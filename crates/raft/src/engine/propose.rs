//! What a leader brings into the log, and how it hands its place to another.

use raft::eraftpb::MessageType;

use super::Engine;
use crate::entry::{BatchHeader, EntryKind};
use crate::error::{NotDone, NotProposed};
use crate::translate;

/// Where a batch is that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proposed {
    /// In the log, at this Raft index; not committed yet.
    At(u64),
    /// In the line: the leadership is being handed over. It goes into the log when that comes to nothing, and comes back
    /// in [`Turn::returned`](crate::Turn::returned) when another leads.
    Waits,
}

impl Engine {
    /// Proposes a batch. Everybody is sent what was proposed with the next turn.
    ///
    /// # Errors
    /// With the batch: `NotLeader`, `Full` (retry), `Malformed`, `Stopped`.
    pub fn propose(&mut self, batch: BatchHeader) -> Result<Proposed, NotProposed> {
        if let Some(verdict) = self.verdict {
            return Err(NotProposed::Stopped { verdict, batch });
        }
        if !batch.is_valid() {
            return Err(NotProposed::Malformed { batch });
        }
        if !self.leads() {
            return Err(NotProposed::NotLeader { leader: self.raft.leader_id, batch });
        }
        // Who came earlier waits until the next turn, even if that could go on now: order.
        if self.raft.lead_transferee.is_none() && self.waiting.len() == 0 {
            return Ok(Proposed::At(self.append(&EntryKind::Batch(batch))));
        }
        if self.waiting.push(batch) {
            Ok(Proposed::Waits)
        } else {
            Err(NotProposed::Full { limit: self.waiting.limit(), batch })
        }
    }

    /// Hands the leadership to another voter. It is decided within an election's time: by a new leader, or by going on.
    /// Until then what is proposed waits.
    ///
    /// # Errors
    /// `NotLeader`; `Leads`: it is this node; `NoVoter`; `Stopped`.
    pub fn transfer_to(&mut self, node: u64) -> Result<(), NotDone> {
        self.leading()?;
        if node == self.raft.id {
            return Err(NotDone::Leads);
        }
        if !self.membership().is_voter(node) {
            return Err(NotDone::NoVoter { node });
        }
        self.send_unsent();
        self.local(MessageType::MsgTransferLeader, node, false);
        Ok(())
    }

    /// Appends an entry of this leader; its index.
    pub(super) fn append(&mut self, kind: &EntryKind) -> u64 {
        // There is no bound on what is uncommitted: the caller has one on what is under way.
        let is_appended = self.raft.append_entry(&mut [translate::proposal(kind)]);
        debug_assert!(is_appended, "it refuses by size only");
        self.has_unsent = true;
        self.raft.raft_log.last_index()
    }

    /// What waited goes into the log, or back to the caller, once it is decided who leads.
    pub(super) fn settle_waiting(&mut self) -> Vec<BatchHeader> {
        if !self.leads() {
            return self.waiting.take();
        }
        if self.raft.lead_transferee.is_none() {
            for batch in self.waiting.take() {
                self.append(&EntryKind::Batch(batch));
            }
        }
        Vec::new()
    }

    /// Everybody is sent what was proposed since the last turn: one message to each, however many batches there are.
    pub(super) fn send_unsent(&mut self) {
        if std::mem::take(&mut self.has_unsent) && self.leads() {
            self.raft.bcast_append();
        }
    }
}
