//! Choices that look at no number: in turn, or at random.

use crate::choose::{Ask, Choose, to_or_wait};
use crate::index::MemberIndex;
use crate::work::Pick;

/// Each member in turn; who cannot have the message loses this turn.
#[derive(Default)]
pub(crate) struct RoundRobin {
    next: usize,
}

impl Choose for RoundRobin {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        let count = ask.signals.len();
        for step in 0..count {
            let at = (self.next + step) % count;
            if ask.signals[at].can_take(ask.now_ms) {
                self.next = at + 1;
                return Pick::To(MemberIndex(at as u32));
            }
        }
        Pick::Wait
    }
}

/// Any member, each as likely.
pub(crate) struct AtRandom;

impl Choose for AtRandom {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        to_or_wait(ask.draw())
    }
}
