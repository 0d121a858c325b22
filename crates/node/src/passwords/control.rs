//! What ends the threads, what is asked of them from outside, and what they count.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use lapwing_access::Work;
use lapwing_codec::ReasonCode;

use super::awaiting::{Awaiting, Then};
use super::failures::Bar;
use super::feed::{AnswerTo, AskedFor, Delays, Denied, Secret, Suspects};
use super::outside::OutsideCounters;
use super::queue::Ask;
use super::source::Source;
use super::tokens::TokenCounters;
use super::warden::Counts;
use crate::desk::{Desk, Reply};
use crate::hooks::Backlog;
use crate::mailbox::Bell;
use crate::metrics::Metric;

/// What an operator wants.
pub(crate) enum BarAsk {
    /// Whoever is kept out.
    List(Reply<Vec<Bar>>),
    /// That an address or a name is not, any more: how many bars that were.
    Lift(Box<str>, Reply<u64>),
}

/// Shared by the handle, the shards and the threads that check.
pub(crate) struct PasswordControl {
    pub(super) bell: Bell,
    pub(super) stop: AtomicBool,
    pub(super) backlog: Backlog,
    pub(super) suspects: Suspects,
    pub(super) delays: Delays,
    pub(super) asked: Desk<BarAsk>,
    /// Passwords that came over HTTP.
    pub(super) callers: Desk<Ask<Secret>>,
    /// Who is called back for them.
    pub(super) awaiting: Awaiting,
    /// Results that were handed back, so that who sleeps sees that there are some.
    pub(super) results: AtomicUsize,
    pub(super) checked: AtomicU64,
    pub(super) wrong: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) figures: Figures,
    pub(super) tokens: TokenCounters,
    pub(super) outside: OutsideCounters,
}

/// What the thread has counted so far, told once a turn.
#[derive(Default)]
pub(super) struct Figures {
    waiting: AtomicU64,
    displaced: AtomicU64,
    barred: AtomicU64,
    late: AtomicU64,
    bars_total: AtomicU64,
    bars: AtomicU64,
    evicted: AtomicU64,
}

impl Figures {
    pub(super) fn tell(&self, counts: Counts, waiting: usize, evicted: u64) {
        let Counts { displaced, barred, late, bars } = counts;
        let told = [
            (&self.waiting, waiting as u64),
            (&self.displaced, displaced),
            (&self.barred, barred),
            (&self.late, late),
            (&self.bars_total, bars),
            (&self.evicted, evicted),
        ];
        told.into_iter().for_each(|(cell, value)| cell.store(value, Ordering::Relaxed));
    }

    pub(super) fn tell_bars(&self, bars: usize) {
        self.bars.store(bars as u64, Ordering::Relaxed);
    }
}

impl PasswordControl {
    /// Asks the threads to end; what waits then is not checked any more.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.bell.ring();
    }

    /// A result was handed back.
    pub(super) fn is_done(&self) {
        self.results.fetch_add(1, Ordering::Release);
        self.bell.ring();
    }

    /// Has a password checked that came over HTTP, in the turns of all others. `then` is called with the answer: at once when
    /// too many wait already, and soon after `deadline_ms` at the latest.
    pub(crate) fn check(&self, source: Source, username: &str, asked_for: AskedFor<'_>, deadline_ms: u64, then: Then) {
        let AskedFor { password, work, outside } = asked_for;
        let Some(number) = self.awaiting.wait(source, work == Work::Outside, deadline_ms, then) else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return;
        };
        if !self.backlog.admit(1, 0) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            let denied = Denied { reason: ReasonCode::QuotaExceeded, wait_ms: 0, is_told: false };
            return self.awaiting.answer(number, Err(denied));
        }
        let item = Secret { to: AnswerTo::Caller(number), password: password.map(<[u8]>::to_vec), outside };
        self.callers.put(Ask { source, username: username.into(), work, deadline_ms, item });
        self.bell.ring();
    }

    /// Whether nothing of this address is to be decided beside the turns: it has guessed.
    pub(crate) fn suspects(&self, source: Source) -> bool {
        self.suspects.contains(source)
    }

    /// Asks for something, and wakes the thread.
    pub(crate) fn ask(&self, ask: BarAsk) {
        self.asked.put(ask);
        self.bell.ring();
    }

    pub(crate) fn collect(&self) -> Vec<Metric> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Figures { waiting, displaced, barred, late, bars_total, bars, evicted } = &self.figures;
        let refused = get(&self.refused) + get(displaced);
        let counter = |name, help, value| Metric::counter(name, help, value);
        let mut metrics = vec![
            Metric::gauge("lapwing_password_checks_waiting", "Passwords that wait to be checked.", get(waiting)),
            counter("lapwing_password_checks_total", "Passwords checked at full cost.", get(&self.checked)),
            counter("lapwing_password_checks_wrong_total", "Of them, wrong ones.", get(&self.wrong)),
            counter(
                "lapwing_password_checks_refused_total",
                "CONNECTs refused because password_checks_max waited already, and requests over HTTP beyond http_checks_max or \
                 http_checks_per_address_max.",
                refused,
            ),
            counter(
                "lapwing_password_checks_late_total",
                "Passwords not checked, because the time for a CONNECT was over before their turn.",
                get(late),
            ),
            counter(
                "lapwing_password_checks_barred_total",
                "CONNECTs refused without a check: their address, or their name from there, is barred.",
                get(barred),
            ),
            Metric::gauge(
                "lapwing_password_refusals_waiting",
                "Connections that wait for their refusal.",
                get(&self.delays.now),
            ),
            counter("lapwing_password_refusals_delayed_total", "Refusals that waited.", get(&self.delays.total)),
            counter(
                "lapwing_password_refusals_full_total",
                "Refusals that went out at once because failures_delayed_max waited already.",
                get(&self.delays.full),
            ),
            Metric::gauge("lapwing_bars", "Addresses, and names from an address, that are barred.", get(bars)),
            counter("lapwing_bars_total", "Times that one was barred for its wrong passwords.", get(bars_total)),
            counter(
                "lapwing_password_failures_evicted_total",
                "Records of failures that made room for others: there are failures_records_max.",
                get(evicted),
            ),
        ];
        metrics.extend(self.tokens.collect());
        metrics.extend(self.outside.collect());
        metrics
    }
}
