//! What a call costs, for the benches: time on the CPU, the best of several runs, because the machine is shared.
//!
//! No room of the broker depends on it.

#![forbid(unsafe_code)]

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Runs of which the best counts.
const RUNS: u32 = 7;

/// Nanoseconds on the CPU per call of `work`, over so many rounds; `work` is given the number of its round.
pub fn best_ns(rounds: u32, mut work: impl FnMut(u32)) -> f64 {
    let run = |_| {
        let start = on_cpu();
        (0..rounds).for_each(&mut work);
        on_cpu().saturating_sub(start)
    };
    let best = (0..RUNS).map(run).min().unwrap_or(Duration::ZERO);
    best.as_nanos() as f64 / f64::from(rounds)
}

/// Time that this thread has spent on a CPU: what the kernel took it off for does not count.
pub fn on_cpu() -> Duration {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(spent.tv_sec.unsigned_abs(), spent.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is only time on the CPU counted, and the right number of calls made?
    #[test]
    fn sleep_costs_nothing() {
        let mut calls = 0;
        let ns = best_ns(2, |_| {
            calls += 1;
            std::thread::sleep(Duration::from_millis(2));
        });
        assert_eq!(calls, 2 * RUNS);
        assert!(ns < 1e6, "{ns} ns for two milliseconds of sleep");
    }
}
