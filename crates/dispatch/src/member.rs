//! One member: what it has, and what its acknowledgements and reports teach.

use std::collections::VecDeque;

use crate::blind::Blindness;
use crate::declaration::{Acknowledges, Declaration};
use crate::flight::{Flight, Sent};
use crate::horizon::Horizon;
use crate::index::Ticket;
use crate::parameters::Parameters;
use crate::passed_over::Refusals;
use crate::report::Report;
use crate::round_trip::RoundTrip;
use crate::signals::{Judgement, Signals};
use crate::stall::Probation;
use crate::time::NEVER_MS;

/// Work on one message is at least so long, milliseconds.
const SERVICE_MS_MIN: f64 = 0.01;
/// And at most: one hour.
pub(crate) const SERVICE_MS_MAX: f64 = 3.6e6;
/// A report is worth more than what acknowledgements say for so long.
const REPORT_FRESH_MS: f64 = 10_000.0;
/// Who said it was paused and nothing since is tried again after so long.
const PAUSE_MS_MAX: f64 = 30_000.0;

/// Nobody is kept from work for longer to become idle: it may have work of an hour among what it has.
const DRAIN_MS_MAX: f64 = 1000.0;

/// What a choice does not read: see `Signals` for what it does.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) declaration: Declaration,
    pub(crate) flight: Flight,
    pub(crate) round_trip: RoundTrip,
    pub(crate) blindness: Blindness,
    pub(crate) probation: Probation,
    pub(crate) refusals: Refusals,
    /// When it last acknowledged or reported.
    pub(crate) heard_at_ms: f64,
    /// When it last reported, whatever it was.
    pub(crate) said_at_ms: f64,
    pub(crate) acknowledged: u64,
    pub(crate) picks: u64,
    horizon: Horizon,
    /// When it last acknowledged so many messages as it has workers, oldest first.
    acks_ms: VecDeque<f64>,
    reported_at_ms: f64,
    service_reported_at_ms: f64,
}

impl Member {
    pub(crate) fn new(declaration: Declaration, flight: Flight, probation: Probation) -> Member {
        let workers = u32::from(declaration.workers);
        Member {
            flight,
            round_trip: RoundTrip::new(declaration.is_proxied),
            blindness: Blindness::default(),
            probation,
            refusals: Refusals::default(),
            heard_at_ms: 0.0,
            said_at_ms: 0.0,
            acknowledged: 0,
            picks: 0,
            horizon: Horizon::new(workers),
            acks_ms: VecDeque::with_capacity(workers as usize + 1),
            reported_at_ms: -NEVER_MS,
            service_reported_at_ms: -NEVER_MS,
            declaration,
        }
    }

    /// Signals of a member that has just joined.
    pub(crate) fn first_signals(&self) -> Signals {
        Signals {
            limit: self.probation.limit(u32::from(self.declaration.receive_max)),
            workers: u32::from(self.declaration.workers),
            judgement: self.declared_judgement(),
            opens_at_ms: self.probation.opens_at_ms(),
            identity: self.declaration.identity,
            ..Signals::vacant()
        }
    }

    /// It says something else about itself: its virtual clock begins anew where it has other workers, the rest stays.
    pub(crate) fn redeclared(&mut self, signals: &mut Signals, declaration: Declaration, now_ms: f64) {
        let has_other_workers = self.declaration.workers != declaration.workers;
        self.declaration = Declaration { identity: self.declaration.identity, ..declaration };
        self.round_trip.set_proxied(declaration.is_proxied);
        signals.limit = self.probation.limit(u32::from(declaration.receive_max));
        signals.judgement = match self.declared_judgement() {
            Judgement::Response if signals.has_reported => Judgement::Finish,
            judgement => judgement,
        };
        if has_other_workers {
            signals.workers = u32::from(declaration.workers);
            self.horizon = Horizon::new(signals.workers);
            self.acks_ms.drain(..self.acks_ms.len().saturating_sub(usize::from(declaration.workers)));
            self.settle(signals, now_ms);
        }
    }

    /// How it is judged while it does not report.
    pub(crate) fn declared_judgement(&self) -> Judgement {
        match self.declaration.acknowledges {
            _ if self.declaration.is_batch => Judgement::Batch,
            Acknowledges::Processed => Judgement::Finish,
            Acknowledges::Undeclared | Acknowledges::Received => Judgement::Response,
        }
    }

