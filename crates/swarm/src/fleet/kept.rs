//! How a fleet keeps its own schedule: when a lane takes a message up, whatever the broker lets it do then.

use crate::latency::{Latencies, Percentiles};
use serde::Serialize;

/// What one lane has counted, of messages due in the time that is judged.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub taken_up: u64,
    pub late: u64,
    pub held: u64,
    pub late_ns: Latencies,
}

impl Kept {
    /// A message was taken up `late_ns` after it was due; more than `late_ns_max` is late.
    ///
    /// `held`: so much was open when it came due that the lane took nothing up: the broker's slowness, not the fleet's.
    pub fn record(&mut self, late_ns: u64, late_ns_max: u64, held: bool) {
        self.taken_up += 1;
        if held {
            self.held += 1;
            return;
        }
        self.late += u64::from(late_ns > late_ns_max);
        self.late_ns.record(late_ns);
    }

    pub fn add(&mut self, other: &Self) {
        self.taken_up += other.taken_up;
        self.late += other.late;
        self.held += other.held;
        self.late_ns.add(&other.late_ns);
    }
}

/// How the fleet kept its schedule, of messages due from `judged_from_us` on.
#[derive(Clone, Debug, Serialize)]
pub struct FleetSchedule {
    /// Messages whose time came and that a thread took up, to be sent as soon as connection and window allow.
    pub taken_up: u64,
    /// Of them those taken up more than `late_ms` after they were due, by the fleet's own fault.
    pub late: u64,
    /// Of them those that waited because as much was open as may be: the broker's slowness.
    pub held: u64,
    /// From due time to taking up, of those that nothing held, in microseconds.
    pub late_us: Percentiles,
}

impl From<&Kept> for FleetSchedule {
    fn from(kept: &Kept) -> Self {
        let Kept { taken_up, late, held, late_ns } = kept;
        Self { taken_up: *taken_up, late: *late, held: *held, late_us: late_ns.percentiles() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is late what is beyond the bound, and is what the broker held no lateness of the fleet?
    #[test]
    fn who_is_to_blame() {
        let mut kept = Kept::default();
        for (late_ns, held) in [(0, false), (100, false), (101, false), (1_000_000, true)] {
            kept.record(late_ns, 100, held);
        }
        let mut sum = Kept::default();
        sum.add(&kept);
        sum.add(&kept);
        let schedule = FleetSchedule::from(&sum);
        assert_eq!((schedule.taken_up, schedule.late, schedule.held), (8, 2, 2));
        assert_eq!(schedule.late_us.count, 6);
        assert!(schedule.late_us.max < 1.0, "{schedule:?}");
    }
}
