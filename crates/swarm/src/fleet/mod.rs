//! A fleet: N device connections that publish what a caller supplies, when the caller says.
//!
//! Rules: the caller offers tasks in batches, ahead of their time; the queue is bounded, and `offer` waits. Threads
//! here keep the schedule relative to one start instant: a task leaves the queue when its time comes (`gate`), whatever
//! the broker does, so a slow one shows as latency. What is due and not answered is bounded too (`open`): where that is
//! full the schedule waits, and says that the broker held it (`kept`). A device's session outlives its connection: it reconnects
//! with growing patience, and what the broker has not answered goes again, with DUP if the broker still has the
//! session. Nothing accepted is forgotten: it is sent, acknowledged, refused, or counted as unsent or unacknowledged.

mod config;
mod device;
mod gate;
mod kept;
mod lane;
mod open;
mod post;
mod presence;
mod report;
mod send;
mod task;

pub use config::{FleetClient, FleetConfig};
pub use kept::FleetSchedule;
pub use report::{FleetCounts, FleetReport};
pub use task::{Action, Task};

use crate::clock::{SECOND_NS, now_ns};
use crate::error::SwarmError;
use crate::files;
use crate::lane::look_up;
use crate::link::Target;
use gate::{Gate, Room};
use lane::{Lane, WAKER};
use mio::{Poll, Waker};
use post::{Post, Shared};
use report::LaneReport;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The largest payload a fleet sends, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 16 << 20;
/// How often `finish` looks whether anything can still happen.
const LOOK: Duration = Duration::from_millis(20);

/// A running fleet. Dropping it ends it.
pub struct Fleet {
    config: Arc<FleetConfig>,
    shared: Arc<Shared>,
    posts: Vec<Arc<Post>>,
    lanes: Vec<JoinHandle<Result<LaneReport, SwarmError>>>,
    accepted: AtomicU64,
}

impl Fleet {
    /// Starts the threads; the devices that are `joined` begin to connect.
    ///
    /// # Errors
    /// `Files`: too many devices for one process; a URL that is none.
    pub fn start(config: FleetConfig) -> Result<Self, SwarmError> {
        let Target { address, is_sn } = look_up(&config.url)?;
        if is_sn {
            let remedy = "tcp://HOST:PORT: fleets speak MQTT".to_owned();
            return Err(SwarmError::Profile { key: "url", value: config.url, remedy });
        }
        files::make_room_for(config.clients.len() as u64)?;
        let shared = Arc::new(Shared {
            gate: Gate::new(config.queue_messages_max, config.queue_bytes_max),
            start_ns: AtomicU64::new(0),
            finishing: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        });
        let config = Arc::new(config);
        let mut fleet = Self { config, shared, posts: Vec::new(), lanes: Vec::new(), accepted: AtomicU64::new(0) };
        for number in 0..fleet.config.threads {
            let poll = Poll::new().map_err(SwarmError::system("cannot open a poll"))?;
            let waker = Waker::new(poll.registry(), WAKER).map_err(SwarmError::system("cannot make a waker"))?;
            let post = Arc::new(Post::new(fleet.shared.clone(), waker));
            let lane = Lane::new(fleet.config.clone(), address, number, poll, post.clone());
            let shared = fleet.shared.clone();
            let body = move || lane.run().inspect_err(|_| shared.gate.close());
            let thread = thread::Builder::new().name(format!("fleet-{number}")).spawn(body);
            fleet.lanes.push(thread.map_err(SwarmError::system("cannot start a thread"))?);
            fleet.posts.push(post);
        }
        Ok(fleet)
    }

    /// Devices that should be connected before the start.
    pub fn joined(&self) -> u64 {
        self.config.clients.iter().filter(|client| client.joined).count() as u64
    }

    /// The counters as of now.
    pub fn counts(&self) -> FleetCounts {
        let mut counts = FleetCounts { accepted: self.accepted.load(Relaxed), ..Default::default() };
        self.posts.iter().for_each(|post| counts.add(&post.shown().0));
        counts
    }

    /// Lets the schedule begin: time 0 is `start_ns` of the machine's monotonic clock, or now.
    ///
    /// # Errors
    /// `Usage`: it began before.
    pub fn go(&self, start_ns: Option<u64>) -> Result<(), SwarmError> {
        let start_ns = start_ns.unwrap_or_else(now_ns).max(1);
        if self.shared.start_ns.compare_exchange(0, start_ns, Relaxed, Relaxed).is_err() {
            return Err(SwarmError::Usage("the fleet's schedule has begun before"));
        }
        self.wake_all()
    }

