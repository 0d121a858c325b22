//! Choices by what is outstanding alone.

use crate::choose::{Ask, Choose, to_or_wait};
use crate::index::MemberIndex;
use crate::work::Pick;

/// The member with the fewest unacknowledged messages.
pub(crate) struct LeastInflight;

impl Choose for LeastInflight {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        to_or_wait(ask.least(|signals, _| f64::from(signals.inflight), |_| true).map(|(member, _)| member))
    }
}

/// Two members at random, the one with fewer unacknowledged messages. To compare with: two choices are not stable among
/// members of unequal speed.
pub(crate) struct P2c;

impl Choose for P2c {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        let Some(first) = ask.draw() else { return Pick::Wait };
        // Another one, as long as there is another one.
        let second = (0..8).filter_map(|_| ask.draw()).find(|&second| second != first).unwrap_or(first);
        let inflight = |member: MemberIndex| ask.signals[member.slot()].inflight;
        Pick::To(if inflight(second) < inflight(first) { second } else { first })
    }
}
