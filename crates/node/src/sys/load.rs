//! A rate per minute, averaged with exponential decay.

/// The spans that are shown: name, and length in milliseconds.
const SPANS: [(&str, f64); 3] = [("1min", 60_000.0), ("5min", 300_000.0), ("15min", 900_000.0)];

/// One growing number's rate over each span.
#[derive(Clone, Debug, Default)]
pub(super) struct Load {
    before: u64,
    per_minute: [f64; SPANS.len()],
}

impl Load {
    /// The number is `total` now, `passed_ms` after the last call; 0: it is looked at for the first time.
    pub(super) fn advance(&mut self, total: u64, passed_ms: u64) {
        let grown = total.saturating_sub(std::mem::replace(&mut self.before, total));
        if passed_ms == 0 {
            return;
        }
        let rate = grown as f64 * 60_000.0 / passed_ms as f64;
        for (average, (_, span_ms)) in self.per_minute.iter_mut().zip(SPANS) {
            let kept = (-(passed_ms as f64) / span_ms).exp();
            *average = rate + kept * (*average - rate);
        }
    }

    /// Each span's name with its rate.
    pub(super) fn per_minute(&self) -> impl Iterator<Item = (&'static str, f64)> {
        SPANS.iter().zip(self.per_minute).map(|((name, _), rate)| (*name, rate))
    }
}
