//! The node's clock: what its timers run by, and what it writes beside sessions and messages on disk.
//!
//! While the node runs, monotonic time alone moves it: whatever is done to the wall clock, nothing of the node's is earlier or
//! later for it. At a start it goes on where it was, and what has passed meanwhile is what the wall clock has gone on. So that
//! a jump from before is not taken for that, a file has how the two stood (a [`ClockMark`]), anew within a second of a jump.

mod file;
mod timekeeper;

use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::config::Config;
use crate::error::NodeError;

pub(crate) use timekeeper::{TimekeeperThread, lay_timekeeper};

/// What the two clocks may differ by more, or less, than was noted: a jump is noted only above this.
const DRIFT_NOTED_MS: u64 = 1000;
/// How old a mark becomes: of a wall clock that is behind it at the next start nothing better is known than that it was later.
const MARK_EVERY_MS: u64 = 60_000;

/// By how much an older program may be wrong that takes the times in the folder for the wall clock's. Above, it has to refuse them.
const MISREAD_MS: u64 = 60_000;
/// No clock goes beyond: there are microseconds of it too.
const LATEST_MS: u64 = u64::MAX / 4000;

/// How the clocks stood at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockMark {
    /// The node's, milliseconds.
    pub(crate) node_ms: u64,
    /// The wall clock, milliseconds since the epoch.
    pub(crate) wall_ms: u64,
}

impl ClockMark {
    /// What the node's clock shows when it starts; `last`: how the clocks stood when that was noted last.
    ///
    /// A wall clock that is behind its own mark says nothing of the time between: it counts as none.
    fn resumed(last: Option<ClockMark>, wall_ms: u64) -> u64 {
        // In a folder from before there were marks, times are the wall clock's. Zero stands for no time at all in some places.
        let resumed = |last: ClockMark| last.node_ms.saturating_add(wall_ms.saturating_sub(last.wall_ms));
        last.map_or(wall_ms, resumed).clamp(1, LATEST_MS)
    }

    /// Whether `now` has to be noted, after `last` was.
    fn is_due(self, last: Option<ClockMark>) -> bool {
        let Some(last) = last else { return true };
        let passed_ms = self.node_ms.saturating_sub(last.node_ms);
        let expected_ms = last.wall_ms.saturating_add(passed_ms);
        passed_ms >= MARK_EVERY_MS || expected_ms.abs_diff(self.wall_ms) > DRIFT_NOTED_MS
    }

    /// Whether who takes times of the node for the wall clock's is far off.
    fn is_misread(self) -> bool {
        self.node_ms.abs_diff(self.wall_ms) > MISREAD_MS
    }
}

/// See the room; the same on every thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeClock {
    /// What it showed when the node started.
    begins_ms: u64,
    /// When that was.
    epoch: Instant,
}

impl NodeClock {
    /// Goes on with the clock of a data folder; begins with the wall clock's time where there is none.
    ///
    /// # Errors
    /// `Config`: its file cannot be read, or says something else.
    pub(crate) fn open(config: &Config) -> Result<Self, NodeError> {
        let last = folder(config).map_or(Ok(None), |folder| file::read(&folder))?;
        Ok(NodeClock { begins_ms: ClockMark::resumed(last, wall_ms()), epoch: Instant::now() })
    }

    /// Milliseconds.
    pub(crate) fn now_ms(&self) -> u64 {
        self.begins_ms + self.uptime_ms()
    }

    /// The same in microseconds.
    pub(crate) fn now_us(&self) -> u64 {
        self.begins_ms * 1000 + self.epoch.elapsed().as_micros() as u64
    }

    /// Since the node started.
    pub(crate) fn uptime_ms(&self) -> u64 {
        self.epoch.elapsed().as_millis() as u64
    }

    /// A time of this clock that has been, as the wall clock would have it now.
    pub(crate) fn on_the_wall(&self, at_ms: u64) -> u64 {
        wall_ms().saturating_sub(self.now_ms().saturating_sub(at_ms))
    }

    fn mark(&self) -> ClockMark {
        ClockMark { node_ms: self.now_ms(), wall_ms: wall_ms() }
    }
}

/// Where the clock is kept, where anything with a time on it is.
fn folder(config: &Config) -> Option<PathBuf> {
    config.data_dir.clone().filter(|_| config.keeps_sessions())
}

