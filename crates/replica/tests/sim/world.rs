//! All of it: nodes, wires, time.

use lapwing_cluster::{ClusterState, Step};
use lapwing_oracle::variants::Random;
use lapwing_peer::GroupNumber;
use lapwing_replica::{Body, Turn};

use crate::book::{Book, Violation};
use crate::disk::{Disk, place};
use crate::members;
use crate::node::{FRAME_BYTES_MAX, Node, WINDOW_BYTES};
use crate::owner::{Owner, batch};
use crate::transfers::Transfer;
use crate::wire::Wire;

/// What is wrong with a cluster, on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    None,
    /// The disk is said to have what it has not.
    PersistedBeforeSync,
    /// The disk loses what it had.
    SuffixLost,
    /// Who serves goes on when no majority has confirmed it.
    ServesUnconfirmed,
    /// Who leads the metadata group serves at once.
    ServesEarly,
    /// A snapshot is taken without what lies behind it being void.
    InstalledWithoutState,
}

/// A cluster, and what is known of it.
#[derive(Debug)]
pub struct World {
    pub random: Random,
    pub now_ms: u64,
    pub nodes: Vec<Node>,
    pub wires: Vec<Wire>,
    pub book: Book,
    pub flaw: Flaw,
    /// Who is to belong to the groups.
    pub cluster: ClusterState,
    /// Whether that changes.
    pub do_members_change: bool,
    /// Learners that got a vote, and members that were taken out.
    pub promoted: u64,
    pub removed: u64,
    /// Replicas that have stopped.
    pub stopped: u64,
    pub transfers: Vec<Transfer>,
    tail_bytes: u64,
}

impl World {
    pub fn new(seed: u64, nodes: u8, flaw: Flaw) -> World {
        let mut random = Random::new(seed);
        let voters: Vec<u64> = (1..=u64::from(nodes)).collect();
        let all: Vec<Node> = (1..=nodes).map(|id| Node::new(id, &voters, &mut random)).collect();
        let pairs = (0..all.len()).flat_map(|first| (first + 1..usize::from(nodes)).map(move |second| (first, second)));
        // Small in some runs, so that followers are sent what is read from the disk.
        let tail_bytes = [0, 10_000, 1 << 20][random.below(3)];
        World {
            wires: pairs.map(Wire::new).collect(),
            random,
            now_ms: 0,
            nodes: all,
            book: Book::new(),
            flaw,
            cluster: members::founded(nodes),
            do_members_change: false,
            promoted: 0,
            removed: 0,
            stopped: 0,
            transfers: vec![],
            tail_bytes,
        }
    }

    /// A millisecond passes.
    pub fn step(&mut self) -> Result<(), Violation> {
        self.now_ms += 1;
        self.wake()?;
        self.connect();
        self.deliver()?;
        self.install()?;
        // Who stood still answers before it has looked whether it may.
        self.one_serves()?;
        if self.flaw == Flaw::None {
            self.leases_hold()?;
        }
        for node in 0..self.nodes.len() {
            if self.nodes[node].is_running(self.now_ms) {
                self.work(node)?;
            }
        }
        self.one_serves()
    }

    fn wake(&mut self) -> Result<(), Violation> {
        let (now_ms, tail_bytes) = (self.now_ms, self.tail_bytes);
        for node in &mut self.nodes {
            if node.is_member && node.life.is_none() && now_ms >= node.down_until_ms {
                node.start(now_ms, tail_bytes)?;
            }
            if let (Some(written), Some(life)) = (node.disk.sync(now_ms), &mut node.life) {
                life.replica.persisted(written);
                life.is_due = true;
            }
        }
        Ok(())
    }

    fn connect(&mut self) {
        for wire in self.wires.iter_mut().filter(|wire| !wire.is_up && self.now_ms >= wire.down_until_ms) {
            let (first, second) = wire.ends;
            wire.is_up = [first, second].iter().all(|end| self.nodes[*end].is_running(self.now_ms));
            for (end, peer) in [(first, second), (second, first)].into_iter().filter(|_| wire.is_up) {
                let peer = self.nodes[peer].id;
                let life = self.nodes[end].life.as_mut().expect("it is running");
                life.replica.connected(peer, FRAME_BYTES_MAX, WINDOW_BYTES);
            }
        }
    }

