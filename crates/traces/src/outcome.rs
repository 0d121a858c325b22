//! What came out.

/// Latencies of one or more replays, from arrival at the broker to the end of the handler.
#[derive(Default)]
pub struct Outcome {
    latencies_ms: Vec<f64>,
    is_sorted: bool,
    /// Critical messages.
    pub critical: usize,
    /// Of them, those that were later than their deadline.
    pub missed: usize,
    /// Messages that were handed out once more.
    pub duplicates: usize,
    /// Members sent away because they had stalled.
    pub kicks: u64,
    /// Times that a member was found to acknowledge on receipt.
    pub blind: u64,
}

/// A critical message later than this is missed.
const DEADLINE_MS: f64 = 250.0;

impl Outcome {
    /// One more message.
    pub fn add(&mut self, latency_ms: f64, is_critical: bool) {
        assert!(latency_ms.is_finite(), "a message was never finished");
        self.latencies_ms.push(latency_ms);
        self.is_sorted = false;
        self.critical += usize::from(is_critical);
        self.missed += usize::from(is_critical && latency_ms > DEADLINE_MS);
    }

    /// What came out of another day besides.
    pub fn merge(&mut self, other: Outcome) {
        self.latencies_ms.extend(other.latencies_ms);
        self.is_sorted = false;
        self.critical += other.critical;
        self.missed += other.missed;
        self.duplicates += other.duplicates;
        self.kicks += other.kicks;
        self.blind += other.blind;
    }

    /// Messages.
    pub fn count(&self) -> usize {
        self.latencies_ms.len()
    }

    /// Mean latency, milliseconds.
    pub fn mean_ms(&self) -> f64 {
        self.latencies_ms.iter().sum::<f64>() / self.latencies_ms.len() as f64
    }

    /// A percentile of the latency, milliseconds. `share`: 0.99 for p99.
    pub fn percentile_ms(&mut self, share: f64) -> f64 {
        if !self.is_sorted {
            self.latencies_ms.sort_unstable_by(f64::total_cmp);
            self.is_sorted = true;
        }
        self.latencies_ms[((self.latencies_ms.len() - 1) as f64 * share) as usize]
    }

    /// Misses per critical message.
    pub fn missed_share(&self) -> f64 {
        self.missed as f64 / self.critical as f64
    }

    /// Messages handed out once more, per message.
    pub fn duplicates_share(&self) -> f64 {
        self.duplicates as f64 / self.latencies_ms.len() as f64
    }
}