    /// A report of its queue that is not old stands above what acknowledgements say.
    pub(crate) fn has_report(&self, now_ms: f64) -> bool {
        now_ms - self.reported_at_ms < REPORT_FRESH_MS
    }

    /// A message leaves for it.
    pub(crate) fn sent(&mut self, signals: &mut Signals, key: Option<u64>, now_ms: f64) -> Ticket {
        let ticket = self.flight.push(now_ms, key);
        let finish_ms = self.horizon.add(now_ms + signals.net_ms(), signals.service_ms);
        signals.free_at_ms = self.horizon.earliest();
        if self.flight.open() == 1 {
            self.heard_at_ms = self.heard_at_ms.max(now_ms);
            signals.head_due_ms = if self.has_report(now_ms) { NEVER_MS } else { finish_ms + signals.net_ms() };
        }
        signals.inflight = self.flight.open();
        self.sent_unacknowledged(signals);
        ticket
    }

    /// A message leaves for it that it will not acknowledge, or any other.
    pub(crate) fn sent_unacknowledged(&mut self, signals: &mut Signals) {
        self.picks += 1;
        if signals.has_reported {
            signals.reported_queue = signals.reported_queue.saturating_add(1);
        }
    }

    /// It has acknowledged `sent`, which was written to its socket at `written_ms`.
    pub(crate) fn acknowledged(
        &mut self,
        signals: &mut Signals,
        parameters: &Parameters,
        sent: &Sent,
        written_ms: f64,
        at_ms: f64,
    ) {
        // Stamps come from another thread's clock reading: never before the message was bound, never before it was
        // written.
        let at_ms = at_ms.max(sent.sent_ms);
        let written_ms = written_ms.clamp(sent.sent_ms, at_ms);
        let latency_ms = at_ms - written_ms;
        self.round_trip.answered(latency_ms, at_ms);
        let is_first = self.acknowledged == 0;
        signals.rtt_ms = self.round_trip.estimate_ms(if is_first { latency_ms } else { signals.service_ms });
        if sent.found_idle {
            self.round_trip.found_idle(latency_ms, at_ms);
        }
        self.learn_work(signals, parameters, written_ms, at_ms);
        if self.round_trip.doubts(signals.rtt_ms, signals.service_ms, at_ms) {
            signals.drains_until_ms = at_ms + DRAIN_MS_MAX;
        }
        learn_response(signals, parameters, latency_ms, at_ms);
        signals.last_ack_ms = at_ms;
        self.acknowledged += 1;
        self.heard_at_ms = self.heard_at_ms.max(at_ms);
        self.settle(signals, at_ms);
    }

    /// A message went back unsent, or ended without an answer that says anything of the work.
    pub(crate) fn withdrawn(&mut self, signals: &mut Signals, now_ms: f64) {
        self.settle(signals, now_ms);
    }

    /// Takes over what a checked report says.
    pub(crate) fn reported(&mut self, signals: &mut Signals, report: &Report, now_ms: f64) {
        self.heard_at_ms = self.heard_at_ms.max(now_ms);
        self.said_at_ms = self.said_at_ms.max(now_ms);
        if let Some(is_paused) = report.is_paused {
            let resumes_at_ms = if is_paused { now_ms + PAUSE_MS_MAX } else { 0.0 };
            signals.opens_at_ms = self.probation.opens_at_ms().max(resumes_at_ms);
        }
        if let Some(service_ms) = report.service_ms(signals.workers) {
            signals.service_ms = service_ms.clamp(SERVICE_MS_MIN, SERVICE_MS_MAX);
            signals.service_long_ms = signals.service_ms;
            self.service_reported_at_ms = now_ms;
        }
        let Some(queue) = report.queue else { return };
        self.reported_at_ms = now_ms;
        if self.declaration.acknowledges == Acknowledges::Processed && queue <= u64::from(signals.inflight) {
            // Its acknowledgements say as much, and one that is overdue says more.
            return;
        }
        signals.reported_queue = u32::try_from(queue).unwrap_or(u32::MAX);
        signals.has_reported = true;
        self.blindness.absolve();
        signals.head_due_ms = NEVER_MS;
        if signals.judgement != Judgement::Batch {
            signals.judgement = Judgement::Finish;
        }
        self.replay_report(signals, queue as f64, now_ms);
    }