    /// A connection breaks, for both ends, until some time after `until_ms`.
    pub fn cut(&mut self, wire: usize, until_ms: u64) {
        self.wires[wire].cut(until_ms);
        let (first, second) = self.wires[wire].ends;
        for (end, peer) in [(first, second), (second, first)] {
            let peer = self.nodes[peer].id;
            if let Some(life) = &mut self.nodes[end].life {
                life.replica.disconnected(peer);
            }
        }
    }

    fn deliver(&mut self) -> Result<(), Violation> {
        for place in 0..self.wires.len() {
            let (first, second) = self.wires[place].ends;
            for (from, to) in [(first, second), (second, first)] {
                let peer = self.nodes[from].id;
                let is_running = self.nodes[to].is_running(self.now_ms);
                let way = self.wires[place].way_from(from).expect("its end");
                if is_running && way.arrive(self.now_ms) {
                    self.nodes[to].take(peer, &mut way.arrived)?;
                }
            }
        }
        Ok(())
    }

    /// A node's part of this millisecond.
    fn work(&mut self, node: usize) -> Result<(), Violation> {
        match self.nodes[node].tick(self.now_ms) {
            Step::Serve => self.serve(node)?,
            Step::End(_) => {
                let ends_at_ms = self.nodes[node].clock_ms(self.now_ms) + self.random.below(300) as u64;
                let life = self.nodes[node].life.as_mut().expect("it is running");
                life.owner.iter_mut().for_each(|owner| owner.ends_at_ms = Some(ends_at_ms));
            }
            _ if self.flaw == Flaw::ServesEarly => self.serve_early(node)?,
            _ => {}
        }
        self.hand_over(node);
        let life = self.nodes[node].life.as_mut().expect("it is running");
        if let Some(turn) = life.turn() {
            self.take_turn(node, turn)?;
            self.send(node)?;
        }
        Ok(())
    }

    fn serve(&mut self, node: usize) -> Result<(), Violation> {
        let life = self.nodes[node].life.as_mut().expect("it is running");
        life.owner = Some(Owner::new(&life.states));
        self.book.serves(node, &life.states)
    }

    fn serve_early(&mut self, node: usize) -> Result<(), Violation> {
        let life = self.nodes[node].life.as_ref().expect("it is running");
        match life.owner.is_none() && life.replica.status(GroupNumber::METADATA).role == lapwing_raft::Role::Leader {
            true => self.serve(node),
            false => Ok(()),
        }
    }

    /// Clients have sent something.
    fn hand_over(&mut self, node: usize) {
        let Some(life) = &mut self.nodes[node].life else { return };
        let Some(owner) = life.owner.as_mut().filter(|owner| owner.ends_at_ms.is_none()) else { return };
        while self.random.below(8) == 0 {
            let group = GroupNumber::new(self.random.below(16) as u8).expect("a data group");
            let batch = owner.batch(group, &mut self.random);
            if life.replica.propose(group, batch.clone()).is_err() {
                owner.take_back(group, &batch);
            }
            life.is_due = true;
        }
        let metadata = life.states[place(GroupNumber::METADATA)];
        if self.random.below(500) == 0 && metadata.raft_index == life.replica.status(GroupNumber::METADATA).last {
            let batch = batch(metadata.sequence + 1, &mut self.random);
            life.is_due |= life.replica.propose(GroupNumber::METADATA, batch).is_ok();
        }
    }

