//! One thread of a fleet: keeps the schedule of its devices, their connections and their sessions.

use super::config::FleetConfig;
use super::device::{Device, Heard, Outgoing, Stage, Tickets};
use super::gate::Turn;
use super::open::Open;
use super::post::Post;
use super::report::LaneReport;
use super::task::{Action, Waiting};
use crate::clock::{MILLISECOND_NS, SECOND_NS, now_ns, thread_cpu_ns};
use crate::error::SwarmError;
use crate::link::Drained;
use crate::random::Random;
use lapwing_client::{ClientError, Protocol};
use lapwing_codec::ReasonCode;
use mio::{Events, Poll, Token};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The token of the waker; devices have their index.
pub(super) const WAKER: Token = Token(usize::MAX);
/// Reads of one connection per turn.
const READS_PER_TURN: usize = 8;
/// The poll sleeps no longer than this.
const SLEEP_NS_MAX: u64 = 100 * MILLISECOND_NS;
/// Keep alive and timeouts are looked after this often, for all devices.
const SWEEP_NS: u64 = SECOND_NS;

pub(super) struct Lane {
    pub config: Arc<FleetConfig>,
    pub address: SocketAddr,
    pub poll: Poll,
    pub post: Arc<Post>,
    /// Index in the configuration of device 0 here, and the step to the next.
    pub devices: Vec<Device>,
    pub queue: BinaryHeap<Waiting>,
    pub order: u64,
    pub to_dial: VecDeque<usize>,
    /// When to try again, and who: apart from the schedule, which may have to wait for them.
    pub redials: BinaryHeap<Reverse<(u64, usize)>>,
    pub arriving: usize,
    pub report: LaneReport,
    pub random: Random,
    pub tickets: Tickets,
    start_ns: Option<u64>,
    scratch: Vec<u8>,
    dirty: Vec<usize>,
    again: Vec<usize>,
    /// Of this turn.
    pub turn: Turn,
    pub open: Open,
    /// When a task last waited for room beside what was open; 0: none has.
    pub full_ns: u64,
    swept_ns: u64,
}

impl Lane {
    /// Lane `number`: devices `number, number + threads, ...`.
    pub fn new(config: Arc<FleetConfig>, address: SocketAddr, number: u32, poll: Poll, post: Arc<Post>) -> Self {
        let own = config.clients.iter().skip(number as usize).step_by(config.threads as usize);
        let protocol = || Protocol::new(config.version(), config.window, true);
        let devices: Vec<Device> = own
            .map(|client| Device::new(client.client_id.clone(), client.topic.clone(), client.joined, protocol()))
            .collect();
        Self {
            to_dial: (0..devices.len()).filter(|index| devices[*index].wanted).collect(),
            random: Random::new(config.seed ^ u64::from(number) << 32),
            open: Open::share_of(config.open_messages_max, config.open_bytes_max, config.threads),
            devices,
            config,
            address,
            poll,
            post,
            queue: BinaryHeap::new(),
            order: 0,
            redials: BinaryHeap::new(),
            arriving: 0,
            report: LaneReport::default(),
            tickets: Tickets::default(),
            start_ns: None,
            scratch: Vec::new(),
            dirty: Vec::new(),
            again: Vec::new(),
            turn: Turn::default(),
            full_ns: 0,
            swept_ns: 0,
        }
    }

