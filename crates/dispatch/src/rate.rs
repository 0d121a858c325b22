//! How fast the group hands out messages.

const WINDOW_MS: f64 = 1000.0;

/// Messages per millisecond, smoothed over a second, right from the second message on: a smoothed rate that starts at
/// nothing would keep the first members from work for seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    weight: f64,
    seen: f64,
    at_ms: f64,
    has_begun: bool,
}

impl Rate {
    pub(crate) fn count(&mut self, now_ms: f64) {
        if !self.has_begun {
            *self = Rate { weight: 0.0, seen: 0.0, at_ms: now_ms, has_begun: true };
        }
        let elapsed_ms = (now_ms - self.at_ms).max(0.0);
        let kept = (-elapsed_ms / WINDOW_MS).exp();
        self.weight = self.weight * kept + 1.0 / WINDOW_MS;
        // The share of the window that was seen at all.
        self.seen = self.seen * kept + (1.0 - kept);
        self.at_ms = self.at_ms.max(now_ms);
    }

    /// Time between two messages, milliseconds; `most_ms` while there is too little to tell.
    pub(crate) fn interval_ms(&self, most_ms: f64) -> f64 {
        if self.weight <= 0.0 { most_ms } else { (self.seen / self.weight).min(most_ms) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_right_early_and_late() {
        let mut rate = Rate::default();
        assert_eq!(rate.interval_ms(50.0), 50.0);
        for n in 0..5000 {
            rate.count(f64::from(n) * 2.0);
            let early_ms = if n < 9 { 0.0 } else { 1.7 };
            assert!((early_ms..2.05).contains(&rate.interval_ms(50.0)), "{n}: {}", rate.interval_ms(50.0));
        }
        rate.count(1e7);
        assert_eq!(rate.interval_ms(50.0), 50.0);
    }
}
