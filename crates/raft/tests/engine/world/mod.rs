//! A group in memory: engines, disks, a network, and a book of what must hold.

pub mod book;
pub mod disk;
pub mod faults;
mod members;
pub mod network;
pub mod replica;

use std::collections::BTreeMap;

use lapwing_raft::{Fault, LogTail, Message, MessageKind, Refusal, Snapshot, SnapshotOffer, Turn};

use crate::random::Random;
use book::{Book, Violation};
use disk::Mutant;
use faults::Plan;
use network::Network;
use replica::Replica;

/// A group, at one step of its run.
pub struct World {
    pub replicas: Vec<Replica>,
    pub network: Network,
    pub book: Book,
    pub random: Random,
    pub plan: Plan,
    pub mutant: Option<Mutant>,
    pub now: u64,
    /// A digest of every turn, where it is wanted: two runs that have the same one were the same.
    pub digest: Option<u64>,
    healed_at: u64,
    /// Snapshots on their way: to whom, when, what.
    snapshots: Vec<(u64, usize, Snapshot)>,
    /// Questions that wait for an answer: what was committed when they were asked.
    reads: BTreeMap<u64, u64>,
    pub reads_granted: u64,
}

impl World {
    /// `nodes` replicas, of which the first `voters` vote and know of each other.
    pub fn new(nodes: u64, voters: u64, seed: u64, plan: Plan) -> Result<World, Violation> {
        let founded = LogTail::founded(&(1..=voters).collect::<Vec<_>>());
        let tail = |id| if id <= voters { founded.clone() } else { LogTail::joining() };
        let replica = |id| Replica::new(id, tail(id), seed).map_err(|error| error.to_string());
        let mut network = Network::new();
        (network.bad_one_in, network.delay_max) = (plan.bad_message, plan.delay_max.max(1));
        Ok(World {
            replicas: (1..=nodes).map(replica).collect::<Result<_, _>>()?,
            network,
            book: Book::default(),
            random: Random::new(seed),
            plan,
            mutant: None,
            now: 0,
            digest: None,
            healed_at: 0,
            snapshots: Vec::new(),
            reads: BTreeMap::new(),
            reads_granted: 0,
        })
    }

    /// So many steps, each looked at.
    pub fn run(&mut self, steps: u64) -> Result<(), Violation> {
        for _ in 0..steps {
            self.step().map_err(|violation| format!("step {}: {violation}", self.now))?;
        }
        Ok(())
    }

    /// Nothing goes wrong any more: does everybody come to the same log, and go on?
    pub fn heal(&mut self) -> Result<(), Violation> {
        (self.plan, self.network.bad_one_in, self.network.delay_max) = (Plan::default(), 0, 1);
        self.network.heal();
        for replica in &mut self.replicas {
            replica.disk.stands_still_until = 0;
            replica.back_at = replica.back_at.min(self.now + 1);
        }
        self.run(400)?;
        let before = self.book.batches();
        self.run(200)?;
        if self.book.batches() == before {
            return Err("healed, and nothing is committed any more".to_owned());
        }
        self.all_have_come_along()
    }

