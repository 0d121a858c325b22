//! Elections as the metadata group has them, as far as it concerns who serves: terms, votes by who has heard nothing, questions
//! of the leader and their answers.

use lapwing_cluster::{Failover, Observed, Role, Step, Timing};

/// What nodes wait before they stand for election, at the least.
pub const ELECTION_MS: u64 = 1_000;
const TICK_MS: u64 = 20;
const HEARTBEAT_MS: u64 = 200;

#[derive(Clone, Copy)]
enum Word {
    /// A leader's question; `asked` on its clock.
    Ask {
        term: u64,
        asked_at_ms: u64,
    },
    Heard {
        term: u64,
        asked_at_ms: u64,
    },
    Stand {
        term: u64,
    },
    Vote {
        term: u64,
    },
}

struct Letter {
    due_ms: u64,
    from: usize,
    to: usize,
    word: Word,
}

struct Node {
    /// Its clock runs at so many thousandths of the true one.
    rate: u64,
    /// True time until which it stands still.
    still_until_ms: u64,
    term: u64,
    leads: bool,
    /// On its own clock.
    heard_at_ms: u64,
    patience_ms: u64,
    votes: u64,
    asked_at_ms: u64,
    /// Per question under way: when it was asked, and who has heard it.
    questions: Vec<(u64, u64)>,
    observed: Observed,
    ready_at_ms: u64,
    failover: Failover,
    ends_at_ms: Option<u64>,
}

/// All nodes, and what is under way between them.
pub struct Election {
    random: u64,
    now_ms: u64,
    nodes: Vec<Node>,
    letters: Vec<Letter>,
    /// By pair: nothing goes through.
    cut: Vec<Vec<bool>>,
    loss_percent: u64,
    /// Milliseconds in which somebody served, and in which more than one did.
    pub served_ms: u64,
    pub two_at_once_ms: u64,
    /// How often somebody began to.
    pub began: u64,
}

impl Election {
    pub fn new(seed: u64, nodes: usize, timing: Timing) -> Self {
        let mut election = Election {
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            now_ms: 100_000,
            nodes: vec![],
            letters: vec![],
            cut: vec![vec![false; nodes]; nodes],
            loss_percent: 0,
            served_ms: 0,
            two_at_once_ms: 0,
            began: 0,
        };
        for _ in 0..nodes {
            let rate = 960 + election.below(81);
            let node = Node {
                rate,
                still_until_ms: 0,
                term: 0,
                leads: false,
                heard_at_ms: 0,
                patience_ms: ELECTION_MS,
                votes: 0,
                asked_at_ms: 0,
                questions: vec![],
                observed: Observed { has_space: true, ..Observed::default() },
                ready_at_ms: 0,
                failover: Failover::new(timing),
                ends_at_ms: None,
            };
            election.nodes.push(node);
        }
        election
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % bound
    }

    fn clock_of(&self, node: usize) -> u64 {
        self.now_ms * self.nodes[node].rate / 1000
    }

    /// Everything goes through again, and everybody moves.
    pub fn heal(&mut self) {
        self.cut.iter_mut().flatten().for_each(|cut| *cut = false);
        self.loss_percent = 0;
        self.nodes.iter_mut().for_each(|node| node.still_until_ms = 0);
    }

    /// Goes on for so long, in trouble or not.
    pub fn run(&mut self, for_ms: u64, in_trouble: bool) {
        let until_ms = self.now_ms + for_ms;
        while self.now_ms < until_ms {
            self.now_ms += 1;
            if in_trouble && self.now_ms.is_multiple_of(500) {
                self.trouble();
            }
            self.deliver();
            if self.now_ms.is_multiple_of(TICK_MS) {
                (0..self.nodes.len()).for_each(|node| self.tick(node));
            }
            self.look();
        }
    }

    fn trouble(&mut self) {
        let nodes = self.nodes.len() as u64;
        match self.below(8) {
            0 => self.heal(),
            1 => self.loss_percent = self.below(40),
            // A node by itself, in both directions or in one.
            2 | 3 => {
                let (alone, both) = (self.below(nodes) as usize, self.below(2) == 0);
                for other in (0..nodes as usize).filter(|other| *other != alone) {
                    self.cut[alone][other] = true;
                    self.cut[other][alone] = both;
                }
            }
            4 => {
                let (still, for_ms) = (self.below(nodes) as usize, 500 + self.below(4_000));
                self.nodes[still].still_until_ms = self.now_ms + for_ms;
            }
            5 => {
                let node = self.below(nodes) as usize;
                self.nodes[node].failover.step_down(None);
            }
            _ => {}
        }
    }

    fn send(&mut self, from: usize, to: usize, word: Word) {
        let is_lost = self.cut[from][to] || self.below(100) < self.loss_percent;
        if !is_lost {
            let due_ms = self.now_ms + 1 + self.below(40);
            self.letters.push(Letter { due_ms, from, to, word });
        }
    }

    fn send_to_all(&mut self, from: usize, word: Word) {
        for to in (0..self.nodes.len()).filter(|to| *to != from) {
            self.send(from, to, word);
        }
    }

