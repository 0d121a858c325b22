//! Latency histograms: recorded in nanoseconds, reported in microseconds, exact to three digits.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The longest latency told apart, in nanoseconds: ten minutes. What is longer counts as this.
const LATENCY_NS_MAX: u64 = 600_000_000_000;

/// A histogram of latencies.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

/// Percentiles of a histogram, in microseconds; all 0 when nothing was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// How many values were recorded.
    pub count: u64,
    /// Mean, in microseconds.
    pub mean: f64,
    /// Smallest value, in microseconds.
    pub min: f64,
    /// Half of the values are at most this, in microseconds.
    pub p50: f64,
    /// 90 %, in microseconds.
    pub p90: f64,
    /// 99 %, in microseconds.
    pub p99: f64,
    /// 99.9 %, in microseconds.
    pub p999: f64,
    /// Largest value, in microseconds.
    pub max: f64,
}

impl Default for Latencies {
    fn default() -> Self {
        // The bounds are constants that the crate accepts: low >= 1, high >= 2 * low, digits <= 5.
        Self(Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3).expect("constant bounds are valid"))
    }
}

impl Latencies {
    /// Records one latency.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.0.saturating_record(latency_ns);
    }

    /// Adds all values of `other`.
    pub fn add(&mut self, other: &Self) {
        // Both have the same bounds, so no value of one can lie outside the other.
        self.0.add(&other.0).expect("equal bounds");
    }

    /// How many values were recorded.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The percentiles, in microseconds.
    pub fn percentiles(&self) -> Percentiles {
        if self.0.is_empty() {
            return Percentiles::default();
        }
        let at = |quantile| us(self.0.value_at_quantile(quantile));
        Percentiles {
            count: self.0.len(),
            mean: (self.0.mean() / 100.0).round() / 10.0,
            min: us(self.0.min()),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: us(self.0.max()),
        }
    }
}

/// Microseconds with one decimal: below 100 ns there is nothing to see over a socket.
fn us(ns: u64) -> f64 {
    (ns as f64 / 100.0).round() / 10.0
}

/// Latencies cross process borders as pairs (value, count): only what was recorded.
impl Serialize for Latencies {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())))
    }
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pairs = Vec::<(u64, u64)>::deserialize(deserializer)?;
        let mut latencies = Self::default();
        for (value, count) in pairs {
            latencies.0.saturating_record_n(value, count);
        }
        Ok(latencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are percentiles right, in microseconds, to three digits?
    #[test]
    fn percentiles_in_microseconds() {
        let mut latencies = Latencies::default();
        (1..=1000u64).for_each(|us| latencies.record(us * 1000));
        let p = latencies.percentiles();
        assert_eq!((p.count, p.min), (1000, 1.0));
        for (got, expected) in [(p.p50, 500.0), (p.p90, 900.0), (p.p99, 990.0), (p.p999, 999.0), (p.max, 1000.0)] {
            assert!((got / expected - 1.0).abs() < 2e-3, "{got} is not {expected}");
        }
    }

    /// Does a histogram survive the way to another process, and does adding add?
    #[test]
    fn crosses_processes() -> Result<(), serde_json::Error> {
        let mut latencies = Latencies::default();
        [5, 5_000, 5_000_000, u64::MAX].into_iter().for_each(|ns| latencies.record(ns));
        let mut other: Latencies = serde_json::from_str(&serde_json::to_string(&latencies)?)?;
        let (before, after) = (latencies.percentiles(), other.percentiles());
        assert_eq!((before.p50, before.max, before.count), (after.p50, after.max, after.count));
        other.add(&latencies);
        assert_eq!(other.count(), 8);
        Ok(())
    }

    /// Is an empty histogram plain zeros, not garbage?
    #[test]
    fn empty() {
        assert_eq!(Latencies::default().percentiles(), Percentiles::default());
    }
}
