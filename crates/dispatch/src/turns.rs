//! Choices that look at no number: in turn, or at random.

use crate::choose::{Ask, Choose, to_or_wait};
use crate::index::MemberIndex;
use crate::work::Pick;

/// Each member in turn; who cannot have the message loses this turn.
#[derive(Default)]
pub(crate) struct RoundRobin {
    next: usize,
}

impl RoundRobin {
    /// The next member in turn among those that `may` have it.
    pub(crate) fn next_of(&mut self, count: usize, mut may: impl FnMut(usize) -> bool) -> Option<MemberIndex> {
        for step in 0..count {
            let at = (self.next + step) % count;
            if may(at) {
                self.next = at + 1;
                return Some(MemberIndex(at as u32));
            }
        }
        None
    }
}

impl Choose for RoundRobin {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        to_or_wait(self.next_of(ask.signals.len(), |at| ask.signals[at].can_take(ask.now_ms)))
    }
}

/// Any member, each as likely.
pub(crate) struct AtRandom;

impl Choose for AtRandom {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        to_or_wait(ask.draw())
    }
}
