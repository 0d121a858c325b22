//! One group's engine.

mod members;
mod persist;
mod propose;
mod step;
mod turn;

pub use propose::Proposed;

use std::mem;

use raft::eraftpb::{self, MessageType};
use raft::{ProgressState, Raft, StateRole};

use crate::bounds::READS_MAX;
use crate::config::Config;
use crate::error::{NotDone, StartError};
use crate::headers::Headers;
use crate::membership::Membership;
use crate::message_bound::MessageBound;
use crate::pending::Pending;
use crate::position::Position;
use crate::silent;
use crate::status::{Peer, Role, Status};
use crate::tail::{LogTail, Vote};
use crate::timeouts::Timeouts;
use crate::translate;
use crate::turn::{ReadGrant, SnapshotOffer};
use crate::verdict::Verdict;
use crate::waiting::Waiting;

/// One replica of one group: raft-rs behind numbers. The caller ticks it, tells it what peers say and what the disk has,
/// and after that takes a [`Turn`](crate::Turn) from it.
pub struct Engine {
    raft: Raft<Headers>,
    timeouts: Timeouts,
    pending: Pending,
    waiting: Waiting,
    bound: MessageBound,
    /// What the last turns have told.
    told_vote: Vote,
    told_membership: Option<Membership>,
    /// The term in which votes were asked for, in a turn that was handed out.
    asked_in: u64,
    /// Something was proposed that nobody was sent.
    has_unsent: bool,
    offer: Option<SnapshotOffer>,
    /// Ticks until those who wait for a snapshot are told of it once more.
    offer_in: u32,
    offer_ticks: u32,
    is_electable: bool,
    /// Ticks until it hears those who ask for votes.
    votes_after: u32,
    verdict: Option<Verdict>,
}

impl Engine {
    /// An engine on what the log has.
    ///
    /// # Errors
    /// `Config`: settings without meaning. `Damaged`, `Lost`: the log is not what it should be; the replica must not run.
    pub fn new(config: &Config, tail: LogTail) -> Result<Engine, StartError> {
        config.check()?;
        tail.check()?;
        let bound = MessageBound { bytes_max: config.message_bytes_max };
        let told_vote = tail.vote;
        let raft = Raft::new(&config.as_raft(), Headers::new(tail, bound), &silent::logger())
            .map_err(|_| StartError::Damaged { what: "raft-rs does not take it" })?;
        let mut engine = Engine {
            raft,
            timeouts: Timeouts::new(config),
            pending: Pending::default(),
            waiting: Waiting::new(config.waiting_max),
            bound,
            told_vote,
            told_membership: None,
            asked_in: 0,
            has_unsent: false,
            offer: None,
            offer_in: config.election_ticks,
            offer_ticks: config.election_ticks,
            is_electable: true,
            votes_after: config.votes_after_ticks,
            verdict: None,
        };
        engine.follow_commit();
        Ok(engine)
    }

    /// Time passes.
    ///
    /// # Errors
    /// `Stopped`: the replica stopped.
    pub fn tick(&mut self) -> Result<(), NotDone> {
        self.alive()?;
        self.votes_after = self.votes_after.saturating_sub(1);
        let timeout = self.timeouts.current(self.raft.term, self.raft.state as u8);
        self.raft.set_randomized_election_timeout(timeout);
        if self.leads() {
            self.offer_again();
            self.raft.tick();
        } else if self.raft.election_elapsed + 1 < timeout || self.may_lead() {
            if self.raft.tick() {
                self.timeouts.asked();
            }
        } else {
            // Time passes for it too: else it would go on believing in a leader that has gone.
            self.raft.election_elapsed += 1;
        }
        Ok(())
    }

    /// Asks for votes now, as if it had heard nobody for long.
    ///
    /// # Errors
    /// `Leads`: it does already. `NotElectable`: it has no vote, or its log is not on its disk. `Stopped`.
    pub fn campaign(&mut self) -> Result<(), NotDone> {
        self.alive()?;
        if self.leads() {
            return Err(NotDone::Leads);
        }
        if !self.may_lead() {
            return Err(NotDone::NotElectable);
        }
        self.local(MessageType::MsgHup, self.raft.id, false);
        self.timeouts.asked();
        Ok(())
    }

    /// Leads no longer: whoever leads next does so in a new term, be it this node. Nothing happens where it does not lead.
    ///
    /// # Errors
    /// `Stopped`.
    pub fn resign(&mut self) -> Result<(), NotDone> {
        self.alive()?;
        if self.leads() {
            self.raft.become_follower(self.raft.term, raft::INVALID_ID);
        }
        Ok(())
    }

    /// Whether this node may ask for votes; at first it may. The caller forbids it while it lacks anything that is
    /// committed: bodies, the state, records of streams. It votes for others nevertheless.
    pub fn set_electable(&mut self, is_electable: bool) {
        self.is_electable = is_electable;
    }

