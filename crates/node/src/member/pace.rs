//! When what the shards hand over becomes entries: while a round is under way it gathers, as it does for a disk that syncs.

use std::time::{Duration, Instant};

use crate::mailbox::Bell;

/// So long what gathers waits for the round before it, at most: where others are far away, or a disk is slow, rounds overlap.
const PAUSE_MAX: Duration = Duration::from_millis(2);

/// Each round costs turns, frames and a sync of every member, however little is in it: one at a time, while they are quick, leaves
/// the cores to whoever has to be quick.
pub(super) struct Pace {
    /// What shards ring. Apart from the thread's other bell: nobody needs to be woken for what may not be taken yet.
    bell: Bell,
    last: Option<Instant>,
    /// Nothing but time keeps what gathers from being looked at.
    waits: bool,
}

impl Pace {
    /// Of a thread with this bell, of which nothing was taken yet.
    pub(super) fn new(bell: &Bell) -> Pace {
        Pace { bell: bell.another(), last: None, waits: false }
    }

    /// What shards ring.
    pub(super) fn bell(&self) -> Bell {
        self.bell.clone()
    }

    /// Whether the shards may be looked at now; where not, they ring for nobody until it is asked again. `is_full`: nothing more
    /// is to be taken, however long that lasts.
    pub(super) fn opens(&mut self, is_under_way: bool, is_full: bool, now: Instant) -> bool {
        let is_due = self.last.is_none_or(|last| now >= last + PAUSE_MAX);
        let is_open = !is_full && (!is_under_way || is_due);
        if is_open {
            self.bell.prepare();
        }
        self.waits = !is_open && !is_full;
        is_open
    }

    /// Something was taken.
    pub(super) fn took(&mut self, now: Instant) {
        self.last = Some(now);
    }

    /// The thread is awake; how long it slept was not theirs to say.
    pub(super) fn awake(&self) {
        self.bell.awake();
    }

    /// How long the thread may sleep, of `pause`: what gathers has to be looked at in time.
    pub(super) fn within(&self, pause: Duration, now: Instant) -> Duration {
        match self.last {
            Some(last) if self.waits => pause.min((last + PAUSE_MAX).saturating_duration_since(now)),
            _ => pause,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mailbox::Wake;

    struct Nobody;
    impl Wake for Nobody {
        fn wake(&self) {}
    }

    /// Is what comes while a round is under way taken when that is done, and after the pause at the latest?
    #[test]
    fn a_round_is_waited_for_and_not_for_long() {
        let (begin, tick) = (Instant::now(), Duration::from_secs(1));
        let mut pace = Pace::new(&Bell::new(Nobody));
        assert!(pace.opens(true, false, begin), "nothing was taken yet");
        pace.took(begin);
        assert!(pace.opens(false, false, begin));
        assert_eq!(pace.within(tick, begin), tick, "whoever has something rings");
        assert!(!pace.opens(true, false, begin));
        assert_eq!(pace.within(tick, begin), PAUSE_MAX);
        assert_eq!(pace.within(tick, begin + PAUSE_MAX * 2), Duration::ZERO);
        assert!(pace.opens(true, false, begin + PAUSE_MAX));
        assert!(!pace.opens(true, true, begin + PAUSE_MAX * 2), "there is no room");
        assert_eq!(pace.within(tick, begin + PAUSE_MAX * 2), tick, "room is made by others");
    }
}
