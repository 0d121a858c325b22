//! Counters of a node: each shard and the log thread count for themselves, a reader adds them up.

mod access;
mod counter;
mod drops;
mod ended_groups;
mod group_families;
mod groups;
mod holds;
mod hooks;
mod journal;
mod limits;
mod log;
mod members;
mod prometheus;
mod room;
mod shard;
mod traffic;

pub(crate) use access::{AccessCounters, Refused};
pub(crate) use counter::{Counter, Gauge};
pub(crate) use drops::DropReason;
pub(crate) use ended_groups::EndedGroups;
pub(crate) use groups::collect as group_metrics;
pub(crate) use holds::{HoldCounters, collect as hold_metrics};
pub(crate) use hooks::HookCounters;
pub(crate) use journal::collect as journal_metrics;
pub(crate) use limits::LimitCounters;
pub(crate) use log::LogCounters;
pub use prometheus::to_text;
pub(crate) use room::{GroupRoom, GroupSample};
pub(crate) use shard::ShardCounters;
pub(crate) use traffic::TrafficCounters;

/// One number with its name, labels and meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// `lapwing_...`, in the naming rules of Prometheus.
    pub name: &'static str,
    /// What is counted, in one sentence.
    pub help: &'static str,
    /// Whether it only grows.
    pub kind: MetricKind,
    /// Label names and values.
    pub labels: Vec<(&'static str, String)>,
    /// The number; whole numbers are exact up to 2^53.
    pub value: f64,
}

/// Whether a number only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows; ends in `_total`.
    Counter,
    /// Goes up and down.
    Gauge,
}

impl Metric {
    pub(crate) fn counter(name: &'static str, help: &'static str, value: u64) -> Self {
        Metric { name, help, kind: MetricKind::Counter, labels: Vec::new(), value: value as f64 }
    }

    pub(crate) fn gauge(name: &'static str, help: &'static str, value: u64) -> Self {
        Metric { name, help, kind: MetricKind::Gauge, labels: Vec::new(), value: value as f64 }
    }

    /// A gauge of a time, whole or not.
    pub(crate) fn seconds(name: &'static str, help: &'static str, value: f64) -> Self {
        Metric { name, help, kind: MetricKind::Gauge, labels: Vec::new(), value }
    }

    pub(crate) fn with(mut self, label: &'static str, value: impl Into<String>) -> Self {
        self.labels.push((label, value.into()));
        self
    }
}
