//! What the owner of a group asks about its members besides whom to choose.

use crate::choose::Crew;
use crate::deferred::Deferral;
use crate::index::MemberIndex;
use crate::member::Member;
use crate::members::Members;
use crate::signals::{Signals, UNKNOWN_SERVICE_MS};
use crate::time::{ms, us};
use crate::view::{Counters, Event, MemberView};

impl Members {
    /// Members whose oldest message is overdue by more than the group's setting, or by the longer time that who has stalled
    /// lately is given: send them away, then call
    /// `leave(member, Leaving::Stalled, ..)` and hand their messages on.
    pub fn stalled(&self, now_us: u64) -> impl Iterator<Item = MemberIndex> {
        let now_ms = ms(now_us);
        let places = self.members.iter().zip(&self.signals).enumerate();
        places.filter_map(move |(place, (one, signals))| {
            let one = one.as_ref()?;
            let bound_ms =
                self.stall_bound_ms(signals.service_ms).max(one.probation.patience() * self.first_bound_ms());
            let is_stalled = self.parameters.stall_ms > 0.0 && overdue_ms(one, signals, now_ms) > bound_ms;
            is_stalled.then_some(MemberIndex(place as u32))
        })
    }

    /// By how much a member may be overdue whose work takes so long, milliseconds.
    fn stall_bound_ms(&self, service_ms: f64) -> f64 {
        self.parameters.stall_ms.max(self.parameters.stall_factor * service_ms)
    }

    /// The same for one of whom nothing is known yet.
    pub(crate) fn first_bound_ms(&self) -> f64 {
        self.stall_bound_ms(UNKNOWN_SERVICE_MS)
    }

    /// How often a client has stalled without having acknowledged well since.
    pub fn stalls_in_a_row(&self, identity: u64) -> u32 {
        self.stalls.in_a_row(identity)
    }

    /// When to ask for what waits although nothing comes: a member that gets nothing for now (paused, back from a
    /// stall, or passed over for what it refused) opens again, or a strategy that answers later has had its time. None: never.
    pub fn next_turn_us(&self, now_us: u64) -> Option<u64> {
        let now_ms = ms(now_us);
        let opens = self.signals.iter().filter(|signals| signals.limit > 0 && signals.opens_at_ms > now_ms);
        let due = self.deferral().and_then(|deferral| deferral.next_turn_ms);
        let opens = opens.map(|signals| signals.opens_at_ms).chain(self.next_forgiven_ms(now_ms));
        opens.chain(due).min_by(f64::total_cmp).map(us)
    }

    /// What a strategy that answers later wants of the owner; None: it answers at once.
    pub fn deferral(&self) -> Option<Deferral> {
        self.chooser.deferral()
    }

    /// What an operator sees of a member; None where nobody is.
    pub fn view(&self, member: MemberIndex, now_us: u64) -> Option<MemberView> {
        let now_ms = ms(now_us);
        let (one, signals) = (self.members.get(member.slot())?.as_ref()?, &self.signals[member.slot()]);
        let wait_ms = (signals.free_at_ms - now_ms).max(0.0);
        let expected = wait_ms / signals.service_ms * f64::from(signals.workers);
        Some(MemberView {
            rtt_ms: signals.rtt_ms,
            service_ms: signals.service_ms,
            queue: if one.has_report(now_ms) { f64::from(signals.reported_queue) } else { expected },
            inflight: signals.inflight,
            limit: signals.limit,
            picks: one.picks,
            acknowledged: one.acknowledged,
            overdue_ms: (now_ms - signals.head_due_ms).max(0.0),
            is_blind: signals.is_blind,
            is_closed: now_ms < signals.opens_at_ms || self.is_held(member.slot(), &[], now_ms),
        })
    }

    /// Seconds of work that wait: what is queued and what members have, over what they finish together. None: nobody is
    /// here to finish it.
    ///
    /// `queued`: messages in the group's queue.
    pub fn backlog_s(&self, queued: usize) -> Option<f64> {
        let here = || self.signals.iter().filter(|signals| signals.limit > 0);
        let per_ms: f64 = here().map(|signals| f64::from(signals.workers) / signals.service_ms).sum();
        let inflight: f64 = here().map(|signals| f64::from(signals.inflight)).sum();
        (per_ms > 0.0).then(|| (queued as f64 + inflight) / per_ms / 1e3)
    }

    /// Who is here.
    pub fn crew(&self) -> Crew {
        self.crew
    }

    /// What was counted since the group began.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What somebody should know, once.
    pub fn take_event(&mut self) -> Option<Event> {
        self.event.take()
    }
}

/// By how much a member is overdue. Who reports is heard by its reports: long work declares itself so. It is overdue
/// when it has work and was silent beyond what it said the work takes.
fn overdue_ms(one: &Member, signals: &Signals, now_ms: f64) -> f64 {
    if one.flight.open() == 0 {
        return 0.0;
    }
    if one.has_report(now_ms) {
        let due_ms = one.heard_at_ms.max(signals.free_at_ms + signals.net_ms());
        return now_ms - due_ms;
    }
    // Any word of its own is a sign of life, that it has crossed a watermark too.
    now_ms - signals.head_due_ms.max(one.said_at_ms)
}
