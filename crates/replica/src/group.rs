//! One group's replica: its engine, the entries that are not done with, and what waits for the disk.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use lapwing_peer::{Batch, GroupNumber, NodeId};
use lapwing_raft::{
    BatchHeader, Engine, Entry, EntryKind, Fault, Message, NotDone, NotProposed, Proposed, Refusal, Role, Snapshot,
    Status, Turn as EngineTurn, Vote,
};

use crate::lag::NamedBatch;
use crate::tail::Tail;
use crate::turn::{Committed, Stop};
use crate::write::{Body, GroupWrite, LogEntry};

/// From which connection a batch has come: its number among all that this node had.
pub(crate) type Connection = u64;

/// A batch whose entry the engine has not handed out yet.
#[derive(Debug)]
struct Fresh {
    batch: Arc<Batch>,
    /// Nobody: it was proposed here.
    from: Option<Connection>,
}

/// A batch that came over a connection and is done with.
pub(crate) type Done = (Connection, Arc<Batch>);

/// A replica.
pub(crate) struct Group {
    pub(crate) number: GroupNumber,
    engine: Engine,
    pub(crate) tail: Tail,
    /// By Raft index and term.
    fresh: BTreeMap<(u64, u64), Fresh>,
    /// Proposed while the leadership was being handed over, in order.
    waiting: VecDeque<Arc<Batch>>,
    /// The last Raft index that was told to be committed.
    told_commit: u64,
    /// The last one that is on this disk.
    persisted: u64,
    /// Writes that are under way: number of the write, the engine's turn, its last Raft index, and what is done with it.
    under_way: VecDeque<UnderWay>,
    /// Messages that wait for the disk: the engine's turn, and what they are.
    held: VecDeque<(u64, Vec<Message>)>,
    durable_turn: u64,
    /// The last term in which it led and had told all of before.
    known_term: u64,
    /// The last term in which this node is known to have voted for itself, or in which it started.
    stood_in: u64,
    stop: Option<Stop>,
    is_stop_told: bool,
    /// Something has come since the last turn, or that turn had something to say: the next one may have.
    is_touched: bool,
}

#[derive(Debug)]
struct UnderWay {
    write: u64,
    turn: u64,
    last: Option<u64>,
    done: Vec<Done>,
}

/// What a group's turn comes to.
#[derive(Default)]
pub(crate) struct GroupTurn {
    pub(crate) write: Option<GroupWrite>,
    pub(crate) must_sync: bool,
    /// May go now.
    pub(crate) messages: Vec<Message>,
    pub(crate) committed: Vec<Committed>,
    pub(crate) returned: Vec<Arc<Batch>>,
    /// Batches that nobody wants.
    pub(crate) done: Vec<Done>,
    /// What else the engine says.
    pub(crate) engine: EngineTurn,
    pub(crate) stopped: Option<Stop>,
}

impl GroupTurn {
    /// Whether it says anything beside where the engine stands.
    fn has_any(&self) -> bool {
        let GroupTurn { write, must_sync: _, messages, committed, returned, done, engine, stopped } = self;
        let EngineTurn { reads, offer, membership, .. } = engine;
        let has_words = !messages.is_empty() || !reads.is_empty();
        let has_batches = !committed.is_empty() || !returned.is_empty() || !done.is_empty();
        let has_rest = offer.is_some() || membership.is_some() || stopped.is_some();
        write.is_some() || has_words || has_batches || has_rest
    }
}

