//! The owner of a group, as the node will be one: its queue, its members' connections, its timer for stalls.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};

use lapwing_dispatch::{
    Acknowledges, Declaration, Leaving, MemberIndex, Members, Parameters, Pick, RttSource, Stamps, Strategy, Ticket,
    Work,
};

use crate::chance::Chance;
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::server::Server;
use crate::trace::Trace;

/// What came before is not counted: estimates are new.
const WARM_MS: f64 = 10e3;
const STALL_POLL_MS: f64 = 100.0;
const KERNEL_SAMPLE_MS: f64 = 50.0;

/// Who chooses.
#[derive(Clone, Copy)]
pub enum Policy {
    /// A strategy of `dispatch`.
    Of {
        /// Which.
        strategy: Strategy,
        /// What members declare.
        acknowledges: Acknowledges,
        /// Stalled members are sent away.
        kick: bool,
    },
    /// The member that really finishes first, to the best of all knowledge at that moment.
    Oracle,
}

impl Policy {
    /// Members say that they acknowledge when they have finished.
    pub fn of(strategy: Strategy) -> Policy {
        Policy::Of { strategy, acknowledges: Acknowledges::Processed, kick: false }
    }

    /// The same, and stalled members are sent away.
    pub fn kicking(strategy: Strategy) -> Policy {
        Policy::Of { strategy, acknowledges: Acknowledges::Processed, kick: true }
    }

    /// Members declare nothing.
    pub fn undeclared(strategy: Strategy) -> Policy {
        Policy::Of { strategy, acknowledges: Acknowledges::Undeclared, kick: false }
    }
}

/// A connection of a member.
struct Link {
    index: Option<MemberIndex>,
    epoch: u64,
    /// Messages that this connection has not acknowledged, oldest first.
    has: VecDeque<usize>,
    kernel_min_ms: f64,
    sampled_at_ms: f64,
}

enum Event {
    Ack { member: usize, epoch: u64, ticket: Ticket, message: usize, written_ms: f64, wire_ms: f64 },
    Return { member: usize },
    Poll,
}

/// Orders events by time, then by when they were made.
struct At(f64, u64, Event);

