//! The one thread on which passwords are checked: tens of milliseconds each, by design, and so never on a data thread.
//!
//! A shard asks and puts the connection on hold; the answer comes back over a lane. What needs no such work (a password
//! verified lately, a token, a certificate, nobody in particular) is decided on the shard and never waits here, so a
//! flood of wrong passwords holds up only those whose password is not known yet. How many wait is bounded; one more is
//! refused and counted. Whoever has run out of time for its CONNECT meanwhile is left out.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lapwing_access::{Claim, Identity, Refusal};

use crate::assemble::Unpark;
use crate::hooks::Backlog;
use crate::mailbox::{Bell, Inlet, Lane, lane};
use crate::metrics::Metric;
use crate::shared::Shared;

/// Batches in one lane; what they hold is bounded by the [`Backlog`].
const LANE_BATCHES: usize = 64;
/// A missed wake-up would show as this delay and not as a hang.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// A password that somebody waits for. Without `Debug`: it is a secret.
pub(crate) struct Check {
    index: usize,
    ticket: u64,
    username: String,
    password: Vec<u8>,
    /// Nobody waits for the answer after that.
    deadline: Instant,
}

/// The answer.
pub(crate) struct Checked {
    /// The connection's place in the shard's table.
    pub(crate) index: usize,
    pub(crate) ticket: u64,
    pub(crate) result: Result<Identity, Refusal>,
}

/// A shard's way to the thread.
pub(crate) struct PasswordFeed {
    ask: Lane<Vec<Check>>,
    answers: Inlet<Vec<Checked>>,
    taken: VecDeque<Checked>,
    open: Vec<Check>,
    last_ticket: u64,
    control: Arc<PasswordControl>,
}

impl PasswordFeed {
    /// Asks for the connection at `index`; returns the ticket of the answer, or `None` when too many wait already.
    pub(crate) fn ask(&mut self, index: usize, username: &str, password: &[u8], deadline: Instant) -> Option<u64> {
        if !self.control.backlog.admit(1, 0) {
            self.control.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.last_ticket += 1;
        let (ticket, username, password) = (self.last_ticket, username.to_owned(), password.to_vec());
        self.open.push(Check { index, ticket, username, password, deadline });
        Some(ticket)
    }

    /// The next answer.
    pub(crate) fn answered(&mut self) -> Option<Checked> {
        if self.taken.is_empty() {
            self.taken = self.answers.take()?.into();
        }
        self.taken.pop_front()
    }

    /// Whether answers wait to be taken.
    pub(crate) fn has_answers(&self) -> bool {
        !self.taken.is_empty() || !self.answers.is_empty()
    }

    /// Hands over what gathered; once per turn of the loop.
    pub(crate) fn flush(&mut self) {
        if !self.open.is_empty() {
            self.ask.send(std::mem::take(&mut self.open));
        }
        self.ask.flush();
    }
}

/// What ends the thread, and what it counts.
pub(crate) struct PasswordControl {
    bell: Bell,
    stop: AtomicBool,
    backlog: Backlog,
    checked: AtomicU64,
    wrong: AtomicU64,
    refused: AtomicU64,
}

impl PasswordControl {
    /// Asks the thread to end; what waits then is not checked any more.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.bell.ring();
    }

    pub(crate) fn collect(&self) -> Vec<Metric> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            Metric::gauge(
                "lapwing_password_checks_waiting",
                "Passwords that wait to be checked.",
                self.backlog.calls(),
            ),
            Metric::counter("lapwing_password_checks_total", "Passwords checked at full cost.", get(&self.checked)),
            Metric::counter("lapwing_password_checks_wrong_total", "Of them, wrong ones.", get(&self.wrong)),
            Metric::counter(
                "lapwing_password_checks_refused_total",
                "CONNECTs refused because password_checks_max waited already.",
                get(&self.refused),
            ),
        ]
    }
}