    /// Runs until the fleet ends.
    pub fn run(mut self) -> Result<LaneReport, SwarmError> {
        let mut events = Events::with_capacity(1024);
        while !self.post.is_stopped() {
            self.take_post();
            self.dial_some();
            self.act();
            self.flush_dirty();
            self.settle_up();
            let timeout = Duration::from_nanos(self.patience_ns());
            match self.poll.poll(&mut events, Some(timeout)) {
                Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                    return Err(SwarmError::System { what: "cannot poll", source: error });
                }
                _ => {}
            }
            self.on_events(&events);
            self.flush_dirty();
            self.sweep();
        }
        self.leave();
        Ok(self.report)
    }

    fn on_events(&mut self, events: &Events) {
        for index in std::mem::take(&mut self.again) {
            self.read(index);
        }
        for event in events.iter().filter(|event| event.token() != WAKER) {
            let index = event.token().0;
            if event.is_writable() {
                self.on_writable(index);
            }
            if event.is_readable() || event.is_error() {
                self.read(index);
            }
        }
    }

    /// New tasks from `offer`, and the start.
    fn take_post(&mut self) {
        self.start_ns = self.post.start_ns();
        let Some(start_ns) = self.start_ns else { return };
        for task in self.post.take() {
            let due_ns = start_ns.saturating_add(task.due_us.saturating_mul(1000));
            self.order += 1;
            let device = task.device / self.config.threads;
            self.queue.push(Waiting { due_ns, order: self.order, device, action: task.action });
        }
    }

    /// Zero of the schedule; 0 while it has not begun.
    pub fn start_ns(&self) -> u64 {
        self.start_ns.unwrap_or(0)
    }

    /// The next task does not fit beside what is open.
    pub fn waits_for_room(&self) -> bool {
        self.queue.peek().is_some_and(|next| !self.open.has_room(next.action.bytes()))
    }

    /// Does what has come due, in the order of the schedule, as far as there is room for what is open.
    fn act(&mut self) {
        let now = now_ns();
        while self.queue.peek().is_some_and(|next| next.due_ns <= now) && !self.waits_for_room() {
            let Some(Waiting { due_ns, device, action, .. }) = self.queue.pop() else { return };
            match action {
                Action::Publish { payload, qos, retain } => {
                    self.take_up(device as usize, Outgoing { due_ns, payload, qos, retain });
                }
                action => {
                    (self.turn.taken_up, self.turn.over) = (self.turn.taken_up + 1, self.turn.over + 1);
                    self.come_or_go(device as usize, &action);
                }
            }
        }
    }

    fn on_writable(&mut self, index: usize) {
        if matches!(self.devices[index].stage, Stage::Dialling { .. }) {
            return self.on_dialled(index);
        }
        let Some(link) = &mut self.devices[index].link else { return };
        match link.writable() {
            Ok(()) => self.send_pending(index),
            Err(error) => self.lose(index, &error),
        }
    }

    fn read(&mut self, index: usize) {
        for _ in 0..READS_PER_TURN {
            let mut heard = Heard::default();
            let Device { link: Some(link), protocol, .. } = &mut self.devices[index] else { return };
            let read = link.receive(&mut self.scratch, |bytes, output| protocol.receive(bytes, output, &mut heard));
            if link.backlog() > 0 {
                self.touch(index);
            }
            self.after_read(index, heard);
            match read {
                Ok(Drained::No) => {}
                Ok(Drained::Yes) => return,
                Err(error) => return self.lose(index, &error),
            }
        }
        self.again.push(index);
    }

    fn after_read(&mut self, index: usize, heard: Heard) {
        let now = now_ns();
        self.report.counts.resent += heard.resent;
        for (token, reason) in &heard.answers {
            let (due_ns, bytes) = self.tickets.give_back(*token);
            self.finish(bytes);
            self.report.answer.record(now.saturating_sub(due_ns));
            if reason.is_error() {
                self.report.counts.rejected += 1;
                self.count_error(format!("rejected: {}", reason.name()));
            } else {
                self.report.counts.acknowledged += 1;
            }
        }
        if heard.connected {
            self.on_connected(index);
        }
        if heard.connected || !heard.answers.is_empty() {
            self.send_pending(index);
        }
    }

    pub fn touch(&mut self, index: usize) {
        if !std::mem::replace(&mut self.devices[index].dirty, true) {
            self.dirty.push(index);
        }
    }

    fn flush_dirty(&mut self) {
        let now_ms = now_ns() / MILLISECOND_NS;
        for index in std::mem::take(&mut self.dirty) {
            let device = &mut self.devices[index];
            device.dirty = false;
            device.protocol.wrote(now_ms);
            if let Some(Err(error)) = device.link.as_mut().map(|link| link.flush()) {
                self.lose(index, &error);
            }
        }
    }

    pub fn count_error(&mut self, label: String) {
        *self.report.errors.entry(label).or_default() += 1;
    }

    /// Tells who waits what is done, and shows the figures.
    fn settle_up(&mut self) {
        let turn = std::mem::take(&mut self.turn);
        let hope = self.post.is_finishing() && (!self.queue.is_empty() || self.devices.iter().any(Device::has_hope));
        self.post.show(&self.report.counts, hope);
        if turn != Turn::default() {
            self.post.gate().leave(&turn);
        }
    }

    fn patience_ns(&self) -> u64 {
        if !self.again.is_empty() {
            return 0;
        }
        let now = now_ns();
        let ahead = |at_ns: u64| at_ns.saturating_sub(now);
        let redial = self.redials.peek().map_or(u64::MAX, |Reverse((due_ns, _))| ahead(*due_ns));
        // What waits for room waits for an answer, and that wakes the lane.
        let task = self.queue.peek().filter(|_| !self.waits_for_room());
        task.map_or(u64::MAX, |next| ahead(next.due_ns)).min(redial).min(SLEEP_NS_MAX)
    }

    fn sweep(&mut self) {
        let now_ns = now_ns();
        if now_ns - self.swept_ns < SWEEP_NS {
            return;
        }
        self.swept_ns = now_ns;
        let timeout_ns = (self.config.connect_timeout_s * SECOND_NS as f64) as u64;
        for index in 0..self.devices.len() {
            let Device { link: Some(link), protocol, stage, .. } = &mut self.devices[index] else { continue };
            let alive = match *stage {
                Stage::Dialling { since_ns } | Stage::Greeting { since_ns } if now_ns - since_ns > timeout_ns => {
                    Err(ClientError::TimedOut { what: "CONNACK", after_s: self.config.connect_timeout_s })
                }
                _ => protocol.tick(now_ns / MILLISECOND_NS, &mut link.output),
            };
            match alive {
                Ok(()) if link.backlog() > 0 => self.touch(index),
                Ok(()) => {}
                Err(error) => self.lose(index, &error),
            }
        }
    }

    /// The end: says goodbye and counts what is left.
    fn leave(&mut self) {
        let publishes = |waiting: &&Waiting| matches!(waiting.action, Action::Publish { .. });
        self.report.unsent = self.queue.iter().filter(publishes).count() as u64 + self.post.left();
        for device in &mut self.devices {
            self.report.unsent += device.pending.len() as u64;
            self.report.unacknowledged += device.protocol.unanswered() as u64;
            let Device { link: Some(link), protocol, .. } = device else { continue };
            if protocol.disconnect(ReasonCode::Success, None, &mut link.output).is_ok() {
                // Nobody waits for an answer; a broker that hung up first does not matter any more.
                let _ = link.flush();
            }
        }
        self.report.cpu_ns = thread_cpu_ns();
    }
}