    /// Hands tasks over, in any order of their times; waits while the queue is full. Gives how many were taken (from
    /// the front) before `timeout`.
    ///
    /// # Errors
    /// `Profile`: a device that does not exist, or a payload that is too large (none is taken). `Usage`: it has ended.
    pub fn offer(&self, tasks: Vec<Task>, timeout: Duration) -> Result<usize, SwarmError> {
        tasks.iter().try_for_each(|task| self.check(task))?;
        let deadline = Instant::now() + timeout;
        let mut taken = 0;
        let mut tasks = tasks.into_iter().peekable();
        while let Some(first) = tasks.peek() {
            match self.shared.gate.wait_for_room(first.bytes(), deadline) {
                Room::TimedOut => break,
                Room::Closed => return Err(SwarmError::Usage("the fleet has ended")),
                Room::For { messages, bytes, .. } => taken += self.take(&mut tasks, messages.max(1), bytes)?,
            }
        }
        Ok(taken)
    }

    /// Takes the first task, and then as many as fit.
    fn take(
        &self,
        tasks: &mut std::iter::Peekable<impl Iterator<Item = Task>>,
        messages_max: usize,
        bytes_max: usize,
    ) -> Result<usize, SwarmError> {
        let mut per_lane: Vec<Vec<Task>> = self.posts.iter().map(|_| Vec::new()).collect();
        let (mut messages, mut bytes, mut publishes) = (0, 0, 0);
        while let Some(task) =
            tasks.next_if(|task| messages == 0 || (messages < messages_max && bytes + task.bytes() <= bytes_max))
        {
            messages += 1;
            bytes += task.bytes();
            publishes += u64::from(matches!(task.action, Action::Publish { .. }));
            per_lane[(task.device % self.config.threads) as usize].push(task);
        }
        // Counted before they can be done, so that the count never runs below zero.
        self.shared.gate.enter(messages, bytes);
        self.accepted.fetch_add(publishes, Relaxed);
        for (post, tasks) in self.posts.iter().zip(per_lane).filter(|(_, tasks)| !tasks.is_empty()) {
            post.put(tasks).map_err(SwarmError::system("cannot wake a thread"))?;
        }
        Ok(messages)
    }

    fn check(&self, task: &Task) -> Result<(), SwarmError> {
        if task.device as usize >= self.config.clients.len() {
            let remedy = format!("0 to {}", self.config.clients.len() - 1);
            return Err(SwarmError::Profile { key: "device", value: task.device.to_string(), remedy });
        }
        if task.bytes() > PAYLOAD_BYTES_MAX {
            let remedy = format!("at most {PAYLOAD_BYTES_MAX} bytes");
            return Err(SwarmError::Profile { key: "payload", value: format!("{} bytes", task.bytes()), remedy });
        }
        Ok(())
    }

    /// Waits until everything accepted is done, nothing more can happen, or `timeout`; says goodbye and reports.
    ///
    /// # Errors
    /// A thread that could not go on.
    pub fn finish(mut self, timeout: Duration) -> Result<FleetReport, SwarmError> {
        self.shared.finishing.store(true, Relaxed);
        let deadline = Instant::now() + timeout;
        // Each lane must have looked once since; before, "no hope" may be old. Two looks are enough.
        let mut hopeless = 0;
        while self.shared.gate.unfinished() > 0 && Instant::now() < deadline && hopeless < 3 {
            self.wake_all()?;
            self.shared.gate.wait_until_all_over(Instant::now() + LOOK);
            hopeless = if self.posts.iter().any(|post| post.shown().1) { 0 } else { hopeless + 1 };
        }
        let start_ns = self.shared.start_ns.load(Relaxed);
        let seconds = if start_ns == 0 { 0.0 } else { now_ns().saturating_sub(start_ns) as f64 / SECOND_NS as f64 };
        let sum = self.stop()?;
        Ok(self.report(sum, seconds))
    }

    fn stop(&mut self) -> Result<LaneReport, SwarmError> {
        self.shared.stopped.store(true, Relaxed);
        self.shared.gate.close();
        self.wake_all()?;
        let mut sum = LaneReport::default();
        for lane in self.lanes.drain(..) {
            sum.add(&lane.join().map_err(|_| SwarmError::Panicked)??);
        }
        Ok(sum)
    }

    fn report(&self, sum: LaneReport, seconds: f64) -> FleetReport {
        let mut counts = sum.counts;
        counts.accepted = self.accepted.load(Relaxed);
        FleetReport {
            devices: self.config.clients.len() as u64,
            seconds,
            counts,
            unsent: sum.unsent,
            unacknowledged: sum.unacknowledged,
            schedule: (&sum.kept).into(),
            answer_us: sum.answer.percentiles(),
            errors: sum.errors,
            cpu_s: sum.cpu_ns as f64 / SECOND_NS as f64,
            complete: sum.unsent + sum.unacknowledged + counts.rejected == 0,
        }
    }

    fn wake_all(&self) -> Result<(), SwarmError> {
        self.posts.iter().try_for_each(|post| post.wake()).map_err(SwarmError::system("cannot wake a thread"))
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        if !self.lanes.is_empty() {
            // Whoever drops a fleet does not ask for its report.
            let _ = self.stop();
        }
    }
}
