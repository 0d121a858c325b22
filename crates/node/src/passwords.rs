//! The one thread on which passwords are checked: tens of milliseconds each, by design, and so never on a data thread.
//!
//! A shard asks and puts the connection on hold; the answer comes back over a lane. What needs no such work (a password
//! verified lately, a token, a certificate, nobody in particular) is decided on the shard and never waits here, so a
//! flood of wrong passwords holds up only those whose password is not known yet. How many wait is bounded; one more is
//! refused and counted. Whoever has run out of time for its CONNECT meanwhile is left out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lapwing_access::{Claim, Identity, Refusal};

use crate::hooks::Backlog;
use crate::mailbox::Bell;
use crate::metrics::Metric;
use crate::shared::Shared;
use crate::side_thread::{SideDesk, SideFeed, lay_side_lanes};

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

/// A shard's way to the thread; what waits in it is bounded by the [`Backlog`].
pub(crate) struct PasswordFeed {
    feed: SideFeed<Check, Checked>,
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
        self.feed.ask(Check { index, ticket, username, password, deadline });
        Some(ticket)
    }

    /// The next answer.
    pub(crate) fn answered(&mut self) -> Option<Checked> {
        self.feed.answered()
    }

    /// Whether answers wait to be taken.
    pub(crate) fn has_answers(&self) -> bool {
        self.feed.has_answers()
    }

    /// Hands over what gathered; once per turn of the loop.
    pub(crate) fn flush(&mut self) {
        self.feed.flush();
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
    desk: SideDesk<Check, Checked>,
    control: Arc<PasswordControl>,
}

/// For each shard its feed; the thread; and what ends it.
pub(crate) fn lay_passwords(
    shared: &Arc<Shared>,
    shards: &[Bell],
) -> (Vec<PasswordFeed>, PasswordThread, Arc<PasswordControl>) {
    let (feeds, desk) = lay_side_lanes(shards);
    let control = Arc::new(PasswordControl {
        bell: desk.bell(),
        stop: AtomicBool::new(false),
        backlog: Backlog::new(u64::from(shared.config.limits.password_checks_max), u64::MAX),
        checked: AtomicU64::new(0),
        wrong: AtomicU64::new(0),
        refused: AtomicU64::new(0),
    });
    let feeds = feeds.into_iter().map(|feed| PasswordFeed { feed, last_ticket: 0, control: control.clone() }).collect();
    let thread = PasswordThread { shared: shared.clone(), desk, control: control.clone() };
    (feeds, thread, control)
}

impl PasswordThread {
    /// Works until the node stops it.
    pub(crate) fn run(mut self) {
        self.desk.begin();
        while !self.control.stop.load(Ordering::Acquire) {
            match self.desk.next() {
                Some((shard, check)) => self.check(shard, &check),
                None => self.desk.sleep(SLEEP_MAX, &self.control.stop),
            }
        }
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
            self.desk.answer(shard, Checked { index: check.index, ticket: check.ticket, result });
        }
        self.control.backlog.release(1, 0);
    }
}
