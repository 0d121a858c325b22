//! What a fleet has done.

use super::kept::{FleetSchedule, Kept};
use crate::latency::{Latencies, Percentiles};
use serde::Serialize;
use std::collections::BTreeMap;

/// Figures that go on while a fleet runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FleetCounts {
    /// Messages accepted by `offer`.
    pub accepted: u64,
    /// Messages whose time has come.
    pub taken_up: u64,
    /// Messages that went out at least once.
    pub sent: u64,
    /// QoS 1 and 2 messages the broker has taken.
    pub acknowledged: u64,
    /// Messages the broker has refused, or does not take.
    pub rejected: u64,
    /// Times a message went again after a reconnection.
    pub resent: u64,
    /// Connections made, the first ones included.
    pub connects: u64,
    /// Connections made after one was lost.
    pub reconnects: u64,
    /// Connections broken on purpose (`Drop`).
    pub drops: u64,
    /// Orderly goodbyes (`Leave`).
    pub leaves: u64,
    /// Devices connected now.
    pub online: u64,
    /// Devices the broker refused for good.
    pub refused: u64,
}

impl FleetCounts {
    pub(super) fn add(&mut self, other: &Self) {
        self.accepted += other.accepted;
        self.taken_up += other.taken_up;
        self.sent += other.sent;
        self.acknowledged += other.acknowledged;
        self.rejected += other.rejected;
        self.resent += other.resent;
        self.connects += other.connects;
        self.reconnects += other.reconnects;
        self.drops += other.drops;
        self.leaves += other.leaves;
        self.online += other.online;
        self.refused += other.refused;
    }
}

/// What one lane has counted.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneReport {
    pub counts: FleetCounts,
    pub unsent: u64,
    pub unacknowledged: u64,
    pub kept: Kept,
    pub answer: Latencies,
    pub errors: BTreeMap<String, u64>,
    pub cpu_ns: u64,
}

impl LaneReport {
    pub fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.unsent += other.unsent;
        self.unacknowledged += other.unacknowledged;
        self.kept.add(&other.kept);
        self.answer.add(&other.answer);
        self.cpu_ns += other.cpu_ns;
        for (label, count) in &other.errors {
            *self.errors.entry(label.clone()).or_default() += count;
        }
    }
}

/// The report of a fleet. `accepted` is `sent + unsent`, apart from messages that were refused unsent.
#[derive(Clone, Debug, Serialize)]
pub struct FleetReport {
    /// Devices configured.
    pub devices: u64,
    /// From the start of the schedule to the end, in seconds.
    pub seconds: f64,
    /// The counters.
    #[serde(flatten)]
    pub counts: FleetCounts,
    /// Messages accepted and never sent: their device was away, or the time was over.
    pub unsent: u64,
    /// QoS 1 and 2 messages sent whose last answer never came.
    pub unacknowledged: u64,
    /// How the fleet kept its schedule, whatever the broker did.
    pub schedule: FleetSchedule,
    /// From due time to the broker's last answer, in microseconds: what waited for connection and window waited for the
    /// broker.
    pub answer_us: Percentiles,
    /// Connections lost, refusals and the like, by kind.
    pub errors: BTreeMap<String, u64>,
    /// CPU time of the fleet's threads, in seconds.
    pub cpu_s: f64,
    /// True when everything accepted was sent and, at QoS 1 and 2, acknowledged.
    pub complete: bool,
}
