//! The default: each member by the rule that its acknowledgements allow, compared in expected milliseconds.

use crate::choose::{Ask, Choose, to_or_wait};
use crate::index::MemberIndex;
use crate::parameters::Parameters;
use crate::signals::{Judgement, Signals};
use crate::time::NEVER_MS;
use crate::work::{Pick, Work};
use crate::{c3, lef};

/// LEF for members whose acknowledgements or reports say when they finish, C3 for those that declare nothing, least
/// inflight for those that take batches, and a fair share, counted from before that was known, for those that
/// acknowledge on receipt: with only such members, round robin.
pub(crate) struct Auto {
    /// The group's setting says that everybody acknowledges when finished (`lef`).
    everybody_processes: bool,
}

impl Auto {
    /// By what each member declares.
    pub(crate) fn declared() -> Auto {
        Auto { everybody_processes: false }
    }

    /// LEF for everybody.
    pub(crate) fn lef() -> Auto {
        Auto { everybody_processes: true }
    }

    /// The cost of sending the message to this member, in milliseconds; `bound_ms` as for [`lef::score_ms`].
    pub(crate) fn score_ms(
        &self,
        one: &Signals,
        work: &Work,
        now_ms: f64,
        parameters: &Parameters,
        bound_ms: f64,
    ) -> f64 {
        match self.judgement(one) {
            Judgement::Finish => lef::score_ms(one, work.is_critical, now_ms, parameters, bound_ms),
            Judgement::Response => c3::score_ms(one),
            Judgement::Batch => one.net_ms() + (f64::from(one.inflight) + 1.0) * one.service_ms,
        }
    }

    /// Whether one more message may be bound to it. Members of which it is not known how many they work on at a time
    /// are bounded by their Receive Maximum alone: a window would starve a client with sixteen threads.
    pub(crate) fn admits(
        &self,
        signals: &Signals,
        work: &Work,
        share: f64,
        now_ms: f64,
        parameters: &Parameters,
    ) -> bool {
        match self.judgement(signals) {
            Judgement::Finish => lef::is_eligible(signals, work, share, now_ms, parameters),
            Judgement::Response | Judgement::Batch => true,
        }
    }

    fn judgement(&self, signals: &Signals) -> Judgement {
        match signals.judgement {
            Judgement::Response if self.everybody_processes => Judgement::Finish,
            judgement => judgement,
        }
    }

    /// The sighted member with the least cost.
    fn sighted(&self, ask: &mut Ask<'_>) -> Option<MemberIndex> {
        let (now_ms, work, parameters) = (ask.now_ms, ask.work, ask.parameters);
        let share = ask.share();
        let found = ask.least(
            |signals, bound_ms| self.score_ms(signals, work, now_ms, parameters, bound_ms),
            |signals| !signals.is_blind && self.admits(signals, work, share, now_ms, parameters),
        );
        found.map(|(member, _)| self.among_batches(ask, member))
    }

    /// Members that take batches are chosen among each other by what they have.
    fn among_batches(&self, ask: &mut Ask<'_>, found: MemberIndex) -> MemberIndex {
        if ask.signals[found.slot()].judgement != Judgement::Batch {
            return found;
        }
        let least = ask.least(|one, _| f64::from(one.inflight), |one| one.judgement == Judgement::Batch);
        least.map_or(found, |(member, _)| member)
    }

    /// Of those that acknowledge on receipt, the one that is owed most.
    fn blind(&self, ask: &Ask<'_>) -> Option<(MemberIndex, f64)> {
        let blind = ask.candidates().filter(|(_, one)| one.is_blind);
        let owed = blind.map(|(at, one)| (MemberIndex(at as u32), -one.surplus_now(ask.share_clock, ask.now_ms)));
        owed.max_by(|one, other| one.1.total_cmp(&other.1))
    }
}

impl Choose for Auto {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        // Critical work does not go where nobody knows when it is finished, as long as there is somebody else.
        if ask.crew.blind > 0
            && !ask.work.is_critical
            && let Some((member, _)) = self.blind(ask).filter(|&(_, owed)| owed > 0.0)
        {
            return Pick::To(member);
        }
        if let Some(member) = self.sighted(ask) {
            return Pick::To(member);
        }
        // Sighted members that are only busy are waited for; that they are so is what dispatch is there to know.
        let waits = ask.signals.iter().any(|one| is_awaited(one, ask.now_ms, ask.parameters));
        if waits { Pick::Wait } else { to_or_wait(self.blind(ask).map(|(member, _)| member)) }
    }
}

/// Whether a sighted member that may not have the message now is worth waiting for: it is here, and not overdue by so much that
/// nobody can say when it will have room. Otherwise a single one that is silent would stop the group for those that are not
/// waited for.
fn is_awaited(one: &Signals, now_ms: f64, parameters: &Parameters) -> bool {
    if one.is_blind || one.limit == 0 || now_ms < one.opens_at_ms {
        return false;
    }
    // Of who reports it is known when it will be free, not when its oldest message is due.
    let due_ms = if one.head_due_ms < NEVER_MS { one.head_due_ms } else { one.free_at_ms + one.net_ms() };
    now_ms - due_ms <= parameters.stall_factor * one.service_ms
}
