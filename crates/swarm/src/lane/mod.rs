//! One thread of the swarm: its clients, its poll, and the turns it takes.
//!
//! A turn: what has come due is encoded, every touched output is written once, the poll says what is readable,
//! every read is handled as a whole. Nothing allocates per message, nothing is shared with other lanes.

mod arrive;
mod credit;
mod publish;
mod sleep;

use crate::board::Board;
use crate::clock::{MILLISECOND_NS, now_ns, thread_cpu_ns};
use crate::error::SwarmError;
use crate::link::{Drained, Target};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::profile::Profile;
use crate::serials::Serials;
use crate::sim_client::{Hearing, Publisher, SimClient, Stage, Subscriber};
use crate::wait::wait;
use credit::Credit;
use lapwing_client::{Address, ClientError, Protocol, without_user};
use lapwing_codec::ReasonCode;
use lapwing_sn::peer::Phase;
use mio::{Events, Poll};
use publish::Pace;
use sleep::Sleepers;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::time::Duration;

/// Reads of one connection per turn, so that one does not starve the others.
const READS_PER_TURN: usize = 8;
/// Keep alive is looked after this often, for a part of the clients each time.
const SWEEP_NS: u64 = 10 * MILLISECOND_NS;
/// Of all clients, this part per sweep: once around in a second.
const SWEEP_PARTS: usize = 100;

pub(crate) struct Lane {
    profile: Arc<Profile>,
    plan: Plan,
    board: Arc<Board>,
    /// Within this process.
    number: usize,
    target: Target,
    poll: Poll,
    events: Events,
    clients: Vec<SimClient>,
    /// Client by index of the lane's publisher.
    publishers: Vec<usize>,
    pace: Pace,
    scratch: Vec<u8>,
    payload: Vec<u8>,
    dirty: Vec<usize>,
    again: Vec<usize>,
    work: VecDeque<usize>,
    outcome: Outcome,
    /// Open loop: messages that have come due.
    due: u64,
    /// Copies that came here, or that something sent later has overtaken.
    passed: u64,
    credit: Credit,
    ready: usize,
    /// Set in the connecting phase, when one client's failure is the run's.
    failure: Option<SwarmError>,
    swept_ns: u64,
    sweep_at: usize,
    sleepers: Sleepers,
}

impl Lane {
    /// Lane `number` of this process, with its share of the plan's clients.
    pub fn new(profile: Arc<Profile>, board: Arc<Board>, number: u32, target: Target) -> Result<Self, SwarmError> {
        let plan = Plan::new(&profile);
        let (lane, lanes) = (profile.worker * profile.threads + number, profile.lanes());
        let clients = clients_of(&profile, &plan, lane, lanes);
        let publishers = (0..clients.len()).filter(|i| clients[*i].publisher.is_some()).collect();
        let group = if plan.is_shared() { vec![Serials::default(); plan.publishers() as usize] } else { Vec::new() };
        Ok(Self {
            target,
            poll: Poll::new().map_err(SwarmError::system("cannot open a poll"))?,
            events: Events::with_capacity(1024),
            publishers,
            pace: Pace::new(&profile, lane),
            scratch: Vec::new(),
            payload: vec![b'.'; profile.payload_bytes as usize],
            dirty: Vec::new(),
            again: Vec::new(),
            work: VecDeque::new(),
            outcome: Outcome { threads: 1, group, ..Default::default() },
            due: 0,
            passed: 0,
            credit: Credit::default(),
            ready: 0,
            failure: None,
            swept_ns: 0,
            sweep_at: 0,
            sleepers: Sleepers::default(),
            number: number as usize,
            profile,
            plan,
            board,
            clients,
        })
    }

    /// The whole life of the lane: connect, wait for the start, publish, hear the rest, leave.
    pub fn run(mut self) -> Result<Outcome, SwarmError> {
        self.connect_all()?;
        let Some(start_ns) = self.wait_for_start()? else { return Ok(self.outcome) };
        let cpu_ns = thread_cpu_ns();
        (self.outcome.started_ns, self.outcome.clients) = (start_ns, self.ready as u64);
        self.plan_wakes(start_ns);
        self.publish_all(start_ns)?;
        while !self.board.is_stopped() {
            self.turn(self.patience(u64::MAX))?;
            self.do_work();
            self.flush_dirty();
            self.show();
        }
        self.outcome.swarm_cpu_ns = thread_cpu_ns() - cpu_ns;
        self.count_unsent();
        self.leave();
        Ok(self.outcome)
    }

