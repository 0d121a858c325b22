//! The default: each member by the rule that its acknowledgements allow, compared in expected milliseconds.

use crate::choose::{Ask, Choose, Crew, to_or_wait};
use crate::index::MemberIndex;
use crate::parameters::Parameters;
use crate::signals::{Judgement, Signals};
use crate::turns::RoundRobin;
use crate::work::{Pick, Work};
use crate::{c3, lef};

/// LEF for members whose acknowledgements or reports say when they finish, C3 for those that declare nothing, least
/// inflight for those that take batches, and a fair turn for those that acknowledge on receipt: with only such members,
/// round robin.
pub(crate) struct Auto {
    /// The group's setting says that everybody acknowledges when finished (`lef`).
    everybody_processes: bool,
    turns: RoundRobin,
    /// Messages owed to members that acknowledge on receipt.
    owed: f64,
}

impl Auto {
    /// By what each member declares.
    pub(crate) fn declared() -> Auto {
        Auto { everybody_processes: false, turns: RoundRobin::default(), owed: 0.0 }
    }

    /// LEF for everybody.
    pub(crate) fn lef() -> Auto {
        Auto { everybody_processes: true, ..Auto::declared() }
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

    fn blind(&mut self, ask: &Ask<'_>) -> Option<MemberIndex> {
        let may = |at: usize| ask.signals[at].is_blind && ask.signals[at].can_take(ask.now_ms);
        self.turns.next_of(ask.signals.len(), may)
    }
}

impl Choose for Auto {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        // Critical work does not go where nobody knows when it is finished, as long as there is somebody else.
        if self.owed >= 1.0 && !ask.work.is_critical {
            if let Some(member) = self.blind(ask) {
                return Pick::To(member);
            }
        }
        if let Some(member) = self.sighted(ask) {
            return Pick::To(member);
        }
        // Sighted members that are only busy are waited for; that they are so is what dispatch is there to know.
        let waits = ask.signals.iter().any(|one| !one.is_blind && one.limit > 0 && ask.now_ms >= one.opens_at_ms);
        if waits { Pick::Wait } else { to_or_wait(self.blind(ask)) }
    }

    fn sent(&mut self, _member: MemberIndex, work: &Work, is_blind: bool, crew: Crew) {
        if work.is_unacknowledged || crew.blind == 0 {
            return;
        }
        let blind = crew.blind as f64;
        let had = if is_blind { 1.0 } else { 0.0 };
        self.owed = (self.owed + blind / crew.here.max(1) as f64 - had).clamp(0.0, blind);
    }
}
