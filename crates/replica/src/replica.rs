//! All groups of a node, and its connections to the others.

mod active;
mod members;
mod peers;

use std::collections::BTreeMap;
use std::sync::Arc;

use lapwing_cluster::{Failover, Timing};
use lapwing_peer::{Batch, GroupNumber, NodeId};
use lapwing_raft::{Change, Engine, Message, MessageKind, NotDone, NotProposed, Snapshot, Status};

use crate::config::{Config, GroupStart};
use crate::group::{Connection, Done, Group, GroupTurn};
use crate::link::{Counters, Link};
use crate::start::{self, NotStarted};
use crate::translate::{self, Outgoing};
use crate::turn::{Stop, Turn};
use crate::write::Write;

/// A node's replicas.
pub struct Replica {
    config: Config,
    /// In the order of their numbers, the metadata's last.
    groups: Vec<Group>,
    links: BTreeMap<NodeId, Link>,
    connections: Connection,
    writes: u64,
    counters: Counters,
    /// Bytes of batches that were handed to connections, by node.
    appended_bytes: BTreeMap<NodeId, u64>,
    failover: Failover,
    timing: Timing,
    /// In which term a majority has answered last, and when that question was asked.
    confirmed: Option<(u64, u64)>,
    asked_at_ms: Option<u64>,
    /// The term in which the metadata group was given away last.
    given_up_in: Option<u64>,
    has_space: bool,
}

impl Replica {
    /// Replicas of what is on disk. `timing` is for who serves.
    ///
    /// # Errors
    /// A group's log is not what it should be, or not all groups are there.
    pub fn new(config: Config, timing: Timing, starts: Vec<GroupStart>) -> Result<Replica, NotStarted> {
        Ok(Replica {
            config,
            groups: start::groups(&config, starts)?,
            links: BTreeMap::new(),
            connections: 0,
            writes: 0,
            counters: Counters::default(),
            appended_bytes: BTreeMap::new(),
            failover: Failover::new(timing),
            timing,
            confirmed: None,
            asked_at_ms: None,
            given_up_in: None,
            has_space: true,
        })
    }

    /// Time passes for all groups. Those that have stopped stand still.
    pub fn tick(&mut self) {
        for group in self.groups.iter_mut().filter(|group| group.stop().is_none()) {
            // It fails for who has stopped.
            let ticked = group.engine_mut().tick();
            debug_assert!(ticked.is_ok(), "a group that has not stopped ticks");
        }
    }

    /// Proposes a batch in a group. It is committed when a turn says so; it comes back in [`Turn::returned`] when the
    /// leadership, which was being handed over, is another node's. Neither happens when the leadership was lost otherwise: who
    /// hands over batches ends with the term.
    ///
    /// # Errors
    /// As [`Engine::propose`]: this node does not lead the group, or too many wait.
    pub fn propose(&mut self, group: GroupNumber, batch: Arc<Batch>) -> Result<(), NotProposed> {
        self.group_mut(group).propose(batch)
    }

    /// Proposes a change of who belongs to a group.
    ///
    /// # Errors
    /// As [`Engine::propose_membership`].
    pub fn propose_membership(&mut self, group: GroupNumber, changes: &[Change]) -> Result<u64, NotDone> {
        self.group_mut(group).engine_mut().propose_membership(changes)
    }

    /// Hands the leadership of a group to another node.
    ///
    /// # Errors
    /// As [`Engine::transfer_to`].
    pub fn transfer(&mut self, group: GroupNumber, to: NodeId) -> Result<(), NotDone> {
        self.group_mut(group).engine_mut().transfer_to(to.value().into())
    }

    /// A snapshot of a group has come, whose bytes the caller has: the log begins anew behind it, with the next turn's write.
    ///
    /// # Errors
    /// As [`Engine::install`].
    pub fn install(&mut self, group: GroupNumber, snapshot: &Snapshot) -> Result<(), NotDone> {
        self.group_mut(group).engine_mut().install(snapshot)
    }

    /// The caller has a snapshot of a group on its disk that covers this Raft index: the engine forgets what it covers.
    ///
    /// # Errors
    /// As [`Engine::compact`].
    pub fn compact(&mut self, group: GroupNumber, through: u64) -> Result<(), NotDone> {
        self.group_mut(group).engine_mut().compact(through)
    }

