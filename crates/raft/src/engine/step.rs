//! What peers say, looked at before raft-rs hears it.

use raft::StateRole;
use raft::eraftpb::{self, MessageType};

use super::Engine;
use crate::bounds::{INDEX_MAX, TERM_MAX};
use crate::error::NotDone;
use crate::message::{Message, MessageKind};
use crate::place;
use crate::position::Position;
use crate::refusal::{Fault, Refusal};
use crate::shape;
use crate::translate;
use crate::turn::{Snapshot, SnapshotOffer};

impl Engine {
    /// A peer's message. Who may be a peer at all was decided where its connection came from; here a leader or candidate
    /// may be somebody that this replica has not heard of yet.
    ///
    /// # Errors
    /// `Refused`: the peer's fault, nothing was changed; drop it and count it. `Stopped`: this replica stops.
    pub fn step(&mut self, message: Message) -> Result<(), Fault> {
        if let Some(verdict) = self.verdict {
            return Err(verdict.into());
        }
        shape::check(&message)?;
        if let Err(fault) = place::check(&self.raft, &message) {
            if let Fault::Stopped(verdict) = fault {
                self.verdict = Some(verdict);
            }
            return Err(fault);
        }
        if self.votes_after > 0 && asks_for_vote(&message) {
            // It asks again.
            return Ok(());
        }
        self.check_election(&message)?;
        if message.kind == MessageKind::Snapshot && message.term >= self.raft.term {
            return self.offered(message);
        }
        self.take(translate::message_to_raft(message))
    }

    /// Begins the log anew behind a snapshot whose bytes the caller has. With the next turn it is to be made to count on
    /// disk; what that turn and later ones say waits for it as for anything else.
    ///
    /// # Errors
    /// `NotNeeded`: the log has caught up meanwhile; throw the bytes away. `NoSnapshot`: of a group without this node, or
    /// with numbers that cannot be. `Leads`; `ChangeUnderWay`: another one is on its way to the disk. `Stopped`.
    pub fn install(&mut self, snapshot: &Snapshot) -> Result<(), NotDone> {
        self.alive()?;
        let Snapshot { at, membership } = snapshot;
        if self.leads() {
            return Err(NotDone::Leads);
        }
        if self.is_installing() {
            return Err(NotDone::ChangeUnderWay);
        }
        if at.index == 0 || at.term == 0 || at.index > INDEX_MAX || at.term > TERM_MAX {
            return Err(NotDone::NoSnapshot { what: "its index or term cannot be" });
        }
        if let Some(what) = membership.fault() {
            return Err(NotDone::NoSnapshot { what });
        }
        if !membership.contains(self.raft.id) {
            return Err(NotDone::NoSnapshot { what: "it is of a group without this node" });
        }
        if self.has(*at) {
            return Err(NotDone::NotNeeded { index: at.index });
        }
        self.restore(snapshot);
        Ok(())
    }

    /// The leader hears of it with the next turn, where there is one.
    fn restore(&mut self, snapshot: &Snapshot) {
        let term = self.raft.term.max(snapshot.at.term);
        if term > self.raft.term || self.raft.state != StateRole::Follower {
            self.raft.become_follower(term, raft::INVALID_ID);
        }
        self.offer = None;
        let raft_snapshot = translate::snapshot(snapshot.at, &snapshot.membership);
        let leader = self.raft.leader_id;
        if leader == raft::INVALID_ID {
            let is_restored = self.raft.restore(raft_snapshot);
            debug_assert!(is_restored, "a follower of this membership that lacks {:?} takes it", snapshot.at);
            return;
        }
        let mut message = eraftpb::Message {
            msg_type: MessageType::MsgSnapshot,
            from: leader,
            to: self.raft.id,
            term,
            ..eraftpb::Message::default()
        };
        message.set_snapshot(raft_snapshot);
        let taken = self.raft.step(message);
        debug_assert!(taken.is_ok(), "a follower takes what comes from its leader in its own term: {taken:?}");
    }

    /// A leader told of a snapshot. raft-rs would throw the log away at once: it hears that the leader is there, and of
    /// the snapshot when its bytes are.
    fn offered(&mut self, message: Message) -> Result<(), Fault> {
        let at = Position { index: message.index, term: message.index_term };
        if !message.membership.as_ref().is_some_and(|membership| membership.contains(self.raft.id)) {
            return Err(Refusal::Membership { what: "a snapshot of a group without this node" }.into());
        }
        if self.has(at) {
            return self.take(translate::message_to_raft(message));
        }
        let (from, to, term) = (message.from, message.to, message.term);
        let heard = Message { kind: MessageKind::Heartbeat, from, to, term, ..Message::default() };
        self.take(translate::message_to_raft(heard))?;
        if !self.is_installing() {
            self.offer = Some(SnapshotOffer { from, at });
        }
        Ok(())
    }

    /// Whether the log is equal to another one up to that position.
    fn has(&self, at: Position) -> bool {
        at.index <= self.raft.raft_log.committed || self.raft.raft_log.match_term(at.index, at.term)
    }

    /// raft-rs insists that who becomes leader has its whole log on disk. That is so when nobody was asked before it was;
    /// a vote that was not asked for would make it panic.
    fn check_election(&self, message: &Message) -> Result<(), Refusal> {
        let from = message.from;
        let is_vote = message.kind == MessageKind::Vote && message.term == self.raft.term;
        if is_vote && self.raft.state == StateRole::Candidate {
            let is_asked = self.asked_in == self.raft.term && self.is_log_durable();
            return if is_asked { Ok(()) } else { Err(Refusal::Unasked { from }) };
        }
        if message.kind == MessageKind::Lead && message.term == self.raft.term && !self.may_lead() {
            return Err(Refusal::NotElectable);
        }
        Ok(())
    }

    fn take(&mut self, message: eraftpb::Message) -> Result<(), Fault> {
        let from = message.from;
        // What can be refused was looked at before: whatever is left was not asked for.
        self.raft.step(message).map_err(|_| Refusal::Unasked { from }.into())
    }
}

/// Whether somebody wants to lead by himself, and not at the leader's wish.
fn asks_for_vote(message: &Message) -> bool {
    matches!(message.kind, MessageKind::AskVote | MessageKind::AskPreVote) && !message.is_transfer
}