    fn wait_for_start(&mut self) -> Result<Option<u64>, SwarmError> {
        loop {
            if self.board.is_stopped() {
                return Ok(None);
            }
            let wait = match self.board.start_ns() {
                Some(start_ns) if now_ns() >= start_ns => return Ok(Some(start_ns)),
                Some(start_ns) => self.patience(start_ns),
                None => Duration::from_millis(1),
            };
            self.turn(wait)?;
            self.flush_dirty();
        }
    }

    /// How long the poll may sleep when the next thing is due at `due_ns`.
    fn patience(&self, due_ns: u64) -> Duration {
        if self.profile.spin || !self.again.is_empty() || (!self.work.is_empty() && self.credit() > 0) {
            return Duration::ZERO;
        }
        // Ten milliseconds at most, so that keep alive and the stop are seen.
        Duration::from_nanos(due_ns.saturating_sub(now_ns()).min(10 * MILLISECOND_NS))
    }

    /// Waits up to `timeout` for the sockets and handles all that came.
    fn turn(&mut self, timeout: Duration) -> Result<(), SwarmError> {
        let mut events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        let waited = if timeout.is_zero() { Ok(()) } else { wait(&self.poll, timeout) };
        let answer = match self.poll.poll(&mut events, Some(Duration::ZERO)) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => Err(error),
            _ => waited,
        };
        let again = std::mem::take(&mut self.again);
        for event in &events {
            let client = event.token().0;
            if event.is_writable() {
                self.on_writable(client);
            }
            if event.is_readable() || event.is_error() {
                self.read(client);
            }
        }
        again.into_iter().for_each(|client| self.read(client));
        self.events = events;
        self.sweep();
        self.wake_due();
        answer.map_err(SwarmError::system("cannot poll"))?;
        self.failure.take().map_or(Ok(()), Err)
    }

    fn on_writable(&mut self, client: usize) {
        if self.clients[client].stage == Stage::Dialling {
            return self.on_dialled(client);
        }
        let Some(link) = &mut self.clients[client].link else { return };
        match link.writable() {
            Ok(()) => self.wants_to_publish(client),
            Err(error) => self.lose(client, &error),
        }
    }

    fn read(&mut self, index: usize) {
        for _ in 0..READS_PER_TURN {
            match self.read_once(index) {
                Ok(Drained::No) => {}
                Ok(Drained::Yes) => return self.after_read(index),
                Err(error) => return self.lose(index, &error),
            }
        }
        self.again.push(index);
        self.after_read(index);
    }

    #[inline]
    fn read_once(&mut self, index: usize) -> Result<Drained, ClientError> {
        let SimClient { link, protocol, stage, subscriber, .. } = &mut self.clients[index];
        let Some(link) = link else { return Ok(Drained::Yes) };
        let (plan, outcome, passed) = (&self.plan, &mut self.outcome, &mut self.passed);
        link.receive(&mut self.scratch, |bytes, output| {
            let subscriber = subscriber.as_mut();
            protocol.receive(bytes, output, &mut Hearing { now_ns: now_ns(), plan, stage, subscriber, outcome, passed })
        })
    }

    /// Answers wait in the output, a window may have opened, a client may be one step further.
    fn after_read(&mut self, index: usize) {
        let client = &self.clients[index];
        if client.link.as_ref().is_some_and(|link| link.backlog() > 0) {
            self.touch(index);
        }
        if self.clients[index].stage == Stage::Ready {
            self.look_whether_drained(index);
            self.wants_to_publish(index);
        } else {
            self.step_in(index);
        }
    }

    fn touch(&mut self, index: usize) {
        if !std::mem::replace(&mut self.clients[index].dirty, true) {
            self.dirty.push(index);
        }
    }

    fn flush_dirty(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        let now_ms = now_ns() / MILLISECOND_NS;
        for index in dirty.drain(..) {
            let client = &mut self.clients[index];
            client.dirty = false;
            client.protocol.wrote(now_ms);
            match client.link.as_mut().map(|link| link.flush()) {
                Some(Err(error)) => self.lose(index, &error),
                // A socket that took everything tells of no room later: what was held back goes on from here.
                _ => self.wants_to_go_on(index),
            }
        }
        self.dirty = dirty;
    }

    /// A connection is over. While connecting this ends the run; later it is counted.
    fn lose(&mut self, index: usize, error: &ClientError) {
        let client = &mut self.clients[index];
        client.link = None;
        self.sleepers.awake -= u64::from(client.woke_ns.take().is_some());
        client.protocol.lost();
        let was = std::mem::replace(&mut client.stage, Stage::Gone);
        self.outcome.count_error(error.label());
        if was != Stage::Ready && was != Stage::Gone {
            let client_id = self.clients[index].client_id(&self.plan);
            self.failure.get_or_insert(SwarmError::Client {
                client_id,
                reason: error.to_string(),
                label: error.label(),
            });
        }
    }

    /// Looks after the keep alive of a part of the clients, now and then.
    fn sweep(&mut self) {
        let now_ns = now_ns();
        if now_ns - self.swept_ns < SWEEP_NS || self.clients.is_empty() {
            return;
        }
        self.swept_ns = now_ns;
        for _ in 0..self.clients.len().div_ceil(SWEEP_PARTS) {
            self.sweep_at = (self.sweep_at + 1) % self.clients.len();
            let SimClient { link: Some(link), protocol, stage, .. } = &mut self.clients[self.sweep_at] else {
                continue;
            };
            // Who sleeps is not waited for by its keep alive.
            let is_up = *stage != Stage::LyingDown && link.state() == Phase::Active;
            let kept = if is_up { protocol.tick(now_ns / MILLISECOND_NS, &mut link.output) } else { Ok(()) };
            match kept.and_then(|()| link.tick()) {
                Ok(()) if link.backlog() > 0 => self.touch(self.sweep_at),
                Ok(()) => {}
                Err(error) => self.lose(self.sweep_at, &error),
            }
        }
    }

    /// Puts this lane's figures on the board.
    fn show(&self) {
        let (figures, outcome) = (self.board.figures(self.number), &self.outcome);
        figures.ready.store(self.ready as u64, Relaxed);
        figures.sent.store(outcome.sent, Relaxed);
        figures.expected.store(outcome.expected, Relaxed);
        figures.delivered.store(outcome.unique, Relaxed);
        figures.passed.store(self.passed, Relaxed);
        figures.owed.store(if self.profile.qos > 0 { outcome.sent } else { 0 }, Relaxed);
        figures.answered.store(outcome.acknowledged + outcome.rejected, Relaxed);
        figures.errors.store(outcome.errors.values().sum(), Relaxed);
        figures.waiting.store(self.waiting(), Relaxed);
        figures.awake.store(self.sleepers.awake, Relaxed);
        figures.publishing.store(self.is_publishing(), Release);
    }

    /// Says goodbye. Nobody waits for an answer, and a broker that hangs up first does not matter any more.
    fn leave(&mut self) {
        for client in &mut self.clients {
            let SimClient { link: Some(link), protocol, .. } = client else { continue };
            if protocol.disconnect(ReasonCode::Success, None, &mut link.output).is_ok() {
                let _ = link.flush();
            }
        }
    }
}