    fn deliver(&mut self) {
        let now_ms = self.now_ms;
        let (due, later) = std::mem::take(&mut self.letters).into_iter().partition(|letter| letter.due_ms <= now_ms);
        self.letters = later;
        for letter in due {
            // Who stands still reads it when it goes on.
            match self.nodes[letter.to].still_until_ms {
                still_until_ms if still_until_ms > now_ms => {
                    self.letters.push(Letter { due_ms: still_until_ms, ..letter });
                }
                _ => self.read(letter),
            }
        }
    }

    fn read(&mut self, Letter { from, to, word, .. }: Letter) {
        let clock_ms = self.clock_of(to);
        let node = &mut self.nodes[to];
        match word {
            Word::Ask { term, asked_at_ms } if term >= node.term => {
                if term > node.term {
                    node.follow(term);
                }
                node.heard_at_ms = clock_ms;
                self.send(to, from, Word::Heard { term, asked_at_ms });
            }
            // A deposed leader learns of it.
            Word::Ask { .. } => {
                let term = node.term;
                self.send(to, from, Word::Heard { term, asked_at_ms: 0 });
            }
            Word::Heard { term, .. } if term > node.term => node.follow(term),
            Word::Heard { term, asked_at_ms } if term == node.term && node.leads => self.heard(to, from, asked_at_ms),
            Word::Stand { term } if term > node.term && clock_ms.saturating_sub(node.heard_at_ms) >= ELECTION_MS => {
                node.follow(term);
                node.heard_at_ms = clock_ms;
                self.send(to, from, Word::Vote { term });
            }
            Word::Vote { term } if term == node.term && !node.leads => {
                node.votes |= 1 << from;
                self.count_votes(to);
            }
            _ => {}
        }
    }

    fn majority(&self) -> u32 {
        self.nodes.len() as u32 / 2 + 1
    }

    fn count_votes(&mut self, of: usize) {
        let (majority, delay_ms) = (self.majority(), self.below(400));
        let (now_ms, node) = (self.now_ms, &mut self.nodes[of]);
        if node.votes.count_ones() >= majority {
            (node.leads, node.asked_at_ms) = (true, 0);
            node.ready_at_ms = now_ms + delay_ms;
            node.questions.clear();
        }
    }

    fn heard(&mut self, leader: usize, by: usize, asked_at_ms: u64) {
        let majority = self.majority();
        let node = &mut self.nodes[leader];
        let Some((_, who)) = node.questions.iter_mut().find(|(asked, _)| *asked == asked_at_ms) else { return };
        *who |= 1 << by;
        if who.count_ones() >= majority {
            node.observed.confirmed_at_ms = node.observed.confirmed_at_ms.max(Some(asked_at_ms));
            node.questions.retain(|(asked, _)| *asked > asked_at_ms);
        }
    }

    fn tick(&mut self, of: usize) {
        if self.nodes[of].still_until_ms > self.now_ms {
            return;
        }
        let (clock_ms, now_ms) = (self.clock_of(of), self.now_ms);
        let extra_ms = self.below(ELECTION_MS / 2);
        let node = &mut self.nodes[of];
        if node.leads && clock_ms >= node.asked_at_ms + HEARTBEAT_MS {
            node.asked_at_ms = clock_ms;
            node.questions.push((clock_ms, 1 << of));
            let word = Word::Ask { term: node.term, asked_at_ms: clock_ms };
            self.send_to_all(of, word);
        } else if !node.leads && clock_ms.saturating_sub(node.heard_at_ms) >= node.patience_ms {
            node.follow(node.term + 1);
            (node.votes, node.heard_at_ms, node.patience_ms) = (1 << of, clock_ms, ELECTION_MS + extra_ms);
            let word = Word::Stand { term: node.term };
            self.send_to_all(of, word);
        }
        let node = &mut self.nodes[of];
        node.observed.leads_metadata = node.leads;
        let has_all = node.leads && now_ms >= node.ready_at_ms;
        (node.observed.leads, node.observed.applied) = if has_all { (u16::MAX, u16::MAX) } else { (0, 0) };
        if node.ends_at_ms.is_some_and(|ends_at_ms| now_ms >= ends_at_ms) {
            node.ends_at_ms = None;
            node.failover.ended();
        }
        match node.failover.tick(&node.observed, clock_ms) {
            Step::Serve => self.began += 1,
            Step::End(_) => node.ends_at_ms = Some(now_ms + extra_ms),
            // Whoever hears nothing for long enough stands for election.
            Step::GiveUp(_) => node.follow(node.term),
            Step::Draw(_) | Step::Nothing => {}
        }
    }

    /// A shard looks at the clock before it answers anybody.
    fn look(&mut self) {
        let serve = |of: usize| {
            let node = &self.nodes[of];
            let is_moving = node.still_until_ms <= self.now_ms;
            is_moving
                && node.failover.role() == Role::Active
                && self.clock_of(of) < node.failover.may_serve_until_ms(&node.observed)
        };
        let serving = (0..self.nodes.len()).filter(|of| serve(*of)).count();
        self.served_ms += u64::from(serving > 0);
        self.two_at_once_ms += u64::from(serving > 1);
    }
}

impl Node {
    fn follow(&mut self, term: u64) {
        (self.term, self.leads, self.votes) = (term, false, 0);
        self.questions.clear();
        self.observed.confirmed_at_ms = None;
    }
}