    /// Asks whether this node leads still, and what is committed; [`Turn::reads`](crate::Turn::reads) names the answer by
    /// `token`. Each question is a round of heartbeats, which answers all before it too: one a tick is enough.
    ///
    /// # Errors
    /// `NotLeader`, `TermNotCommitted`, `TooManyReads`, `Stopped`.
    pub fn read_index(&mut self, token: u64) -> Result<(), NotDone> {
        self.leading()?;
        if !self.raft.commit_to_current_term() {
            return Err(NotDone::TermNotCommitted);
        }
        if self.raft.pending_read_count() >= READS_MAX {
            return Err(NotDone::TooManyReads { limit: READS_MAX });
        }
        let question = eraftpb::Entry { data: translate::token_bytes(token).into(), ..eraftpb::Entry::default() };
        let mut message = eraftpb::Message { msg_type: MessageType::MsgReadIndex, ..eraftpb::Message::default() };
        message.set_entries(vec![question].into());
        let taken = self.raft.step(message);
        debug_assert!(taken.is_ok(), "it refuses nothing that was not looked at above: {taken:?}");
        Ok(())
    }

    /// Where it stands.
    pub fn status(&self) -> Status {
        let log = &self.raft.raft_log;
        Status {
            role: self.role(),
            term: self.raft.term,
            leader: self.raft.leader_id,
            commit: log.committed,
            last: log.last_index(),
            persisted: log.persisted,
            has_committed_own_term: self.raft.commit_to_current_term(),
            transfers_to: self.raft.lead_transferee.unwrap_or(0),
            waiting: self.waiting.len(),
        }
    }

    /// Who belongs to the group, by what is committed and on this disk.
    pub fn membership(&self) -> &Membership {
        self.raft.store().membership()
    }

    /// How far the others are, in ascending order of nodes, as a leader knows it; of no use to others.
    pub fn peers(&self) -> Vec<Peer> {
        let peer = |(&node, progress): (&u64, &raft::Progress)| Peer {
            node,
            matched: progress.matched,
            needs_snapshot: progress.state == ProgressState::Snapshot,
            is_active: progress.recent_active,
        };
        let mut peers: Vec<Peer> =
            self.raft.prs().iter().filter(|(node, _)| **node != self.raft.id).map(peer).collect();
        peers.sort_unstable_by_key(|peer| peer.node);
        peers
    }

    /// Why the replica stopped, if it did.
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    /// Where the log begins: what lies up to here is compacted.
    pub fn compacted(&self) -> Position {
        self.raft.store().compacted()
    }

    /// What it is, as [`Engine::status`] says it.
    pub fn role(&self) -> Role {
        match self.raft.state {
            StateRole::Follower => Role::Follower,
            StateRole::PreCandidate => Role::PreCandidate,
            StateRole::Candidate => Role::Candidate,
            StateRole::Leader => Role::Leader,
        }
    }

    /// The term that it is in.
    pub fn term(&self) -> u64 {
        self.raft.term
    }

    /// The Raft indices of the last committed entry and of the last one of the log.
    pub fn ends(&self) -> (u64, u64) {
        (self.raft.raft_log.committed, self.raft.raft_log.last_index())
    }

    fn leads(&self) -> bool {
        self.raft.state == StateRole::Leader
    }

    fn alive(&self) -> Result<(), NotDone> {
        self.verdict.map_or(Ok(()), |verdict| Err(NotDone::Stopped(verdict)))
    }

    fn leading(&self) -> Result<(), NotDone> {
        self.alive()?;
        if self.leads() { Ok(()) } else { Err(NotDone::NotLeader { leader: self.raft.leader_id }) }
    }

    /// Whether it could lead: its whole log is on its disk, as raft-rs insists when somebody becomes leader, and no
    /// snapshot is on its way.
    fn may_lead(&self) -> bool {
        self.is_electable && self.raft.promotable() && self.is_log_durable()
    }

    fn is_log_durable(&self) -> bool {
        let log = &self.raft.raft_log;
        log.unstable.snapshot.is_none() && self.pending.is_all_durable() && log.persisted == log.last_index()
    }

    /// A leader's word about a snapshot is said once by raft-rs, and may be lost: it is said again from time to time.
    fn offer_again(&mut self) {
        self.offer_in = self.offer_in.saturating_sub(1);
        if self.offer_in > 0 {
            return;
        }
        self.offer_in = self.offer_ticks;
        for peer in self.peers().into_iter().filter(|peer| peer.needs_snapshot) {
            self.local(MessageType::MsgSnapStatus, peer.node, true);
        }
    }

    /// A word to raft-rs that no peer can say.
    fn local(&mut self, msg_type: MessageType, from: u64, reject: bool) {
        let taken = self.raft.step(eraftpb::Message { msg_type, from, reject, ..eraftpb::Message::default() });
        debug_assert!(taken.is_ok(), "what it answers to {msg_type:?} of its own is never a refusal: {taken:?}");
    }

    fn take_reads(&mut self) -> Vec<ReadGrant> {
        let grant = |read: raft::ReadState| {
            let token = translate::token_of(&read.request_ctx)?;
            Some(ReadGrant { token, index: read.index })
        };
        mem::take(&mut self.raft.read_states).into_iter().filter_map(grant).collect()
    }
}
