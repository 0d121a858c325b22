//! When keys are fetched, and when they are too old: decided here, without a thread or a clock.

/// As `FetchedKeys` has them, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    pub(super) refresh_ms: u64,
    pub(super) retry_ms: u64,
    pub(super) stale_ms_max: u64,
}

/// What has become of the fetches of one URL.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    tried_ms: Option<u64>,
    fetched_ms: Option<u64>,
    has_failed: bool,
    is_wanted: bool,
    is_stale: bool,
}

/// What the operator is to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    /// For the first time, or again after failures.
    Fetched,
    /// The first failure after a success, or at all.
    Failing,
    /// Keys are given up.
    Stale,
}

impl Schedule {
    /// For other settings, under which the same keys go on being good: asked at once, and as old as they are.
    pub(super) fn anew(self) -> Schedule {
        Schedule { fetched_ms: self.fetched_ms, is_stale: self.is_stale, ..Schedule::default() }
    }

    /// A token names a key that is not known.
    pub(super) fn want(&mut self) {
        self.is_wanted = true;
    }

    /// When to fetch next.
    pub(super) fn due_ms(&self, pace: Pace) -> u64 {
        let Some(tried_ms) = self.tried_ms else { return 0 };
        // Whatever is wanted, however often it fails: the one who is asked has peace for so long.
        let soonest_ms = tried_ms + pace.retry_ms;
        match self.fetched_ms {
            Some(fetched_ms) if !self.has_failed && !self.is_wanted => soonest_ms.max(fetched_ms + pace.refresh_ms),
            _ => soonest_ms,
        }
    }

    /// New keys are there.
    pub(super) fn fetched(&mut self, now_ms: u64) -> Said {
        let said = if self.has_failed || self.tried_ms.is_none() { Said::Fetched } else { Said::Nothing };
        *self = Schedule { tried_ms: Some(now_ms), fetched_ms: Some(now_ms), ..Schedule::default() };
        said
    }

    /// There are none.
    pub(super) fn failed(&mut self, now_ms: u64) -> Said {
        let said = if self.has_failed { Said::Nothing } else { Said::Failing };
        self.tried_ms = Some(now_ms);
        (self.has_failed, self.is_wanted) = (true, false);
        said
    }

    /// Whether the keys are too old from now on.
    pub(super) fn look(&mut self, pace: Pace, now_ms: u64) -> Said {
        let is_stale = self.fetched_ms.is_some_and(|fetched_ms| now_ms >= fetched_ms + pace.stale_ms_max);
        if is_stale && !self.is_stale {
            self.is_stale = true;
            return Said::Stale;
        }
        Said::Nothing
    }

    /// When to look again whether keys are too old.
    pub(super) fn stale_ms(&self, pace: Pace) -> Option<u64> {
        self.fetched_ms.filter(|_| !self.is_stale).map(|fetched_ms| fetched_ms + pace.stale_ms_max)
    }

    /// How old the keys are.
    pub(super) fn age_ms(&self, now_ms: u64) -> u64 {
        self.fetched_ms.map_or(0, |fetched_ms| now_ms.saturating_sub(fetched_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { refresh_ms: 300_000, retry_ms: 30_000, stale_ms_max: 3_600_000 };

    /// Two hours, second by second, with an outage from `down.0` to `down.1` and somebody who always wants new keys, or nobody.
    fn run(down: (u64, u64), wanted: bool) -> (Vec<u64>, Vec<(u64, Said)>) {
        let (mut schedule, mut tries, mut said) = (Schedule::default(), vec![], vec![]);
        for now_ms in (0..7_200_000).step_by(1000) {
            if wanted {
                schedule.want();
            }
            if schedule.due_ms(PACE) <= now_ms {
                tries.push(now_ms);
                let is_down = (down.0..down.1).contains(&now_ms);
                said.push((now_ms, if is_down { schedule.failed(now_ms) } else { schedule.fetched(now_ms) }));
            }
            said.push((now_ms, schedule.look(PACE, now_ms)));
        }
        said.retain(|(_, said)| *said != Said::Nothing);
        (tries, said)
    }

    #[test]
    fn keys_are_fetched_at_once_and_then_at_each_refresh() {
        let (tries, said) = run((0, 0), false);
        assert_eq!(tries[..3], [0, 300_000, 600_000]);
        assert_eq!(said, [(0, Said::Fetched)]);
    }

    /// Does a flood of tokens with keys that do not exist cost the one who is asked no more than a request each half minute?
    #[test]
    fn who_wants_unknown_keys_waits_for_the_next_try() {
        let (tries, _) = run((0, 0), true);
        assert!(tries.windows(2).all(|pair| pair[1] - pair[0] == PACE.retry_ms), "{tries:?}");
    }

    /// Are keys that nobody could renew given up in their time, though settings were changed meanwhile, and is that told once?
    #[test]
    fn other_settings_make_keys_no_younger() {
        let mut schedule = Schedule::default();
        schedule.fetched(0);
        let mut schedule = schedule.anew();
        assert_eq!((schedule.due_ms(PACE), schedule.age_ms(1000)), (0, 1000));
        assert_eq!(schedule.failed(1000), Said::Failing);
        let stale_ms = PACE.stale_ms_max;
        assert_eq!((schedule.look(PACE, stale_ms - 1), schedule.look(PACE, stale_ms)), (Said::Nothing, Said::Stale));
        let mut schedule = schedule.anew();
        assert_eq!(schedule.look(PACE, stale_ms + 1), Said::Nothing);
        assert_eq!(schedule.fetched(stale_ms + 2), Said::Fetched);
        assert_eq!(
            schedule.anew().fetched(stale_ms + 3),
            Said::Fetched,
            "who has changed something hears what came of it"
        );
    }

    #[test]
    fn keys_outlive_an_outage_for_a_time_and_each_turn_is_told_once() {
        let (tries, said) = run((600_000, 1_200_000), false);
        assert_eq!(said, [(0, Said::Fetched), (600_000, Said::Failing), (1_200_000, Said::Fetched)]);
        assert!(tries.contains(&630_000) && tries.contains(&660_000));
        let (_, said) = run((300_000, 6_000_000), false);
        assert_eq!(
            said,
            [(0, Said::Fetched), (300_000, Said::Failing), (3_600_000, Said::Stale), (6_000_000, Said::Fetched)]
        );
        let (_, said) = run((0, 6_000_000), false);
        assert_eq!(said, [(0, Said::Failing), (6_000_000, Said::Fetched)]);
    }
}
