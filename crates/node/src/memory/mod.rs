//! The memory of the whole node: what each shard holds for clients, added up, against two marks.
//!
//! Rules:
//! - Each shard keeps its own account and publishes it once per turn; whoever looks adds the accounts up. It is an account
//!   of what clients can make grow, not of the process: code, threads and what the allocator keeps are not in it, hence
//!   the distance between the marks and what the process may have.
//! - Above `memory_high_bytes` new connections and QoS 0 messages are refused. Above `memory_max_bytes` nothing more is
//!   kept for a client that does not take it, and no large packet is read on. Acknowledgements, and what is under way to
//!   clients that take it, go on: only that frees memory.
//! - A state is left at seven eighths of its mark, so that it does not flap.

mod account;
mod available;
mod beyond;

use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};

pub(crate) use account::{Account, Part};
use available::Available;
pub use beyond::memory_notices;

use crate::config::Limits;
use crate::metrics::Metric;

/// How much is taken.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pressure {
    /// There is room.
    #[default]
    Normal = 0,
    /// Above `memory_high_bytes`.
    High = 1,
    /// Above `memory_max_bytes`.
    Full = 2,
}

impl Pressure {
    fn from_u8(value: u8) -> Self {
        match value {
            0 => Pressure::Normal,
            1 => Pressure::High,
            _ => Pressure::Full,
        }
    }

    /// The state that `bytes` lead to from this one.
    fn next(self, bytes: u64, marks: Marks) -> Pressure {
        let left = |mark: u64| mark - mark / 8;
        let is_full = bytes > marks.max || (self == Pressure::Full && bytes > left(marks.max));
        let is_high = bytes > marks.high || (self >= Pressure::High && bytes > left(marks.high));
        match (is_full, is_high) {
            (true, _) => Pressure::Full,
            (false, true) => Pressure::High,
            (false, false) => Pressure::Normal,
        }
    }
}

/// Bytes at which the states begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    high: u64,
    max: u64,
}

impl Marks {
    fn new(limits: &Limits, available: Available) -> Self {
        let high = match limits.memory_high_bytes {
            0 => available.three_quarters(),
            high => high,
        };
        let max = match limits.memory_max_bytes {
            0 => high.saturating_add(high / 6),
            max => max,
        };
        Marks { high: high.min(max), max }
    }
}

/// One per node; written by every shard, each in its own place.
pub(crate) struct Memory {
    marks: Marks,
    accounts: Box<[Account]>,
    /// Held outside of all shards; written by whoever takes and gives back.
    reads: AtomicI64,
    pressure: AtomicU8,
    /// Times that each state was entered from below.
    entered_high: AtomicU64,
    entered_full: AtomicU64,
    peak: AtomicU64,
}

impl Memory {
    pub(crate) fn new(limits: &Limits, shards: usize) -> Self {
        Self::with_marks(Marks::new(limits, Available::found()), shards)
    }

    fn with_marks(marks: Marks, shards: usize) -> Self {
        Memory {
            marks,
            accounts: (0..shards).map(|_| Account::default()).collect(),
            reads: AtomicI64::new(0),
            pressure: AtomicU8::new(Pressure::Normal as u8),
            entered_high: AtomicU64::new(0),
            entered_full: AtomicU64::new(0),
            peak: AtomicU64::new(0),
        }
    }

    /// The first mark in force, in bytes.
    pub(crate) fn high_bytes(&self) -> u64 {
        self.marks.high
    }

    /// The account of one shard; only that shard writes it.
    pub(crate) fn account(&self, shard: usize) -> &Account {
        &self.accounts[shard]
    }

