//! Members that are passed over: who refuses what it gets, and for one message who cannot have it.
//!
//! A refusal tells nothing of speed, and ends its message for good: whoever refuses at once would look idle and draw all.
//! So each refusal in a row keeps its member from the next message twice as long, as long as another one is there for it.

use crate::index::MemberIndex;
use crate::members::Members;
use crate::time::{NEVER_MS, ms};

/// The first refusal costs this wait, each further one in a row twice as much.
const HOLD_MS_MIN: f64 = 10.0;
const HOLD_MS_MAX: f64 = 5_000.0;
/// Who has refused so many in a row gets one message at a time.
const ONE_AT_A_TIME: u32 = 2;

/// The refusals of one member since it last acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Refusals {
    in_a_row: u32,
    until_ms: f64,
}

impl Refusals {
    fn add(&mut self, now_ms: f64) {
        self.until_ms = now_ms + (HOLD_MS_MIN * 2_f64.powi(self.in_a_row.min(30) as i32)).min(HOLD_MS_MAX);
        self.in_a_row = self.in_a_row.saturating_add(1);
    }

    fn holds(self, inflight: u32, now_ms: f64) -> bool {
        self.in_a_row > 0 && (now_ms < self.until_ms || inflight > 0 && self.in_a_row >= ONE_AT_A_TIME)
    }
}

impl Members {
    /// A member has refused a message for good, or cannot have it: it ends there, or goes to another one. Nothing is learnt
    /// of its speed, but others are preferred to it for a while. Returns whether it had the message.
    pub fn refused(&mut self, member: MemberIndex, ticket: crate::index::Ticket, now_us: u64) -> bool {
        if !self.withdrawn(member, ticket, now_us) {
            return false;
        }
        if let Some(one) = self.members.get_mut(member.slot()).and_then(Option::as_mut) {
            one.refusals.add(ms(now_us));
        }
        if !self.refusing.contains(&member) {
            self.refusing.push(member);
        }
        true
    }

    /// It has acknowledged, or has left: what it refused before is forgotten.
    pub(crate) fn forgive(&mut self, member: MemberIndex) {
        if self.refusing.is_empty() {
            return;
        }
        self.refusing.retain(|other| *other != member);
        if let Some(one) = self.members.get_mut(member.slot()).and_then(Option::as_mut) {
            one.refusals = Refusals::default();
        }
    }

    /// Closes, for one question, who is not to be asked; [`Members::reopen`] undoes it.
    pub(crate) fn close(&mut self, unable: &[MemberIndex], now_ms: f64) {
        if self.refusing.is_empty() && unable.is_empty() {
            return;
        }
        let mut closed = std::mem::take(&mut self.closed);
        let held = self.refusing.iter().filter(|member| self.is_held(member.slot(), unable, now_ms));
        let opens = |member: &MemberIndex| Some((*member, self.signals.get(member.slot())?.opens_at_ms));
        closed.extend(held.chain(unable).filter_map(opens));
        for (member, _) in &closed {
            self.signals[member.slot()].opens_at_ms = NEVER_MS;
        }
        self.closed = closed;
    }

    pub(crate) fn reopen(&mut self) {
        while let Some((member, opens_at_ms)) = self.closed.pop() {
            self.signals[member.slot()].opens_at_ms = opens_at_ms;
        }
    }

    /// Whether somebody is passed over for what it has refused. `unable`: who cannot have the message in question.
    pub(crate) fn is_held(&self, place: usize, unable: &[MemberIndex], now_ms: f64) -> bool {
        let holds = |place: usize| {
            let inflight = self.signals[place].inflight;
            self.members[place].as_ref().is_some_and(|one| one.refusals.holds(inflight, now_ms))
        };
        let is_there = |at: usize| {
            let signals = &self.signals[at];
            let is_open = signals.limit > 0 && now_ms >= signals.opens_at_ms;
            is_open && !holds(at) && !unable.iter().any(|member| member.slot() == at)
        };
        holds(place) && (0..self.signals.len()).any(is_there)
    }

    /// When the first of them may have a message again.
    pub(crate) fn next_forgiven_ms(&self, now_ms: f64) -> Option<f64> {
        let members = self.refusing.iter().filter_map(|member| self.members[member.slot()].as_ref());
        let ends = members.map(|one| one.refusals.until_ms).filter(|&until_ms| until_ms > now_ms);
        ends.min_by(f64::total_cmp)
    }
}