/// The wall clock, milliseconds since the epoch.
fn wall_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_MS: u64 = 1000;
    const YEAR_MS: u64 = 365 * 86_400_000;
    /// 2026.
    const TODAY_MS: u64 = 56 * YEAR_MS;

    /// A machine with its two clocks, and a node on it that looks at them once a second.
    struct Machine {
        /// True time, which nobody on the machine sees.
        passed_ms: u64,
        wall_ms: u64,
        node_ms: u64,
        noted: Option<ClockMark>,
        writes: u32,
    }

    impl Machine {
        fn new(wall_ms: u64) -> Self {
            let mut machine = Machine { passed_ms: 0, wall_ms, node_ms: 0, noted: None, writes: 0 };
            machine.start();
            machine
        }

        fn start(&mut self) {
            self.node_ms = ClockMark::resumed(self.noted, self.wall_ms);
            self.look();
        }

        fn look(&mut self) {
            let now = ClockMark { node_ms: self.node_ms, wall_ms: self.wall_ms };
            if now.is_due(self.noted) {
                self.noted = Some(now);
                self.writes += 1;
            }
        }

        fn runs(&mut self, seconds: u64) -> &mut Self {
            for _ in 0..seconds {
                self.passed_ms += SECOND_MS;
                self.wall_ms += SECOND_MS;
                self.node_ms += SECOND_MS;
                self.look();
            }
            self
        }

        /// The node is killed, and comes back.
        fn is_down(&mut self, seconds: u64) -> &mut Self {
            self.passed_ms += seconds * SECOND_MS;
            self.wall_ms += seconds * SECOND_MS;
            self.start();
            self
        }

        fn is_set_to(&mut self, wall_ms: u64) -> &mut Self {
            self.wall_ms = wall_ms;
            self
        }

        /// By how much the node's clock has gone wrong since it was `began_ms`.
        fn error_ms(&self, began_ms: u64) -> u64 {
            (self.node_ms - began_ms).abs_diff(self.passed_ms)
        }
    }

    /// Is time true for the node, whatever is done to the wall clock while it runs, and over restarts afterwards?
    #[test]
    fn a_jump_while_the_node_runs_changes_nothing() {
        for (before_ms, after_ms) in [
            (SECOND_MS, TODAY_MS),
            (TODAY_MS, TODAY_MS + YEAR_MS),
            (TODAY_MS, TODAY_MS - YEAR_MS),
            (TODAY_MS, 0),
            (TODAY_MS, TODAY_MS + 1500),
        ] {
            let mut machine = Machine::new(before_ms);
            let began_ms = machine.node_ms;
            machine.runs(100).is_set_to(after_ms).runs(1).is_down(30).runs(100);
            assert_eq!(machine.error_ms(began_ms), 0, "{before_ms} to {after_ms}");
            machine.is_set_to(before_ms).runs(1).is_down(30).is_down(30).runs(1);
            assert_eq!(machine.error_ms(began_ms), 0, "{before_ms} to {after_ms} and back");
        }
    }

    /// While the node is down a jump cannot be told from time: does one forward count as time, and one backward as none?
    #[test]
    fn a_jump_while_the_node_is_down_counts_as_time_or_as_none() {
        let mut machine = Machine::new(TODAY_MS);
        let began_ms = machine.node_ms;
        machine.runs(90);
        machine.is_set_to(TODAY_MS + YEAR_MS).is_down(0);
        assert_eq!(machine.node_ms - began_ms, YEAR_MS);
        let was_ms = machine.node_ms;
        machine.runs(90).is_set_to(0).is_down(10);
        let passed_ms = machine.node_ms - was_ms;
        assert!((90 * SECOND_MS - MARK_EVERY_MS..=90 * SECOND_MS).contains(&passed_ms), "{passed_ms}");
        // From then on it is true again.
        let (was_ms, passed_ms) = (machine.node_ms, machine.passed_ms);
        machine.is_set_to(TODAY_MS).runs(1).is_down(30);
        assert_eq!(machine.node_ms - was_ms, machine.passed_ms - passed_ms);
    }

    /// Does a clock that goes backward at every restart, as without a battery, ever stop the node's time, or set it back?
    #[test]
    fn a_machine_without_a_battery_has_time_all_the_same() {
        let mut machine = Machine::new(SECOND_MS);
        let began_ms = machine.node_ms;
        for boot in 1..=20 {
            let was_ms = machine.node_ms;
            machine.runs(5).is_set_to(TODAY_MS + boot * YEAR_MS).runs(65).is_set_to(SECOND_MS).is_down(0);
            assert!(machine.node_ms >= was_ms + 65 * SECOND_MS - MARK_EVERY_MS);
        }
        assert!(machine.error_ms(began_ms) <= 20 * MARK_EVERY_MS);
    }

    /// Does a clock that is not set cost one small write a minute, and one that is set one more?
    #[test]
    fn a_mark_is_written_once_a_minute() {
        let mut machine = Machine::new(TODAY_MS);
        machine.runs(3600);
        assert_eq!(machine.writes, 61);
        machine.is_set_to(TODAY_MS).runs(10);
        assert_eq!(machine.writes, 62);
    }

    /// Do times from before the first mark stay what they were?
    #[test]
    fn a_folder_without_a_mark_has_the_wall_clocks_times() {
        assert_eq!(ClockMark::resumed(None, TODAY_MS), TODAY_MS);
        assert_eq!(ClockMark::resumed(None, 0), 1);
        let last = ClockMark { node_ms: LATEST_MS - 1, wall_ms: 0 };
        assert_eq!(ClockMark::resumed(Some(last), TODAY_MS), LATEST_MS);
    }
}