/// The thread's state; [`PasswordThread::run`] is its life.
pub(crate) struct PasswordThread {
    shared: Arc<Shared>,
    inlets: Vec<Inlet<Vec<Check>>>,
    waiting: Vec<VecDeque<Check>>,
    answers: Vec<Lane<Vec<Checked>>>,
    /// The shard to look at next.
    turn: usize,
    unpark: Unpark,
    control: Arc<PasswordControl>,
}

/// For each shard its feed; the thread; and what ends it.
pub(crate) fn lay_passwords(
    shared: &Arc<Shared>,
    shards: &[Bell],
) -> (Vec<PasswordFeed>, PasswordThread, Arc<PasswordControl>) {
    let unpark = Unpark::default();
    let bell = Bell::new(unpark.clone());
    let control = Arc::new(PasswordControl {
        bell: bell.clone(),
        stop: AtomicBool::new(false),
        backlog: Backlog::new(u64::from(shared.config.limits.password_checks_max), u64::MAX),
        checked: AtomicU64::new(0),
        wrong: AtomicU64::new(0),
        refused: AtomicU64::new(0),
    });
    let (mut feeds, mut inlets, mut answers) = (vec![], vec![], vec![]);
    for shard in shards {
        let (ask, inlet) = lane(LANE_BATCHES, shard.clone(), bell.clone());
        let (answer, answer_inlet) = lane(LANE_BATCHES, bell.clone(), shard.clone());
        let (taken, open, control) = (VecDeque::new(), Vec::new(), control.clone());
        feeds.push(PasswordFeed { ask, answers: answer_inlet, taken, open, last_ticket: 0, control });
        inlets.push(inlet);
        answers.push(answer);
    }
    let waiting = shards.iter().map(|_| VecDeque::new()).collect();
    let (shared, thread_control) = (shared.clone(), control.clone());
    let thread = PasswordThread { shared, inlets, waiting, answers, turn: 0, unpark, control: thread_control };
    (feeds, thread, control)
}

impl PasswordThread {
    /// Works until the node stops it.
    pub(crate) fn run(mut self) {
        self.unpark.is_me();
        while !self.control.stop.load(Ordering::Acquire) {
            match self.next() {
                Some((shard, check)) => self.check(shard, &check),
                None => self.sleep(),
            }
        }
    }

    /// The next password, of each shard in turn.
    fn next(&mut self) -> Option<(usize, Check)> {
        let shards = self.inlets.len();
        for _ in 0..shards {
            let shard = self.turn;
            self.turn = (shard + 1) % shards;
            if self.waiting[shard].is_empty()
                && let Some(batch) = self.inlets[shard].take()
            {
                self.waiting[shard] = batch.into();
            }
            if let Some(check) = self.waiting[shard].pop_front() {
                return Some((shard, check));
            }
        }
        None
    }

    fn check(&mut self, shard: usize, check: &Check) {
        if check.deadline > Instant::now() {
            let claim = Claim {
                username: Some(&check.username),
                password: Some(&check.password),
                certificate: None,
                anonymous: false,
            };
            let result = self.shared.authority.check(&claim);
            self.control.checked.fetch_add(1, Ordering::Relaxed);
            self.control.wrong.fetch_add(u64::from(result.is_err()), Ordering::Relaxed);
            self.answers[shard].send(vec![Checked { index: check.index, ticket: check.ticket, result }]);
            self.answers[shard].flush();
        }
        self.control.backlog.release(1, 0);
    }

    fn sleep(&mut self) {
        self.control.bell.prepare();
        // What had no room at a shard is tried again here: it rings when it has taken something.
        self.answers.iter_mut().for_each(Lane::flush);
        let is_idle = self.inlets.iter().all(Inlet::is_empty) && self.waiting.iter().all(VecDeque::is_empty);
        if is_idle && !self.control.stop.load(Ordering::Acquire) {
            std::thread::park_timeout(SLEEP_MAX);
        }
        self.control.bell.awake();
    }
}