    /// What there is to do. The caller stores [`Turn::write`], applies what is committed, and says when it is stored.
    pub fn turn(&mut self) -> Turn {
        let (mut turn, number) = (Turn::default(), self.writes + 1);
        let mut write = Write { number, ..Write::default() };
        let mut done = Vec::new();
        for place in 0..self.groups.len() {
            let (group, group_turn) = (self.groups[place].number, self.groups[place].turn(number));
            let GroupTurn { write: stored, must_sync, messages, committed, returned, done: unwanted, engine, stopped } =
                group_turn;
            if group == GroupNumber::METADATA {
                self.hear_answers(&engine);
            }
            let vote = stored.as_ref().and_then(|stored| stored.vote);
            let stands = vote.is_some_and(|vote| self.groups[place].stands(&vote, self.config.node));
            self.counters.elections += u64::from(stands);
            self.send(group, messages, &mut turn);
            write.must_sync |= must_sync;
            write.groups.extend(stored);
            done.extend(unwanted);
            turn.committed.extend(committed);
            turn.returned.extend(returned.into_iter().map(|batch| (group, batch)));
            turn.offers.extend(engine.offer.map(|offer| (group, offer)));
            turn.memberships.extend(engine.membership.map(|membership| (group, membership)));
            turn.stopped.extend(stopped.map(|stop| (group, stop)));
        }
        self.finish(done);
        self.forget();
        if !write.groups.is_empty() {
            self.writes = number;
            turn.write = Some(write);
        }
        turn
    }

    /// The write of this number, and every one before it, is on disk.
    pub fn persisted(&mut self, write: u64) {
        let mut done = Vec::new();
        for place in 0..self.groups.len() {
            let group = self.groups[place].number;
            let Ok((messages, finished)) = self.groups[place].persisted(write) else { continue };
            done.extend(finished);
            let mut unsent = Turn::default();
            self.send(group, messages, &mut unsent);
            debug_assert!(unsent.lagging.is_empty(), "who waits for the disk offers no snapshot");
        }
        self.finish(done);
    }

    /// Where a group stands.
    pub fn status(&self, group: GroupNumber) -> Status {
        self.group(group).engine().status()
    }

    /// A group's engine, to be looked at.
    pub fn engine(&self, group: GroupNumber) -> &Engine {
        self.group(group).engine()
    }

    /// Why a group's replica has stopped, if it has.
    pub fn stop(&self, group: GroupNumber) -> Option<Stop> {
        self.group(group).stop()
    }

    /// What was counted so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Bytes of batches that were handed to connections, by node, since the start.
    pub fn appended_bytes(&self) -> &BTreeMap<NodeId, u64> {
        &self.appended_bytes
    }

    /// Bytes of batches in memory.
    pub fn tail_bytes(&self) -> u64 {
        self.groups.iter().map(|group| group.tail.bytes()).sum()
    }

    /// Whether batches that are not on this disk, or not committed, take up as much as they may: nothing more is to be proposed.
    pub fn is_tail_full(&self) -> bool {
        self.tail_bytes() > self.config.tail_bytes
    }

    fn group(&self, group: GroupNumber) -> &Group {
        &self.groups[place(group)]
    }

    fn group_mut(&mut self, group: GroupNumber) -> &mut Group {
        &mut self.groups[place(group)]
    }

    /// Messages go to whom they are for; a leader's word of a snapshot is the caller's, who sends one.
    fn send(&mut self, group: GroupNumber, messages: Vec<Message>, turn: &mut Turn) {
        for message in messages {
            let Some(to) = translate::node(message.to) else { continue };
            if message.kind == MessageKind::Snapshot {
                turn.lagging.push((group, to));
                continue;
            }
            let link = self.links.get_mut(&to);
            let is_sent = link.is_some_and(|link| link.sender.push(Outgoing { group, message }));
            self.counters.dropped += u64::from(!is_sent);
        }
    }

    /// Batches that came over a connection are done with; the connection may be another one by now.
    fn finish(&mut self, done: Vec<Done>) {
        for (connection, batch) in done {
            let link = self.links.values_mut().find(|link| link.connection == connection);
            if let Some(link) = link {
                link.receiver.finish(batch.head());
            }
        }
    }

    /// Keeps the tails within their bytes, as far as nothing in them is needed here.
    fn forget(&mut self) {
        while self.tail_bytes() > self.config.tail_bytes {
            let largest = self.groups.iter_mut().max_by_key(|group| group.tail.bytes());
            if !largest.is_some_and(Group::forget_one) && !self.groups.iter_mut().any(Group::forget_one) {
                return;
            }
        }
    }
}

/// The place of a group among all of a node.
fn place(group: GroupNumber) -> usize {
    // 16 is the journal's own partition, and no group.
    usize::from(group.value().min(GroupNumber::DATA_GROUPS))
}
