//! What is told of one consumer group: each metric with its meaning, and where its values stand.

use super::{Metric, MetricKind};
use crate::group_reports::{DeferredReport, GroupReport};

/// One name with its meaning; `read` gives the values of one group, each with one label more or none.
pub(super) struct GroupFamily {
    name: &'static str,
    help: &'static str,
    label: &'static str,
    pub(super) read: fn(&GroupReport) -> Vec<(&'static str, f64)>,
}

/// Without a further label.
fn one(value: u64) -> Vec<(&'static str, f64)> {
    vec![("", value as f64)]
}

pub(super) const GROUP_FAMILIES: &[GroupFamily] = &[
    GroupFamily {
        name: "lapwing_group_members",
        help: "Members of a group that are connected.",
        label: "",
        read: |group| one(group.members_here as u64),
    },
    GroupFamily {
        name: "lapwing_group_waiting_messages",
        help: "Messages that wait in a group, by lane.",
        label: "lane",
        read: |group| vec![("critical", group.waiting_critical as f64), ("bulk", group.waiting_bulk as f64)],
    },
    GroupFamily {
        name: "lapwing_group_waiting_bytes",
        help: "Bytes that wait in a group.",
        label: "",
        read: |group| one(group.waiting_bytes),
    },
    GroupFamily {
        name: "lapwing_group_unacknowledged_messages",
        help: "Messages that members of a group have and have not acknowledged.",
        label: "",
        read: |group| one(group.unacknowledged as u64),
    },
    GroupFamily {
        name: "lapwing_group_backlog_seconds",
        help: "How long a group's members would work on what waits; absent while that is unknown.",
        label: "",
        read: |group| group.backlog_s.map(|backlog_s| ("", backlog_s)).into_iter().collect(),
    },
    GroupFamily {
        name: "lapwing_group_behind",
        help: "1 while more work waits in a group than its setting behind allows.",
        label: "",
        read: |group| one(u64::from(group.is_behind)),
    },
    GroupFamily {
        name: "lapwing_group_fell_behind_total",
        help: "Times a group has fallen behind.",
        label: "",
        read: |group| one(group.counters.fell_behind),
    },
    GroupFamily {
        name: "lapwing_group_messages_published_total",
        help: "Messages given to a group.",
        label: "",
        read: |group| one(group.counters.published),
    },
    GroupFamily {
        name: "lapwing_group_messages_ended_total",
        help: "Messages of a group that have ended, by how; sent is QoS 0.",
        label: "end",
        read: ends,
    },
    GroupFamily {
        name: "lapwing_group_messages_dropped_total",
        help: "Messages that a group has dropped, by reason.",
        label: "reason",
        read: |group| group.counters.dropped.iter().map(|(reason, count)| (*reason, *count as f64)).collect(),
    },
    GroupFamily {
        name: "lapwing_group_dead_letters_total",
        help: "Dead letters of a group, by reason.",
        label: "reason",
        read: |group| group.counters.dead_lettered.iter().map(|(reason, count)| (*reason, *count as f64)).collect(),
    },
    GroupFamily {
        name: "lapwing_group_deadlines_missed_total",
        help: "Deadlines that a group has missed, by lane.",
        label: "lane",
        read: |group| {
            let (all, critical) = (group.counters.missed, group.counters.missed_critical);
            vec![("critical", critical as f64), ("bulk", all.saturating_sub(critical) as f64)]
        },
    },
    GroupFamily {
        name: "lapwing_group_kicks_total",
        help: "Members disconnected because they had stalled.",
        label: "",
        read: |group| one(group.counters.kicks),
    },
    GroupFamily {
        name: "lapwing_group_messages_moved_total",
        help: "Messages taken back from a member.",
        label: "",
        read: |group| one(group.counters.moved),
    },
    GroupFamily {
        name: "lapwing_group_messages_redelivered_total",
        help: "Messages sent to a member although an earlier one may have had them.",
        label: "",
        read: |group| one(group.counters.redelivered),
    },
    GroupFamily {
        name: "lapwing_group_refused_total",
        help: "What a group did not take: joins beyond members_per_group_max, reports out of range.",
        label: "what",
        read: |group| {
            let counters = &group.counters;
            vec![("join", counters.joins_refused as f64), ("report", counters.reports_refused as f64)]
        },
    },
    GroupFamily {
        name: "lapwing_group_strategy_answers_total",
        help: "What came of questions to a group's own strategy, and of messages that it was not asked for.",
        label: "answer",
        read: |group| group.deferred.as_ref().map(answers).unwrap_or_default(),
    },
];

fn ends(group: &GroupReport) -> Vec<(&'static str, f64)> {
    let counters = &group.counters;
    let sum = |by_reason: &std::collections::BTreeMap<&'static str, u64>| by_reason.values().sum::<u64>() as f64;
    vec![
        ("acknowledged", counters.acknowledged as f64),
        ("sent", counters.unacknowledged as f64),
        ("refused", counters.refused as f64),
        ("dropped", sum(&counters.dropped)),
        ("dead_letter", sum(&counters.dead_lettered)),
    ]
}

fn answers(deferred: &DeferredReport) -> Vec<(&'static str, f64)> {
    let counts = [
        ("answered", deferred.answered),
        ("held", deferred.held),
        ("failed", deferred.failed),
        ("timed_out", deferred.timed_out),
        ("late", deferred.late),
        ("unable", deferred.unable),
        ("overflowed", deferred.overflowed),
    ];
    counts.into_iter().map(|(answer, count)| (answer, count as f64)).collect()
}

impl GroupFamily {
    pub(super) fn of_group(&self, report: &GroupReport) -> Vec<Metric> {
        let labelled = |(label, value): (&'static str, f64)| {
            let metric =
                sample(self.name, self.help, value).with("group", &*report.name).with("filter", &*report.filter);
            if self.label.is_empty() { metric } else { metric.with(self.label, label) }
        };
        (self.read)(report).into_iter().map(labelled).collect()
    }
}

/// One value, without labels.
pub(super) fn sample(name: &'static str, help: &'static str, value: f64) -> Metric {
    let kind = if name.ends_with("_total") { MetricKind::Counter } else { MetricKind::Gauge };
    Metric { name, help, kind, labels: Vec::new(), value }
}
