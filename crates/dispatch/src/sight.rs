//! Who in the group can be judged by his acknowledgements.

use crate::blind::{LOOK_EVERY, usual_work_ms};
use crate::choose::Crew;
use crate::declaration::Acknowledges;
use crate::index::MemberIndex;
use crate::members::Members;
use crate::signals::Judgement;
use crate::view::Event;

/// When so many members acknowledge on receipt, and a certain share, all who do not report are taken to: consumers of
/// one group mostly run the same code, and who is far looks like work longest, in its jitter, while it is sent ever
/// more. It is over when fewer than so many are left.
const FOUND_MIN: usize = 2;
/// One in so many is enough when their acknowledgements are near nothing by themselves.
const CERTAIN_SHARE: usize = 20;
/// When they are so only beside the others it takes one in so many: a few who are merely faster must not bring down a
/// group.
const FOUND_SHARE: usize = 3;

impl Members {
    /// Whether the acknowledgements of a member still look like work.
    pub(crate) fn judge_sight(&mut self, place: usize, now_ms: f64) {
        if self.acks_until_look == 0 {
            self.acks_until_look = LOOK_EVERY;
            // With nobody left to compare with, what was usual before still counts.
            self.usual_ms = usual_work_ms(&self.signals, &mut self.scratch).unwrap_or(self.usual_ms);
        }
        self.acks_until_look -= 1;
        let (signals, Some(one)) = (&mut self.signals[place], self.members[place].as_mut()) else { return };
        let (had_reported, was_found) = (signals.has_reported, one.blindness.is_blind());
        signals.has_reported &= one.has_report(now_ms);
        if !signals.has_reported && signals.judgement != Judgement::Batch {
            let near_zero_ms = self.parameters.blind_ms.max(self.parameters.blind_share * self.usual_ms);
            one.blindness.judge(near_zero_ms, now_ms);
        }
        let is_found = one.blindness.is_blind() && !was_found;
        if had_reported && !signals.has_reported {
            signals.judgement = one.declared_judgement();
        }
        if had_reported != signals.has_reported || was_found != one.blindness.is_blind() {
            self.recount();
        }
        if is_found {
            self.note_blind(MemberIndex(place as u32));
        }
    }

    /// Counts who is here, and says who is blind. After every join, leave, report and verdict.
    pub(crate) fn recount(&mut self) {
        let here = self.signals.iter().filter(|signals| signals.limit > 0).count();
        self.are_all_blind = self.takes_all_for_blind(here);
        let mut blind = 0;
        for (signals, one) in self.signals.iter_mut().zip(&self.members) {
            let Some(one) = one else { continue };
            let on_receipt = self.are_all_blind
                || one.blindness.is_blind()
                || one.declaration.acknowledges == Acknowledges::Received;
            signals.is_blind = on_receipt && !signals.has_reported && signals.judgement != Judgement::Batch;
            blind += usize::from(signals.is_blind);
        }
        self.crew = Crew { here, blind };
    }

    fn takes_all_for_blind(&self, here: usize) -> bool {
        let blind = || self.members.iter().flatten().map(|one| &one.blindness).filter(|one| one.is_blind());
        let found = blind().count();
        let certain = blind().filter(|one| one.works_less_than(self.parameters.blind_ms)).count();
        let is_certain = certain >= FOUND_MIN && certain * CERTAIN_SHARE >= here;
        let is_common = is_certain || found * FOUND_SHARE >= here;
        found >= FOUND_MIN && (is_common || self.are_all_blind)
    }

    fn note_blind(&mut self, member: MemberIndex) {
        self.counters.blind_members += 1;
        if !self.has_warned {
            self.has_warned = true;
            self.event = Some(Event::AcknowledgesOnReceipt { member });
        }
    }
}
