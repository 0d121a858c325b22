//! Three engines side by side, driven by hand: for tests of one rule each.

use lapwing_raft::{BatchHeader, Config, Engine, Fault, LogTail, Message, ReadGrant, Role, Turn};

/// Engines of nodes 1, 2 and 3. Messages arrive at once and disks sync at once, but where a test says otherwise.
pub struct Trio {
    pub engines: Vec<Engine>,
    /// Nodes whose disks stand still: their turns are not persisted, what waits for them is held.
    pub stuck: Vec<u64>,
    /// Nodes that hear nothing and are not heard.
    pub cut: Vec<u64>,
    pub reads: Vec<ReadGrant>,
    pub returned: Vec<BatchHeader>,
    pub faults: Vec<Fault>,
    last_turns: Vec<u64>,
    held: Vec<Vec<Message>>,
}

pub fn config(id: u64) -> Config {
    Config { heartbeat_ticks: 2, election_ticks: 10, waiting_max: 3, ..Config::new(id, 7) }
}

pub fn batch(first_sequence: u64) -> BatchHeader {
    BatchHeader { first_sequence, count: 1, bytes: 100 }
}

impl Trio {
    pub fn new() -> Trio {
        Trio::of(&[LogTail::founded(&[1, 2, 3]), LogTail::founded(&[1, 2, 3]), LogTail::founded(&[1, 2, 3])])
    }

    pub fn of(tails: &[LogTail]) -> Trio {
        let engine = |(tail, id): (&LogTail, u64)| Engine::new(&config(id), tail.clone()).expect("a log that is whole");
        Trio {
            engines: tails.iter().zip(1..).map(engine).collect(),
            stuck: Vec::new(),
            cut: Vec::new(),
            reads: Vec::new(),
            returned: Vec::new(),
            faults: Vec::new(),
            last_turns: vec![0; tails.len()],
            held: vec![Vec::new(); tails.len()],
        }
    }

    /// Node 1 leads, and everybody knows.
    pub fn led() -> Trio {
        let mut trio = Trio::new();
        trio.node(1).campaign().expect("it may lead");
        trio.settle();
        assert!(trio.node(1).status().has_committed_own_term);
        trio
    }

    pub fn node(&mut self, id: u64) -> &mut Engine {
        &mut self.engines[id as usize - 1]
    }

    pub fn roles(&self) -> Vec<Role> {
        self.engines.iter().map(|engine| engine.status().role).collect()
    }

    pub fn commits(&self) -> Vec<u64> {
        self.engines.iter().map(|engine| engine.status().commit).collect()
    }

    /// Turns and messages until nobody says anything.
    pub fn settle(&mut self) {
        loop {
            let messages: Vec<Message> = (1..=self.engines.len() as u64).flat_map(|id| self.turn(id).1).collect();
            if messages.is_empty() {
                return;
            }
            self.deliver(messages);
        }
    }

    /// One node's turn, and what leaves it.
    pub fn turn(&mut self, id: u64) -> (Turn, Vec<Message>) {
        let turn = self.node(id).turn();
        let place = id as usize - 1;
        self.last_turns[place] = turn.number;
        self.reads.extend(turn.reads.iter().copied());
        self.returned.extend(turn.returned.iter().copied());
        self.held[place].extend(turn.messages_after.iter().cloned());
        let mut messages = turn.messages.clone();
        if !self.stuck.contains(&id) {
            messages.extend(self.sync(id));
        }
        (turn, messages)
    }

    /// The disk comes along; what may leave now.
    pub fn sync(&mut self, id: u64) -> Vec<Message> {
        let place = id as usize - 1;
        let turn = self.last_turns[place];
        if turn > 0 && self.node(id).verdict().is_none() {
            self.node(id).persisted(turn).expect("that turn was handed out");
        }
        std::mem::take(&mut self.held[place])
    }

    pub fn deliver(&mut self, messages: Vec<Message>) {
        for message in messages {
            let is_cut = self.cut.contains(&message.from) || self.cut.contains(&message.to);
            if is_cut || message.to > self.engines.len() as u64 {
                continue;
            }
            if let Err(fault) = self.node(message.to).step(message) {
                self.faults.push(fault);
            }
        }
    }

    /// Time passes for everybody, with turns and messages between.
    pub fn tick(&mut self, times: u32) {
        for _ in 0..times {
            for engine in self.engines.iter_mut().filter(|engine| engine.verdict().is_none()) {
                engine.tick().expect("it lives");
            }
            self.settle();
        }
    }
}
