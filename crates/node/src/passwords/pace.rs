//! How fast refusals go out to one address, or for one name: a few at once, then so many a second, and no faster.

use crate::config::GuessesConfig;

/// Refusals that go out at once: who mistypes does not wait.
const AT_ONCE: u64 = 8;

/// When the next refusal is due (a leaky bucket that knows only its own level).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// Up to then the rate is spoken for.
    until_ms: u64,
}

impl Pace {
    /// One more refusal; how long it waits: the longer the more there were, up to the setting's end.
    pub(crate) fn wait_ms(&mut self, settings: &GuessesConfig, now_ms: u64) -> u64 {
        let gap_ms = 1000 / u64::from(settings.refusals_per_s.max(1));
        let spare_ms = AT_ONCE * gap_ms;
        let latest_ms = now_ms + settings.delay_ms_max + spare_ms;
        self.until_ms = (self.until_ms.max(now_ms) + gap_ms).min(latest_ms);
        (self.until_ms - now_ms).saturating_sub(spare_ms)
    }

    /// Nothing is owed any more: it may be forgotten.
    pub(crate) fn is_free(self, now_ms: u64) -> bool {
        self.until_ms <= now_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are the first answered at once, later ones ever later, never later than the setting, and is it over some day?
    #[test]
    fn it_grows_and_ends() {
        let settings = GuessesConfig { refusals_per_s: 4, delay_ms_max: 5_000, ..GuessesConfig::default() };
        let mut pace = Pace::default();
        let waits: Vec<u64> = (0..100).map(|_| pace.wait_ms(&settings, 1_000)).collect();
        assert_eq!(waits[..10], [0, 0, 0, 0, 0, 0, 0, 0, 250, 500]);
        assert!(waits.is_sorted() && waits[99] == 5_000);
        assert!(!pace.is_free(1_000) && pace.is_free(1_000 + 5_000 + 2_000));
        assert_eq!(pace.wait_ms(&settings, 60_000), 0);
        let off = GuessesConfig { delay_ms_max: 0, ..settings };
        let mut pace = Pace::default();
        assert!((0..100).all(|_| pace.wait_ms(&off, 0) == 0), "0: nobody waits");
    }
}