impl Group {
    /// A replica whose log has all through `persisted` on disk; what is committed and applied ends at `applied`, and `tail` has
    /// everything behind that.
    pub(crate) fn new(number: GroupNumber, engine: Engine, tail: Tail) -> Group {
        let Status { commit, persisted, term, .. } = engine.status();
        Group {
            number,
            engine,
            tail,
            fresh: BTreeMap::new(),
            waiting: VecDeque::new(),
            told_commit: commit,
            persisted,
            under_way: VecDeque::new(),
            held: VecDeque::new(),
            durable_turn: 0,
            known_term: 0,
            stood_in: term,
            stop: None,
            is_stop_told: false,
            is_touched: true,
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The engine, for what it answers by itself.
    pub(crate) fn engine_mut(&mut self) -> &mut Engine {
        self.is_touched = true;
        &mut self.engine
    }

    /// Whether it leads.
    pub(crate) fn leads(&self) -> bool {
        self.stop.is_none() && self.engine.role() == Role::Leader
    }

    /// Whether it leads and has told all that was committed before: something of its own term is committed, and told. It stays
    /// so for the term.
    pub(crate) fn knows_commit(&self) -> bool {
        self.leads() && self.known_term == self.engine.term()
    }

    /// Whether it leads and everything in the log is applied: nothing comes any more of who handed over batches before, be it
    /// in the same term. Whoever numbers messages goes on behind that.
    pub(crate) fn is_applied(&self) -> bool {
        let (commit, last) = self.engine.ends();
        let is_told = last == commit && commit == self.told_commit;
        self.knows_commit() && is_told && self.waiting.is_empty()
    }

    /// Whether it stands for election in a new term by this vote, which is to be stored. Told once for each term.
    pub(crate) fn stands(&mut self, vote: &Vote, own: NodeId) -> bool {
        let is_new = vote.voted_for == u64::from(own.value()) && vote.term > self.stood_in;
        self.stood_in = if is_new { vote.term } else { self.stood_in };
        is_new
    }

    /// A message of a peer, with the batches that it names. What is done with at once is in `done`.
    pub(crate) fn step(
        &mut self,
        message: Message,
        batches: Vec<NamedBatch>,
        from: Connection,
        done: &mut Vec<Done>,
    ) -> Result<(), Refusal> {
        self.is_touched = true;
        let stepped = if self.stop.is_none() { self.engine.step(message) } else { Ok(()) };
        if stepped.is_err() || self.stop.is_some() {
            // Nothing of it counts: what came from somebody else for the same entry stays.
            done.extend(batches.into_iter().map(|named| (from, named.batch)));
        } else {
            self.keep_fresh(batches, from, done);
        }
        match stepped {
            Ok(()) => Ok(()),
            Err(Fault::Refused(refusal)) => Err(refusal),
            Err(Fault::Stopped(verdict)) => {
                self.stop.get_or_insert(Stop::Verdict(verdict));
                Ok(())
            }
        }
    }

    fn keep_fresh(&mut self, batches: Vec<NamedBatch>, from: Connection, done: &mut Vec<Done>) {
        for NamedBatch { raft_index, term, batch } in batches {
            let fresh = Fresh { batch, from: Some(from) };
            // The same entry again, as after a message that was thought lost.
            if let Some(Fresh { batch, from: Some(from) }) = self.fresh.insert((raft_index, term), fresh) {
                done.push((from, batch));
            }
        }
    }

    /// Proposes a batch.
    ///
    /// # Errors
    /// As [`Engine::propose`].
    pub(crate) fn propose(&mut self, batch: Arc<Batch>) -> Result<(), NotProposed> {
        self.is_touched = true;
        let head = batch.head();
        let header = BatchHeader { first_sequence: head.first_sequence, count: head.count, bytes: head.bytes };
        match self.engine.propose(header)? {
            Proposed::At(index) => {
                let term = self.engine.term();
                self.fresh.insert((index, term), Fresh { batch, from: None });
            }
            Proposed::Waits => self.waiting.push_back(batch),
        }
        Ok(())
    }

    /// What there is to do; it will be stored with the write of this number, if it stores anything.
    pub(crate) fn turn(&mut self, write: u64) -> GroupTurn {
        let mut turn = GroupTurn::default();
        if !self.is_touched {
            return turn;
        }
        if self.stop.is_none() {
            let engine = self.engine.turn();
            turn.engine = engine;
            self.take_turn(write, &mut turn);
        }
        // Whatever the engine did not want of what came: it had it, or another leads.
        let unwanted = std::mem::take(&mut self.fresh).into_values();
        turn.done.extend(unwanted.filter_map(|fresh| Some((fresh.from?, fresh.batch))));
        if self.stop.is_some() && !self.is_stop_told {
            (self.is_stop_told, turn.stopped) = (true, self.stop);
        }
        self.is_touched = turn.has_any();
        turn
    }

    fn take_turn(&mut self, write: u64, turn: &mut GroupTurn) {
        if let Some(snapshot) = &turn.engine.install {
            self.installed(snapshot);
        }
        let entries = std::mem::take(&mut turn.engine.entries);
        let (entries, done) = match self.weigh(entries) {
            Ok(weighed) => weighed,
            Err(stop) => {
                self.stop = Some(stop);
                return;
            }
        };
        turn.returned = turn.engine.returned.iter().filter_map(|_| self.waiting.pop_front()).collect();
        turn.must_sync = turn.engine.must_sync;
        let (install, truncate_from, vote) = (turn.engine.install.clone(), turn.engine.truncate_from, turn.engine.vote);
        let last = entries.last().map(|entry| entry.raft_index);
        if install.is_some() || truncate_from.is_some() || vote.is_some() || !entries.is_empty() {
            turn.write = Some(GroupWrite { group: self.number, install, truncate_from, entries, vote });
            self.under_way.push_back(UnderWay { write, turn: turn.engine.number, last, done });
        }
        turn.messages = std::mem::take(&mut turn.engine.messages);
        let after = std::mem::take(&mut turn.engine.messages_after);
        if turn.engine.after <= self.durable_turn {
            turn.messages.extend(after);
        } else if !after.is_empty() {
            self.held.push_back((turn.engine.after, after));
        }
        turn.committed = self.commit(turn.engine.status.commit);
        if turn.engine.status.has_committed_own_term && turn.engine.status.role == Role::Leader {
            self.known_term = turn.engine.status.term;
        }
    }

    /// The log goes on behind a snapshot; so does the state, which the caller has put in the place of the old one.
    fn installed(&mut self, snapshot: &Snapshot) {
        self.tail = Tail::from(snapshot.at.index + 1);
        self.told_commit = self.told_commit.max(snapshot.at.index);
    }

    /// Entries with what they weigh, which the tail has from here on; and what of that has come from elsewhere.
    fn weigh(&mut self, entries: Vec<Entry>) -> Result<(Vec<LogEntry>, Vec<Done>), Stop> {
        let (mut weighed, mut done) = (Vec::with_capacity(entries.len()), Vec::new());
        for Entry { index, term, kind } in entries {
            let body = match kind {
                EntryKind::Blank => Body::Blank,
                EntryKind::Membership(changes) => Body::Membership(changes),
                EntryKind::Batch(header) => {
                    let (batch, from) = self.batch_of((index, term), header)?;
                    done.extend(from.map(|from| (from, batch.clone())));
                    Body::Batch(batch)
                }
            };
            self.tail.put(index, term, body.clone());
            weighed.push(LogEntry { raft_index: index, term, body });
        }
        Ok((weighed, done))
    }

    fn batch_of(
        &mut self,
        (index, term): (u64, u64),
        header: BatchHeader,
    ) -> Result<(Arc<Batch>, Option<Connection>), Stop> {
        let is_same = |batch: &Batch| {
            let head = batch.head();
            (head.first_sequence, head.count, head.bytes) == (header.first_sequence, header.count, header.bytes)
        };
        if let Some(fresh) = self.fresh.remove(&(index, term)).filter(|fresh| is_same(&fresh.batch)) {
            return Ok((fresh.batch, fresh.from));
        }
        // What waited while the leadership was being handed over goes into the log in its order.
        match self.waiting.front().filter(|batch| is_same(batch)).is_some().then(|| self.waiting.pop_front()).flatten()
        {
            Some(batch) => Ok((batch, None)),
            None => Err(Stop::NoBatch { raft_index: index, term }),
        }
    }

    /// What is committed up to this Raft index and was not told yet.
    fn commit(&mut self, through: u64) -> Vec<Committed> {
        let (group, first) = (self.number, self.told_commit + 1);
        self.told_commit = self.told_commit.max(through);
        let committed = |raft_index| {
            let (term, body) = self.tail.at(raft_index)?;
            Some(Committed { group, raft_index, term: *term, body: body.clone() })
        };
        let committed: Vec<Committed> = (first..=through).map_while(committed).collect();
        let lost = first + committed.len() as u64;
        if lost <= through {
            self.stop = Some(Stop::NoBatch { raft_index: lost, term: 0 });
        }
        committed
    }

    /// Everything through the write of this number is on disk: messages that may go now, and batches that are done with.
    pub(crate) fn persisted(&mut self, write: u64) -> Result<(Vec<Message>, Vec<Done>), NotDone> {
        let (mut messages, mut done, mut turn) = (Vec::new(), Vec::new(), None);
        while self.under_way.front().is_some_and(|first| first.write <= write)
            && let Some(first) = self.under_way.pop_front()
        {
            turn = Some(first.turn);
            self.persisted = first.last.unwrap_or(self.persisted);
            done.extend(first.done);
        }
        let Some(turn) = turn else { return Ok((messages, done)) };
        self.is_touched = true;
        self.durable_turn = turn;
        while self.held.front().is_some_and(|(after, _)| *after <= turn)
            && let Some((_, held)) = self.held.pop_front()
        {
            messages.extend(held);
        }
        if self.stop.is_none() {
            self.engine.persisted(turn)?;
        }
        Ok((messages, done))
    }

    /// Forgets the oldest entry of the tail that is stored and applied; false: there is none.
    pub(crate) fn forget_one(&mut self) -> bool {
        self.tail.forget_one(self.persisted.min(self.told_commit))
    }

    pub(crate) fn stop(&self) -> Option<Stop> {
        self.stop
    }
}