impl PartialEq for At {
    fn eq(&self, other: &At) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for At {}
impl PartialOrd for At {
    fn partial_cmp(&self, other: &At) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for At {
    fn cmp(&self, other: &At) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

struct World<'a> {
    scenario: &'a Scenario,
    trace: &'a Trace,
    policy: Policy,
    members: Members,
    links: Vec<Link>,
    servers: Vec<Server>,
    critical: VecDeque<usize>,
    bulk: VecDeque<usize>,
    events: BinaryHeap<Reverse<At>>,
    made: u64,
    finish_ms: Vec<f64>,
    times_sent: Vec<u32>,
    last_sent_of_key: Vec<Option<usize>>,
    chance: Chance,
    kicks: u64,
}

fn us(ms: f64) -> u64 {
    (ms * 1e3) as u64
}

/// Replays a day under a policy.
pub fn replay(scenario: &Scenario, trace: &Trace, policy: Policy, seed: u64) -> Outcome {
    let mut world = World::new(scenario, trace, policy, seed);
    world.run();
    world.outcome()
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, trace: &'a Trace, policy: Policy, seed: u64) -> World<'a> {
        let strategy = match policy {
            Policy::Of { strategy, .. } => strategy,
            Policy::Oracle => Strategy::RoundRobin,
        };
        let count = trace.messages.len();
        let servers = trace.members.iter().map(|day| Server::new(day.clone(), scenario.workers));
        let link = |_| Link { index: None, epoch: 0, has: VecDeque::new(), kernel_min_ms: 1e9, sampled_at_ms: -1e9 };
        let mut world = World {
            scenario,
            trace,
            policy,
            members: Members::new(strategy, Parameters::default(), seed),
            links: (0..scenario.members).map(link).collect(),
            servers: servers.collect(),
            critical: VecDeque::new(),
            bulk: VecDeque::new(),
            events: BinaryHeap::new(),
            made: 0,
            finish_ms: vec![f64::INFINITY; count],
            times_sent: vec![0; count],
            last_sent_of_key: vec![None; scenario.keys],
            chance: Chance::new(seed ^ 0xd15),
            kicks: 0,
        };
        (0..scenario.members).for_each(|member| world.join(member, 0.0));
        if matches!(policy, Policy::Of { kick: true, .. }) {
            world.push(STALL_POLL_MS, Event::Poll);
        }
        world
    }

    fn push(&mut self, at_ms: f64, event: Event) {
        self.made += 1;
        self.events.push(Reverse(At(at_ms, self.made, event)));
    }

    fn join(&mut self, member: usize, now_ms: f64) {
        let acknowledges = match self.policy {
            Policy::Of { acknowledges, .. } => acknowledges,
            Policy::Oracle => Acknowledges::Undeclared,
        };
        let declaration = Declaration {
            acknowledges,
            workers: if acknowledges == Acknowledges::Undeclared { 1 } else { self.scenario.workers as u16 },
            is_proxied: self.scenario.proxied,
            ..Declaration::standard(member as u64, u16::MAX)
        };
        self.links[member].index = Some(self.members.join(declaration, us(now_ms)));
        self.links[member].epoch += 1;
    }

    fn run(&mut self) {
        let mut next = 0;
        let messages = &self.trace.messages;
        loop {
            let arrival_ms = messages.get(next).map_or(f64::INFINITY, |message| message.at_ms);
            let event_ms = self.events.peek().map_or(f64::INFINITY, |Reverse(at)| at.0);
            if next < messages.len() && arrival_ms < event_ms {
                self.queue(next).push_back(next);
                next += 1;
                self.drain(arrival_ms);
            } else if let Some(Reverse(At(now_ms, _, event))) = self.events.pop() {
                let is_over = next == messages.len() && self.is_idle();
                if is_over && matches!(event, Event::Poll) {
                    return;
                }
                self.happen(event, now_ms);
                self.drain(now_ms);
            } else {
                return;
            }
        }
    }

    fn queue(&mut self, message: usize) -> &mut VecDeque<usize> {
        let has_lane = matches!(self.policy, Policy::Of { strategy: Strategy::Lef | Strategy::Auto, .. });
        let is_critical = has_lane && self.trace.messages[message].is_critical;
        if is_critical { &mut self.critical } else { &mut self.bulk }
    }

    fn is_idle(&self) -> bool {
        self.critical.is_empty() && self.bulk.is_empty() && self.links.iter().all(|link| link.has.is_empty())
    }

    fn happen(&mut self, event: Event, now_ms: f64) {
        match event {
            Event::Ack { member, epoch, ticket, message, written_ms, wire_ms } => {
                self.sample_kernel(member, wire_ms, now_ms);
                let link = &mut self.links[member];
                // The node's member epoch: what an earlier connection acknowledges is nobody's.
                if let (Some(index), true) = (link.index, link.epoch == epoch) {
                    if link.has.front() == Some(&message) {
                        link.has.pop_front();
                    } else {
                        link.has.retain(|&had| had != message);
                    }
                    let stamps = Stamps { written_us: us(written_ms), read_us: us(now_ms) };
                    assert!(self.members.acknowledged(index, ticket, stamps));
                }
            }
            Event::Return { member } => self.join(member, now_ms),
            Event::Poll => {
                self.kick(now_ms);
                self.push(now_ms + STALL_POLL_MS, Event::Poll);
            }
        }
    }

    /// What `tcpi_min_rtt` would say: the kernel's window of five minutes is longer than the day.
    fn sample_kernel(&mut self, member: usize, wire_ms: f64, now_ms: f64) {
        let link = &mut self.links[member];
        let seen_ms = if self.scenario.proxied { 0.1 } else { wire_ms };
        link.kernel_min_ms = link.kernel_min_ms.min(seen_ms);
        if let (Some(index), true) = (link.index, now_ms - link.sampled_at_ms >= KERNEL_SAMPLE_MS) {
            link.sampled_at_ms = now_ms;
            self.members.rtt_sample(index, RttSource::Kernel, us(link.kernel_min_ms), us(now_ms));
        }
    }

    fn kick(&mut self, now_ms: f64) {
        let stalled: Vec<_> = self.members.stalled(us(now_ms)).collect();
        for index in stalled {
            let Some(member) = self.links.iter().position(|link| link.index == Some(index)) else { continue };
            self.members.leave(index, Leaving::Stalled, us(now_ms));
            self.kicks += 1;
            let link = &mut self.links[member];
            link.index = None;
            let mut has = std::mem::take(&mut link.has);
            while let Some(message) = has.pop_back() {
                self.queue(message).push_front(message);
            }
            // The client finds its connection closed when it runs again.
            let wakes_ms = self.servers[member].pause_ends_ms(now_ms).unwrap_or(now_ms);
            let back_ms = wakes_ms + 2.0 * self.servers[member].rtt_ms(now_ms) + 100.0;
            self.push(back_ms, Event::Return { member });
        }
    }

    fn drain(&mut self, now_ms: f64) {
        let mut parked: HashSet<u64> = HashSet::new();
        let mut skipped = 0;
        loop {
            let backlog = self.critical.len() + self.bulk.len();
            let queue = if self.critical.is_empty() { &self.bulk } else { &self.critical };
            let Some(&message) = queue.get(skipped) else { return };
            let key = self.trace.messages[message].key;
            if parked.contains(&key) {
                skipped += 1;
                continue;
            }
            match self.choose(message, backlog, now_ms) {
                None => return,
                Some(Pick::Park) => {
                    parked.insert(key);
                    skipped += 1;
                }
                Some(Pick::To(index)) => {
                    let queue = if self.critical.is_empty() { &mut self.bulk } else { &mut self.critical };
                    queue.remove(skipped);
                    self.send(index, message, now_ms);
                }
                Some(Pick::Wait) => return,
            }
        }
    }

    fn choose(&mut self, message: usize, backlog: usize, now_ms: f64) -> Option<Pick> {
        if matches!(self.policy, Policy::Oracle) {
            let work = self.trace.messages[message].work;
            let finishes = self.servers.iter_mut().map(|server| server.would_finish_ms(work, now_ms)).enumerate();
            let (member, _) = finishes.min_by(|one, other| one.1.total_cmp(&other.1))?;
            return self.links[member].index.map(Pick::To);
        }
        Some(self.members.pick(&self.work(message), backlog, us(now_ms)))
    }

    fn work(&self, message: usize) -> Work {
        let message = &self.trace.messages[message];
        let key = Some(message.key);
        Work { is_critical: message.is_critical, key, client: message.key, ..Work::default() }
    }

    fn send(&mut self, index: MemberIndex, message: usize, now_ms: f64) {
        let member = self.links.iter().position(|link| link.index == Some(index)).unwrap();
        let ticket = self.members.sent(index, &self.work(message), us(now_ms)).unwrap();
        self.links[member].has.push_back(message);
        let lies = self.scenario.liars.contains(&member);
        let work = self.trace.messages[message].work;
        let fate = self.servers[member].take(work, lies, now_ms, &mut self.chance);
        self.note_order(message, fate.finish_ms);
        self.finish_ms[message] = self.finish_ms[message].min(fate.finish_ms);
        self.times_sent[message] += 1;
        let epoch = self.links[member].epoch;
        let ack = Event::Ack { member, epoch, ticket, message, written_ms: now_ms, wire_ms: fate.wire_ms };
        self.push(fate.ack_ms, ack);
    }

    /// Under `key-ordered` a message of a key begins after all earlier ones of the key have been finished or are with
    /// the same member.
    fn note_order(&mut self, message: usize, finish_ms: f64) {
        if !matches!(self.policy, Policy::Of { strategy: Strategy::KeyOrdered, .. }) || self.scenario.workers > 1 {
            return;
        }
        let last = &mut self.last_sent_of_key[self.trace.messages[message].key as usize];
        if let Some(last) = last.replace(message) {
            assert!(last < message, "a key's messages were sent in another order");
            assert!(self.finish_ms[last] < finish_ms, "a key's messages were finished in another order");
        }
    }

    fn outcome(self) -> Outcome {
        let mut outcome = Outcome::default();
        (outcome.kicks, outcome.blind) = (self.kicks, self.members.counters().blind_members);
        assert_eq!(self.members.counters().picks_refused, 0);
        for (message, &finish_ms) in self.trace.messages.iter().zip(&self.finish_ms) {
            if message.at_ms >= WARM_MS {
                outcome.add(finish_ms - message.at_ms, message.is_critical);
            }
        }
        outcome.duplicates = self.times_sent.iter().map(|&times| times.saturating_sub(1) as usize).sum();
        outcome
    }
}
