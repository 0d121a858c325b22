//! Choices by what is outstanding alone.

use crate::choose::{Ask, Choose, to_or_wait};
use crate::index::MemberIndex;
use crate::work::Pick;

/// The member with the fewest unacknowledged messages.
pub(crate) struct LeastInflight;

impl Choose for LeastInflight {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        to_or_wait(ask.least(|signals| f64::from(signals.inflight), |_| true).map(|(member, _)| member))
    }
}

/// Two members at random, the one with fewer unacknowledged messages. To compare with: two choices are not stable among
/// members of unequal speed.
pub(crate) struct P2c;

impl Choose for P2c {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        let count = ask.candidates().count();
        if count == 0 {
            return Pick::Wait;
        }
        let first = ask.random.below(count);
        // Another one, if there is another one.
        let step = 1 + ask.random.below(count - 1);
        let second = (first + step) % count;
        let mut best: Option<(u32, usize)> = None;
        for (nth, (at, signals)) in ask.candidates().enumerate() {
            let is_drawn = nth == first || nth == second;
            if is_drawn && best.is_none_or(|(least, _)| signals.inflight < least) {
                best = Some((signals.inflight, at));
            }
        }
        to_or_wait(best.map(|(_, at)| MemberIndex(at as u32)))
    }
}
