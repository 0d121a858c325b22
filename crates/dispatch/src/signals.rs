//! What is known of one member, as far as a choice needs it.

use crate::round_trip::UNKNOWN_RTT_MS;
use crate::time::NEVER_MS;

/// What a member's work is taken to be until its first acknowledgement.
pub(crate) const UNKNOWN_SERVICE_MS: f64 = 20.0;

/// How fast it is forgotten that somebody had more than his share.
const SURPLUS_TAU_MS: f64 = 60_000.0;
/// Nobody is owed more than this: who was away or full does not get it all at once.
const OWED_MAX: f64 = 2.0;

/// How a member is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Its acknowledgements or its reports say when it finishes: least expected finish.
    Finish,
    /// Nothing was declared: C3.
    Response,
    /// Takes many at once: least inflight.
    Batch,
}

/// The numbers of one member. They lie side by side for all members of a group, so that a scan reads little memory;
/// what only acknowledgements need is in `Member`.
#[derive(Clone, Debug)]
pub struct Signals {
    /// Most messages it may have now: its Receive Maximum, less on probation, 0 when it is not here.
    pub(crate) limit: u32,
    /// What it has and has not acknowledged.
    pub(crate) inflight: u32,
    pub(crate) workers: u32,
    pub(crate) judgement: Judgement,
    /// It acknowledges on receipt: its numbers mean nothing.
    pub(crate) is_blind: bool,
    /// It has reported its queue: what it has to do is more than what it has not acknowledged.
    pub(crate) has_reported: bool,
    /// Until then it gets nothing before it has finished what it has: how far away it is can only be told when it is idle.
    pub(crate) drains_until_ms: f64,
    /// Nothing is sent to it before: it is paused, or returns from a stall.
    pub(crate) opens_at_ms: f64,
    /// `srtt` of the design.
    pub(crate) rtt_ms: f64,
    /// `s`: work per message.
    pub(crate) service_ms: f64,
    /// `slong`: the same over hundreds of messages, without outliers.
    pub(crate) service_long_ms: f64,
    pub(crate) last_ack_ms: f64,
    /// `V`: when it would begin with one more message, at the member.
    pub(crate) free_at_ms: f64,
    /// `U`: until when its fair share is used up.
    pub(crate) used_until_ms: f64,
    /// `hd`: when the acknowledgement of its oldest message is due, here.
    pub(crate) head_due_ms: f64,
    /// C3: PUBLISH -> PUBACK, smoothed.
    pub(crate) response_ms: f64,
    /// C3: time between acknowledgements while it is busy, smoothed.
    pub(crate) spacing_ms: f64,
    /// Peak-EWMA: PUBLISH -> PUBACK, peaks remembered, as of `peak_at_ms`.
    pub(crate) peak_ms: f64,
    pub(crate) peak_at_ms: f64,
    /// Messages beyond its fair share that it had when the group's clock of shares stood at `share_mark`, at
    /// `share_at_ms`.
    pub(crate) surplus: f64,
    pub(crate) share_mark: f64,
    pub(crate) share_at_ms: f64,
    /// Bytes that its socket has not taken.
    pub(crate) unsent_bytes: u64,
    /// Messages in its queue by its last report, and what was sent to it since.
    pub(crate) reported_queue: u32,
    /// A stable hash of the client id.
    pub(crate) identity: u64,
}

impl Signals {
    /// A place with no member.
    pub(crate) fn vacant() -> Signals {
        Signals {
            limit: 0,
            inflight: 0,
            workers: 1,
            judgement: Judgement::Response,
            is_blind: false,
            has_reported: false,
            drains_until_ms: 0.0,
            opens_at_ms: 0.0,
            rtt_ms: UNKNOWN_RTT_MS,
            service_ms: UNKNOWN_SERVICE_MS,
            service_long_ms: UNKNOWN_SERVICE_MS,
            last_ack_ms: 0.0,
            free_at_ms: 0.0,
            used_until_ms: 0.0,
            head_due_ms: NEVER_MS,
            // As if it answered at once: so everybody new gets a message soon.
            response_ms: 0.0,
            spacing_ms: UNKNOWN_SERVICE_MS,
            peak_ms: 0.0,
            peak_at_ms: 0.0,
            surplus: 0.0,
            share_mark: 0.0,
            share_at_ms: 0.0,
            unsent_bytes: 0,
            reported_queue: 0,
            identity: 0,
        }
    }

    /// Round trip, milliseconds.
    pub fn rtt_ms(&self) -> f64 {
        self.rtt_ms
    }

    /// Work on one message, milliseconds; with several workers: of one of them.
    pub fn service_ms(&self) -> f64 {
        self.service_ms
    }

    /// Messages sent and not acknowledged.
    pub fn inflight(&self) -> u32 {
        self.inflight
    }

    /// Most messages that it may have now.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// How many messages it works on at a time, as declared.
    pub fn workers(&self) -> u32 {
        self.workers
    }

    /// The stable hash of its client id that it has joined with.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// By how much its oldest message is overdue, milliseconds.
    pub fn overdue_ms(&self, now_ms: f64) -> f64 {
        (now_ms - self.head_due_ms).max(0.0)
    }

    /// Whether it acknowledges on receipt, as far as one can tell: then its work is not known.
    pub fn is_blind(&self) -> bool {
        self.is_blind
    }

    /// Whether it may have a message that it will acknowledge, by `now_ms` of the caller's clock. The hard bound: no
    /// strategy goes past it. False where nobody is.
    pub fn can_take(&self, now_ms: f64) -> bool {
        self.inflight < self.limit && now_ms >= self.opens_at_ms
    }

    /// Whether it may have a message that nobody acknowledges.
    pub(crate) fn can_take_unacknowledged(&self, now_ms: f64) -> bool {
        self.limit > 0 && now_ms >= self.opens_at_ms
    }

    /// Time on the way to it, milliseconds.
    pub(crate) fn net_ms(&self) -> f64 {
        self.rtt_ms / 2.0
    }

    /// Work per message as believed now: who was slow and has not been asked since is given another chance by and by.
    pub(crate) fn service_now_ms(&self, now_ms: f64, tau_ms: f64) -> f64 {
        let idle_ms = now_ms - self.last_ack_ms;
        if self.service_ms > self.service_long_ms && idle_ms > 50.0 {
            return self.service_long_ms + (self.service_ms - self.service_long_ms) * (-idle_ms / tau_ms).exp();
        }
        self.service_ms
    }

    /// Peak-EWMA's cost as of now.
    pub(crate) fn peak_now_ms(&self, now_ms: f64, tau_ms: f64) -> f64 {
        self.peak_ms * (-(now_ms - self.peak_at_ms).max(0.0) / tau_ms).exp()
    }

    /// Messages beyond its fair share that it has had, less than 0 if it is owed some. `share_clock`: what each
    /// member's fair share has come to. What was long ago is forgotten: it has been worked off, or nobody waits for it
    /// any more.
    pub(crate) fn surplus_now(&self, share_clock: f64, now_ms: f64) -> f64 {
        let kept = (-(now_ms - self.share_at_ms).max(0.0) / SURPLUS_TAU_MS).exp();
        (self.surplus * kept - (share_clock - self.share_mark)).max(-OWED_MAX)
    }

    /// One message was sent to it.
    pub(crate) fn count_share(&mut self, share_clock: f64, now_ms: f64) {
        self.surplus = self.surplus_now(share_clock, now_ms) + 1.0;
        (self.share_mark, self.share_at_ms) = (share_clock, self.share_at_ms.max(now_ms));
    }
}