    fn all_have_come_along(&self) -> Result<(), Violation> {
        let leader = self.replicas.iter().find(|replica| replica.leads()).ok_or("healed, and nobody leads")?;
        let members = leader.engine.as_ref().map(|engine| engine.membership().clone()).unwrap_or_default();
        for replica in self.replicas.iter().filter(|replica| members.contains(replica.id)) {
            if replica.commit + 50 < self.book.committed() {
                return Err(format!("{} stays at {} of {}", replica.id, replica.commit, self.book.committed()));
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Violation> {
        self.now += 1;
        self.happen()?;
        self.deliver()?;
        for who in 0..self.replicas.len() {
            self.sync(who)?;
            self.work(who);
            self.turn(who)?;
        }
        Ok(())
    }

    fn deliver(&mut self) -> Result<(), Violation> {
        while let Some(message) = self.network.arrived(self.now) {
            let Some(who) = self.replicas.iter().position(|replica| replica.id == message.to) else { continue };
            let Some(engine) = &mut self.replicas[who].engine else { continue };
            let kind = message.kind;
            match engine.step(message) {
                Err(Fault::Stopped(verdict)) => return Err(verdict.to_string()),
                Err(Fault::Refused(refusal)) if !may_be_refused(kind, refusal) => {
                    return Err(format!("{kind:?} is refused: {refusal}"));
                }
                Ok(()) | Err(Fault::Refused(_)) => {}
            }
        }
        let now = self.now;
        let (arrived, under_way) = self.snapshots.drain(..).partition(|(at, _, _)| *at <= now);
        self.snapshots = under_way;
        for (_, who, snapshot) in arrived {
            if let Some(engine) = &mut self.replicas[who].engine {
                // It may have caught up meanwhile, or lead.
                let _ = engine.install(&snapshot);
            }
        }
        Ok(())
    }

    /// The disk comes a little further, if it does not stand still.
    fn sync(&mut self, who: usize) -> Result<(), Violation> {
        let replica = &mut self.replicas[who];
        if replica.disk.stands_still_until > self.now || self.random.once_in(3) {
            return Ok(());
        }
        let many = 1 + self.random.below(4) as usize;
        let (Some(turn), Some(engine)) = (replica.disk.sync(many, self.mutant), &mut replica.engine) else {
            return Ok(());
        };
        engine.persisted(turn).map_err(|error| error.to_string())?;
        let (free, held) = replica.held.drain(..).partition(|(after, _)| *after <= turn);
        replica.held = held;
        self.send(free);
        Ok(())
    }

    /// Time passes, owners propose, somebody asks.
    fn work(&mut self, who: usize) {
        let (is_late, proposes, asks) = (self.random.once_in(10), self.random.below(3), self.random.once_in(20));
        let replica = &mut self.replicas[who];
        let Some(engine) = &mut replica.engine else { return };
        if !is_late {
            let _ = engine.tick();
        }
        let token = self.now * 100 + who as u64;
        if asks && engine.read_index(token).is_ok() {
            self.reads.insert(token, self.book.committed());
        }
        for _ in 0..proposes {
            replica.propose(1 + self.random.below(64) as u32);
        }
    }

    fn turn(&mut self, who: usize) -> Result<(), Violation> {
        let replica = &mut self.replicas[who];
        let Some(engine) = &mut replica.engine else { return Ok(()) };
        let turn = engine.turn();
        self.digest(&turn);
        let replica = &mut self.replicas[who];
        let id = replica.id;
        replica.disk.write(&turn);
        if let Some(snapshot) = &turn.install {
            replica.base_sequence = self.book.sequence_behind(snapshot.at.index);
        }
        replica.follow(&turn);
        self.book.look(id, &turn, &self.replicas)?;
        self.take(who, turn)
    }

    fn take(&mut self, who: usize, turn: Turn) -> Result<(), Violation> {
        for read in &turn.reads {
            let asked_at = self.reads.remove(&read.token).ok_or("nobody asked that")?;
            self.reads_granted += 1;
            if read.index < asked_at {
                return Err(format!("{asked_at} was committed when somebody asked, the answer is {}", read.index));
            }
        }
        let replica = &mut self.replicas[who];
        replica.commit = turn.status.commit;
        if let Some(membership) = turn.membership {
            replica.membership = membership;
        }
        if self.mutant == Some(Mutant::PersistedTooEarly)
            && let Some(engine) = &mut replica.engine
        {
            engine.persisted(turn.number).map_err(|error| error.to_string())?;
        }
        let after = if self.mutant == Some(Mutant::AnswersTooEarly) { 0 } else { turn.after };
        let held = turn.messages_after.into_iter().map(|message| (after, message));
        let at_once = turn.messages.into_iter().map(|message| (0, message));
        if after == 0 {
            self.send(held.collect());
        } else {
            replica.held.extend(held);
        }
        self.send(at_once.collect());
        turn.offer.map_or(Ok(()), |offer| self.fetch(who, &offer))
    }

    /// Whoever offers a snapshot gives the newest that it has.
    fn fetch(&mut self, who: usize, offer: &SnapshotOffer) -> Result<(), Violation> {
        let Some(from) = self.replicas.iter().find(|replica| replica.id == offer.from) else { return Ok(()) };
        let Some(engine) = &from.engine else { return Ok(()) };
        if let Ok(snapshot) = engine.snapshot_at(engine.compacted().index.max(offer.at.index)) {
            let arrives = self.now + 1 + self.random.below(30);
            self.snapshots.push((arrives, who, snapshot));
        }
        Ok(())
    }

    fn send(&mut self, messages: Vec<(u64, Message)>) {
        for (_, message) in messages {
            self.network.send(message, self.now, &mut self.random);
        }
    }

    fn restart_the_crashed(&mut self) -> Result<(), Violation> {
        for replica in &mut self.replicas {
            if replica.engine.is_some() || replica.back_at > self.now {
                continue;
            }
            if self.mutant == Some(Mutant::SuffixLost) {
                replica.disk.lose(3);
            }
            replica.base_sequence = self.book.sequence_behind(replica.disk.synced.compacted.index);
            replica.start().map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn digest(&mut self, turn: &Turn) {
        let add = |digest: u64, byte: u8| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.digest = self.digest.map(|digest| format!("{turn:?}").bytes().fold(digest, add));
    }
}

/// What comes late, or from somebody who was removed. Everything else is taken by whom it is to.
fn may_be_refused(kind: MessageKind, refusal: Refusal) -> bool {
    match refusal {
        Refusal::Unasked { .. } | Refusal::NotElectable => kind == MessageKind::Lead,
        Refusal::UnknownPeer { .. } | Refusal::Membership { .. } => true,
        _ => false,
    }
}