    /// The virtual clock from a reported queue; what had not arrived when the member reported comes on top.
    fn replay_report(&mut self, signals: &mut Signals, queue: f64, now_ms: f64) {
        let net_ms = signals.net_ms();
        let seen_ms = now_ms - net_ms;
        let workers = f64::from(signals.workers);
        let wait_ms = (queue - (workers - 1.0)).max(0.0) / workers * signals.service_ms;
        let replayed = self.horizon.replay(&self.flight, seen_ms, seen_ms + wait_ms, net_ms, signals.service_ms);
        signals.free_at_ms = replayed.free_at_ms;
    }

    /// A sample of the work: from when it could have begun to when it was acknowledged.
    fn learn_work(&mut self, signals: &mut Signals, parameters: &Parameters, written_ms: f64, at_ms: f64) {
        let last_ms = self.acks_ms.back().copied().unwrap_or(-NEVER_MS);
        if last_ms < written_ms + signals.rtt_ms {
            self.round_trip.found_idle(at_ms - written_ms, at_ms);
        }
        let arrived_ms = written_ms + signals.rtt_ms;
        let spacing_ms = (at_ms - last_ms.max(arrived_ms)).clamp(SERVICE_MS_MIN, SERVICE_MS_MAX);
        // With m workers it began when the one was free that acknowledged m messages earlier.
        let workers = self.horizon.workers();
        let free_ms =
            if self.acks_ms.len() < workers { -NEVER_MS } else { self.acks_ms.front().copied().unwrap_or(-NEVER_MS) };
        let work_ms = (at_ms - free_ms.max(arrived_ms)).clamp(SERVICE_MS_MIN, SERVICE_MS_MAX);
        self.acks_ms.push_back(at_ms.max(last_ms));
        if self.acks_ms.len() > workers {
            self.acks_ms.pop_front();
        }
        let is_behind = free_ms >= arrived_ms;
        if is_behind {
            self.round_trip.found_busy(work_ms);
        }
        // Where distance and work are only known together, spacing behind another message tells the work; a message
        // that found the member idle only says that the work is no longer than all it took.
        let is_told = is_behind || self.round_trip.is_measured();
        let most_ms = if is_told { work_ms } else { at_ms - written_ms };
        self.blindness.observe(most_ms);
        if self.acknowledged == 0 {
            signals.spacing_ms = spacing_ms;
        } else {
            signals.spacing_ms += 0.1 * (spacing_ms - signals.spacing_ms);
        }
        let is_reported = at_ms - self.service_reported_at_ms < REPORT_FRESH_MS;
        if is_reported || self.declaration.acknowledges == Acknowledges::Received {
            return;
        }
        if self.acknowledged == 0 {
            (signals.service_ms, signals.service_long_ms) = (work_ms, work_ms);
            return;
        }
        let work_ms = if is_told { work_ms } else { signals.service_ms.min(most_ms).max(SERVICE_MS_MIN) };
        let (service_ms, long_ms) = (signals.service_ms, signals.service_long_ms);
        signals.service_ms += parameters.gain * (work_ms.min(parameters.clip * service_ms) - service_ms);
        signals.service_long_ms += 0.005 * (work_ms.min(5.0 * long_ms) - long_ms);
    }

    /// The virtual clock anew from what it still has.
    fn settle(&mut self, signals: &mut Signals, at_ms: f64) {
        signals.inflight = self.flight.open();
        if signals.inflight == 0 {
            signals.drains_until_ms = 0.0;
        }
        if self.has_report(at_ms) {
            signals.head_due_ms = NEVER_MS;
            return;
        }
        let net_ms = signals.net_ms();
        let replayed = self.horizon.replay(&self.flight, -NEVER_MS, at_ms - net_ms, net_ms, signals.service_ms);
        signals.free_at_ms = replayed.free_at_ms;
        let is_idle = self.flight.open() == 0;
        signals.head_due_ms = if is_idle { NEVER_MS } else { replayed.head_finish_ms + net_ms };
    }
}

/// What C3 and Peak-EWMA remember of a round of PUBLISH and PUBACK.
fn learn_response(signals: &mut Signals, parameters: &Parameters, latency_ms: f64, at_ms: f64) {
    signals.response_ms += 0.1 * (latency_ms - signals.response_ms);
    let faded_ms = signals.peak_now_ms(at_ms, parameters.peak_tau_ms);
    let share = (-(at_ms - signals.peak_at_ms).max(0.0) / parameters.peak_tau_ms).exp();
    let is_peak = latency_ms > signals.peak_ms;
    signals.peak_ms = if is_peak { latency_ms } else { faded_ms + latency_ms * (1.0 - share) };
    signals.peak_at_ms = signals.peak_at_ms.max(at_ms);
}