    /// Answers of stream reads take up so many bytes more, or less.
    pub(crate) fn hold_reads(&self, bytes: i64) {
        self.reads.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether memory is above `memory_high_bytes` now; shards that sleep have not looked.
    pub(crate) fn is_high(&self) -> bool {
        self.bytes() > self.marks.high
    }

    /// Whether new connections are refused, as shards have found at their last turn, within a second: not before there is some
    /// room below the mark they are let in again.
    pub(crate) fn refuses_connections(&self) -> bool {
        Pressure::from_u8(self.pressure.load(Ordering::Relaxed)) >= Pressure::High
    }

    /// Adds everything up; returns the state, and what the operator should hear when this call has changed it.
    pub(crate) fn look(&self) -> (Pressure, Option<String>) {
        let bytes = self.bytes();
        if bytes > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(bytes, Ordering::Relaxed);
        }
        let before = self.pressure.load(Ordering::Relaxed);
        let now = Pressure::from_u8(before).next(bytes, self.marks);
        if now as u8 == before {
            return (now, None);
        }
        // Of several shards that see the change, one makes it.
        let is_mine = self.pressure.compare_exchange(before, now as u8, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        (now, is_mine.then(|| self.entered(Pressure::from_u8(before), now, bytes)))
    }

    fn entered(&self, before: Pressure, now: Pressure, bytes: u64) -> String {
        if before < Pressure::High && now >= Pressure::High {
            self.entered_high.fetch_add(1, Ordering::Relaxed);
        }
        if before < Pressure::Full && now == Pressure::Full {
            self.entered_full.fetch_add(1, Ordering::Relaxed);
        }
        let Marks { high, max } = self.marks;
        match now {
            Pressure::Normal => {
                format!("memory of clients and messages is down to {bytes} bytes: everybody is served again")
            }
            Pressure::High => format!(
                "memory of clients and messages is {bytes} bytes, memory_high_bytes = {high}: new connections and QoS 0 \
                 messages are refused; see lapwing_memory_bytes for who holds it, or raise the mark"
            ),
            Pressure::Full => format!(
                "memory of clients and messages is {bytes} bytes, memory_max_bytes = {max}: nothing more is kept for \
                 clients that do not take it; see lapwing_memory_bytes for who holds it, or raise the mark"
            ),
        }
    }

    /// Bytes of messages that somebody keeps.
    pub(crate) fn message_bytes(&self) -> u64 {
        let sum: i64 = self.accounts.iter().map(|account| account.get(Part::Messages)).sum();
        u64::try_from(sum).unwrap_or(0)
    }

    /// The most that a look has seen.
    pub(crate) fn bytes_peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// The whole account, as it was published last.
    pub(crate) fn bytes(&self) -> u64 {
        let sum: i64 = self.accounts.iter().map(Account::sum).sum();
        // A message may be freed by another thread than the one that made it: single accounts may be negative, and so
        // may be the sum for an instant.
        u64::try_from(sum + self.reads.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Bytes by what they are for, the marks, and how often they were reached.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let mut metrics: Vec<Metric> = Part::ALL
            .iter()
            .map(|(part, label)| {
                let bytes: i64 = self.accounts.iter().map(|account| account.get(*part)).sum();
                let help = "Memory held for clients, by what it is for; the account that the marks are compared with.";
                Metric::gauge("lapwing_memory_bytes", help, u64::try_from(bytes).unwrap_or(0)).with("part", *label)
            })
            .collect();
        let reads = u64::try_from(self.reads.load(Ordering::Relaxed)).unwrap_or(0);
        let help = "Memory held for clients, by what it is for; the account that the marks are compared with.";
        metrics.push(Metric::gauge("lapwing_memory_bytes", help, reads).with("part", "reads"));
        let help = "Marks of memory in force, in bytes.";
        for (mark, bytes) in [("high", self.marks.high), ("max", self.marks.max)] {
            metrics.push(Metric::gauge("lapwing_memory_mark_bytes", help, bytes).with("mark", mark));
        }
        let help = "Times that memory rose above a mark.";
        for (mark, times) in [("high", &self.entered_high), ("max", &self.entered_full)] {
            let times = times.load(Ordering::Relaxed);
            metrics.push(Metric::counter("lapwing_memory_marks_reached_total", help, times).with("mark", mark));
        }
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: Marks = Marks { high: 800, max: 1600 };

    /// Is each state entered above its mark and left an eighth below it, whichever way memory goes?
    #[test]
    fn states_have_hysteresis() {
        let path = [
            (800, Pressure::Normal),
            (801, Pressure::High),
            (701, Pressure::High),
            (700, Pressure::Normal),
            (750, Pressure::Normal),
            (1601, Pressure::Full),
            (1401, Pressure::Full),
            (1400, Pressure::High),
            (1601, Pressure::Full),
            (0, Pressure::Normal),
        ];
        let mut state = Pressure::Normal;
        for (bytes, expected) in path {
            state = state.next(bytes, MARKS);
            assert_eq!(state, expected, "at {bytes}");
        }
    }

    /// Do answers of stream reads count, until they are given back?
    #[test]
    fn reads_count() {
        let memory = Memory::with_marks(MARKS, 1);
        memory.hold_reads(801);
        assert_eq!((memory.look().0, memory.is_high()), (Pressure::High, true));
        memory.hold_reads(-801);
        assert_eq!((memory.look().0, memory.is_high(), memory.bytes()), (Pressure::Normal, false, 0));
    }

    /// Are accounts of several shards added up, negative ones too, and is a change told and counted once?
    #[test]
    fn accounts_are_added_up() {
        let memory = Memory::with_marks(MARKS, 2);
        memory.account(0).set(Part::Messages, 1700);
        memory.account(1).set(Part::Messages, -850);
        let (pressure, notice) = memory.look();
        assert_eq!(pressure, Pressure::High);
        assert!(notice.unwrap().contains("850 bytes, memory_high_bytes = 800"));
        assert_eq!(memory.look(), (Pressure::High, None));
        memory.account(1).set(Part::Messages, 0);
        assert_eq!(memory.look().0, Pressure::Full);
        memory.account(0).set(Part::Messages, 0);
        assert!(memory.look().1.unwrap().contains("served again"));
        let counts: Vec<f64> = memory.metrics().iter().rev().take(2).map(|metric| metric.value).collect();
        assert_eq!(counts, [1.0, 1.0]);
    }

    /// Do the marks follow from what there is, unless they are given?
    #[test]
    fn marks_have_defaults() {
        let limits = |high, max| Limits { memory_high_bytes: high, memory_max_bytes: max, ..Limits::default() };
        let there = Available { bytes: 8000, source: available::Source::Machine };
        assert_eq!(Marks::new(&limits(0, 0), there), Marks { high: 6000, max: 7000 });
        assert_eq!(Marks::new(&limits(600, 0), there), Marks { high: 600, max: 700 });
        assert_eq!(Marks::new(&limits(0, 5000), there), Marks { high: 5000, max: 5000 });
    }
}
