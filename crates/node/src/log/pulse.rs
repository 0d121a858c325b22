//! How long the log thread has been at what it does: so one sees from outside that its disk does not answer.
//!
//! Each turn of its loop writes, syncs or deletes a bounded part, so one that does not end is a call of the disk that does
//! not return. The next segment is made by a thread beside it; while that one is late nothing is acknowledged either.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Written by the log thread, read by whoever looks.
pub(crate) struct Pulse {
    /// What the numbers below are counted from.
    origin: Instant,
    /// With so long a turn the disk has stalled.
    stall: Duration,
    turn: Mark,
    late: Mark,
    stalls: AtomicU64,
    last_stall_us: AtomicU64,
}

/// Since when something has been so: microseconds after the origin, and one; 0: it is not.
#[derive(Default)]
struct Mark(AtomicU64);

impl Mark {
    fn age(&self, now_us: u64) -> Option<Duration> {
        let since = self.0.load(Ordering::Relaxed).checked_sub(1)?;
        Some(Duration::from_micros(now_us.saturating_sub(since)))
    }

    /// Says whether it is so; how long it was, where it ends with this.
    fn set(&self, is_so: bool, now_us: u64) -> Option<Duration> {
        let age = self.age(now_us);
        match (is_so, age) {
            (true, None) => self.0.store(now_us + 1, Ordering::Relaxed),
            (false, Some(_)) => self.0.store(0, Ordering::Relaxed),
            _ => return None,
        }
        age
    }
}

impl Pulse {
    pub(super) fn new(stall: Duration) -> Self {
        Pulse {
            origin: Instant::now(),
            stall,
            turn: Mark::default(),
            late: Mark::default(),
            stalls: AtomicU64::new(0),
            last_stall_us: AtomicU64::new(0),
        }
    }

    /// A turn begins.
    pub(super) fn begin(&self) {
        self.turn.set(true, self.now_us());
    }

    /// It is over: the thread sleeps, or begins another.
    pub(super) fn end(&self) {
        self.over(self.turn.set(false, self.now_us()));
    }

    /// Whether publishers wait for the next segment.
    pub(super) fn set_late(&self, is_late: bool) {
        self.over(self.late.set(is_late, self.now_us()));
    }

    fn over(&self, took: Option<Duration>) {
        if let Some(took) = took.filter(|took| *took >= self.stall) {
            self.last_stall_us.store(took.as_micros() as u64, Ordering::Relaxed);
            // Behind the length: whoever sees one more sees how long it was.
            self.stalls.fetch_add(1, Ordering::Release);
        }
    }

    /// How long the disk has been at what it was asked for last; zero while nothing is asked of it.
    pub(crate) fn age(&self) -> Duration {
        let now_us = self.now_us();
        [&self.turn, &self.late].into_iter().filter_map(|mark| mark.age(now_us)).max().unwrap_or_default()
    }

    /// The same once it is too long.
    pub(crate) fn stalled(&self) -> Option<Duration> {
        Some(self.age()).filter(|age| *age >= self.stall)
    }

    /// How many times it was too long and is over, and how long the last time.
    pub(crate) fn stalls(&self) -> (u64, Duration) {
        let stalls = self.stalls.load(Ordering::Acquire);
        (stalls, Duration::from_micros(self.last_stall_us.load(Ordering::Relaxed)))
    }

    fn now_us(&self) -> u64 {
        self.origin.elapsed().as_micros() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a mark as old as what it was set for first, and is its length told once, at its end?
    #[test]
    fn a_mark_is_as_old_as_its_beginning() {
        let mark = Mark::default();
        assert_eq!((mark.age(5), mark.set(false, 5)), (None, None));
        assert_eq!((mark.set(true, 0), mark.set(true, 7)), (None, None));
        assert_eq!(mark.age(9), Some(Duration::from_micros(9)));
        assert_eq!((mark.set(false, 10), mark.set(false, 11)), (Some(Duration::from_micros(10)), None));
        assert_eq!(mark.age(12), None);
    }

    /// Does what is too long count when it is over, once, and what is not never?
    #[test]
    fn what_was_too_long_counts_once() {
        let strict = Pulse::new(Duration::ZERO);
        assert_eq!((strict.age(), strict.stalls().0), (Duration::ZERO, 0));
        strict.begin();
        assert!(strict.stalled().is_some());
        strict.set_late(true);
        strict.end();
        assert_eq!(strict.stalls().0, 1);
        assert!(strict.stalled().is_some(), "the next segment is still late");
        strict.set_late(false);
        strict.set_late(false);
        assert_eq!((strict.stalls().0, strict.age()), (2, Duration::ZERO));
        let patient = Pulse::new(Duration::from_secs(3600));
        patient.begin();
        assert_eq!(patient.stalled(), None);
        patient.end();
        assert_eq!(patient.stalls().0, 0);
    }
}