    fn take_turn(&mut self, node: usize, turn: Turn) -> Result<(), Violation> {
        let now_ms = self.now_ms;
        let delay_ms = 1 + self.random.below(20) as u64;
        let this = &mut self.nodes[node];
        let life = this.life.as_mut().expect("it is running");
        if let Some(write) = turn.write {
            let number = write.number;
            this.disk.write(now_ms + delay_ms, write, std::mem::take(&mut life.installing));
            if self.flaw == Flaw::PersistedBeforeSync {
                life.replica.persisted(number);
                life.is_due = true;
            }
        }
        for (group, stop) in &turn.stopped {
            self.stopped += 1;
            if self.flaw == Flaw::None {
                return Err(format!("group {group}: {node} stopped: {stop}"));
            }
        }
        let life = self.nodes[node].life.as_mut().expect("it is running");
        let before = life.in_force.clone();
        for (group, membership) in &turn.memberships {
            life.in_force[place(*group)] = membership.clone();
        }
        let after = life.in_force.clone();
        for entry in &turn.committed {
            let life = self.nodes[node].life.as_mut().expect("it is running");
            let state = &mut life.states[place(entry.group)];
            state
                .apply(entry.raft_index, &entry.body)
                .map_err(|what| format!("group {}: {node}: {what}", entry.group))?;
            let state = *state;
            let now = life.memberships[place(entry.group)].clone();
            let disks: Vec<&Disk> = self.nodes.iter().map(|node| &node.disk).collect();
            self.book.committed(
                node,
                entry,
                &state,
                &disks,
                [&before[place(entry.group)], &after[place(entry.group)], &now],
            )?;
            if let Body::Membership(changes) = &entry.body {
                let life = self.nodes[node].life.as_mut().expect("it is running");
                members::changed(&mut life.memberships[place(entry.group)], changes);
            }
        }
        let life = self.nodes[node].life.as_ref().expect("it is running");
        self.book.leaders(node, &life.replica)?;
        for (group, peer) in turn.lagging {
            self.transfer(node, group, peer);
        }
        Ok(())
    }

    fn send(&mut self, node: usize) -> Result<(), Violation> {
        for wire in self.wires.iter_mut().filter(|wire| wire.is_up) {
            let other = wire.other(node);
            let Some(way) = wire.way_from(node) else { continue };
            let peer = self.nodes[other].id;
            let Node { life, disk, .. } = &mut self.nodes[node];
            let life = life.as_mut().expect("it is running");
            let (mut bytes, room) = (vec![], (512_usize << 10).saturating_sub(way.under_way()));
            let mut tries = 0;
            while let Some(lacking) = life.replica.fill(peer, room, &mut bytes).map_err(|error| error.to_string())? {
                life.replica.provide(peer, lacking, disk.read(lacking));
                tries += 1;
                if tries > 10_000 {
                    return Err(format!("{node} lacks {lacking:?} for {peer} again and again"));
                }
            }
            if !bytes.is_empty() {
                way.send(self.now_ms + 1 + self.random.below(10) as u64, bytes);
            }
        }
        Ok(())
    }

    /// Whoever may serve is the leader of the newest term: nobody leads the metadata group in a higher one.
    fn leases_hold(&self) -> Result<(), Violation> {
        let term = |node: &Node| {
            let status = node.life.as_ref().map(|life| life.replica.status(GroupNumber::METADATA))?;
            (status.role == lapwing_raft::Role::Leader).then_some(status.term)
        };
        let newest = self.nodes.iter().filter_map(term).max().unwrap_or(0);
        let has_lease = |node: &&Node| {
            let life = node.life.as_ref();
            life.is_some_and(|life| node.clock_ms(self.now_ms) < life.replica.may_serve_until_ms())
        };
        match self.nodes.iter().filter(has_lease).find(|node| term(node).unwrap_or(0) < newest) {
            Some(node) => Err(format!("{} has a lease, and somebody leads in term {newest}", node.id)),
            None => Ok(()),
        }
    }

    fn one_serves(&self) -> Result<(), Violation> {
        let is_bound = self.flaw != Flaw::ServesUnconfirmed;
        let serving = self.nodes.iter().filter(|node| node.answers(self.now_ms, is_bound)).count();
        if serving > 1 { Err(format!("{serving} nodes serve at {} ms", self.now_ms)) } else { Ok(()) }
    }
}