/// The clients of lane `lane`: publishers first, in the order the schedule counts them, then subscribers.
fn clients_of(profile: &Profile, plan: &Plan, lane: u32, lanes: u32) -> Vec<SimClient> {
    let protocol = || Protocol::new(profile.version(), profile.window, false);
    let own = |count: u32| (lane..count).step_by(lanes as usize);
    let publishers = own(plan.publishers()).map(|index| {
        let publisher = Publisher { index, topic: plan.topic(index), sent: 0, due: 0 };
        let subscriber = plan.is_loopback().then(|| Subscriber::new(plan, index));
        SimClient::new(protocol(), Some(publisher), subscriber)
    });
    let subscribers =
        own(plan.listeners()).map(|index| SimClient::new(protocol(), None, Some(Subscriber::new(plan, index))));
    publishers.chain(subscribers).collect()
}

/// How many clients the process of `profile` has.
pub(crate) fn clients_in_process(profile: &Profile) -> u64 {
    let plan = Plan::new(profile);
    let share = |count: u32, lane: u32| u64::from(count.saturating_sub(lane).div_ceil(profile.lanes()));
    let lanes = profile.worker * profile.threads..(profile.worker + 1) * profile.threads;
    lanes.map(|lane| share(plan.publishers(), lane) + share(plan.listeners(), lane)).sum()
}

/// Looks the broker's address up once for all lanes.
pub(crate) fn look_up(url: &str) -> Result<Target, SwarmError> {
    let address = Address::parse(url).and_then(Address::bare);
    let is_sn = address.as_ref().is_ok_and(|address| address.scheme.is_sn());
    let found = address.and_then(|address| address.resolve()).map_err(|error| match error {
        ClientError::Invalid(what) => SwarmError::Profile { key: "url", value: without_user(url), remedy: what },
        error => SwarmError::Client { client_id: "all".to_owned(), reason: error.to_string(), label: error.label() },
    })?;
    // `resolve` gives at least one; IPv4 first, because a broker on "localhost" often listens only there.
    let first = found.iter().find(|address| address.is_ipv4()).or(found.first()).copied();
    let address = first.ok_or(SwarmError::Usage("the name has no address"))?;
    Ok(Target { address, is_sn })
}
