//! Consumer groups as metrics: what each has counted, what waits, and of each member while there are few.
//!
//! Counters begin with their group and end with it. Share names, filters and client ids are labels: there are as many
//! series as have room, see `room.rs`.

use super::group_families::GROUP_FAMILIES;
use super::room::{GroupSample, Shown};
use super::{Metric, members};
use crate::config::DispatchConfig;
use crate::group_reports::GroupReport;

/// The metrics of what the shards say, as far as the settings have room for those of single groups and members.
pub(crate) fn collect(shards: Vec<GroupSample>, config: &DispatchConfig) -> Vec<Metric> {
    let sample = GroupSample::of_all(shards);
    let shown = Shown::of(&sample, config);
    let groups_help = "Groups without metrics of their own: there are more than dispatch.group_metrics_max, or their names \
                       would take more than dispatch.metrics_label_bytes_max.";
    let members_help = "Members without metrics of their own: there are more than dispatch.member_metrics_max, or their \
                        group has none, or names would take more than dispatch.metrics_label_bytes_max.";
    let mut metrics = vec![
        Metric::gauge("lapwing_groups", "Consumer groups.", sample.groups as u64),
        Metric::gauge("lapwing_groups_without_metrics", groups_help, shown.groups_left_out as u64),
        Metric::gauge("lapwing_group_members_without_metrics", members_help, shown.members_left_out as u64),
    ];
    for family in GROUP_FAMILIES {
        metrics.extend(shown.groups.iter().flat_map(|report| family.of_group(report)));
    }
    metrics.extend(members::collect(&shown.members));
    metrics
}

/// Samples of one group.
pub(super) fn series(report: &GroupReport) -> u64 {
    GROUP_FAMILIES.iter().map(|family| (family.read)(report).len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::group_reports::{CounterReport, MemberReport};
    use crate::metrics::{MetricKind, to_text};

    fn member(client_id: &str) -> MemberReport {
        MemberReport {
            client_id: client_id.to_owned(),
            presence: "here",
            rtt_ms: Some(2.5),
            service_ms: None,
            queue: Some(1.0),
            inflight: 3,
            limit: None,
            overdue_ms: None,
            picks: 9,
            acknowledged: 6,
            refused: 0,
            moved: 0,
            missed: 2,
            kicks: 1,
            is_blind: false,
            is_closed: false,
        }
    }

    fn members(most: u32) -> DispatchConfig {
        DispatchConfig { member_metrics_max: most, ..DispatchConfig::default() }
    }

    fn group(name: &str, members: usize) -> GroupReport {
        let mut counters = CounterReport::new(&Default::default(), &Default::default());
        (counters.published, counters.acknowledged, counters.unacknowledged) = (20, 9, 1);
        (counters.missed, counters.missed_critical) = (5, 2);
        counters.dropped = BTreeMap::from([("queue_full", 3), ("group_empty", 1)]);
        counters.dead_lettered = BTreeMap::from([("deadline_passed", 4)]);
        GroupReport {
            name: name.to_owned(),
            filter: "a/#".to_owned(),
            strategy: "auto".to_owned(),
            is_durable: false,
            is_kept: false,
            is_behind: true,
            members_here: members,
            waiting_critical: 1,
            waiting_bulk: 2,
            waiting_bytes: 300,
            parked: 0,
            unacknowledged: 3,
            oldest_ms: None,
            backlog_s: Some(1.5),
            counters,
            deferred: None,
            members: (0..members).map(|number| member(&format!("m{number}"))).collect(),
        }
    }

    /// Of one shard.
    fn sampled(reports: impl Into<Vec<GroupReport>>) -> Vec<GroupSample> {
        let reports = reports.into();
        let members = reports.iter().map(|report| report.members.len()).sum();
        vec![GroupSample { groups: reports.len(), members, reports }]
    }

    /// Does each number stand under its name, in seconds, and with its labels?
    #[test]
    fn numbers_of_a_group_and_its_members() {
        let text = to_text(&collect(sampled([group("g", 1)]), &members(1)));
        for line in [
            "lapwing_groups 1",
            "lapwing_group_members{group=\"g\",filter=\"a/#\"} 1",
            "lapwing_group_waiting_messages{group=\"g\",filter=\"a/#\",lane=\"critical\"} 1",
            "lapwing_group_backlog_seconds{group=\"g\",filter=\"a/#\"} 1.5",
            "lapwing_group_behind{group=\"g\",filter=\"a/#\"} 1",
            "lapwing_group_messages_ended_total{group=\"g\",filter=\"a/#\",end=\"dropped\"} 4",
            "lapwing_group_messages_ended_total{group=\"g\",filter=\"a/#\",end=\"dead_letter\"} 4",
            "lapwing_group_messages_dropped_total{group=\"g\",filter=\"a/#\",reason=\"queue_full\"} 3",
            "lapwing_group_deadlines_missed_total{group=\"g\",filter=\"a/#\",lane=\"bulk\"} 3",
            "lapwing_group_member_round_trip_seconds{group=\"g\",filter=\"a/#\",client_id=\"m0\"} 0.0025",
            "lapwing_group_member_picks_total{group=\"g\",filter=\"a/#\",client_id=\"m0\"} 9",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("lapwing_group_member_service_seconds"), "what is unknown is absent");
    }

    /// Are the answers of a strategy counted where a group has one, and absent where it has none?
    #[test]
    fn answers_of_a_strategy() {
        let counters = lapwing_dispatch::DeferredCounters { asked: 9, answered: 6, timed_out: 3, ..Default::default() };
        let with = GroupReport { deferred: Some(counters.into()), ..group("g", 1) };
        let text = to_text(&collect(sampled([with, group("h", 1)]), &members(0)));
        for (answer, count) in [("answered", 6), ("timed_out", 3), ("late", 0)] {
            let labels = format!("group=\"g\",filter=\"a/#\",answer=\"{answer}\"");
            let line = format!("lapwing_group_strategy_answers_total{{{labels}}} {count}");
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("lapwing_group_strategy_answers_total{group=\"h\""));
    }

    /// Are members left out, all of them, when there are more than the setting allows?
    #[test]
    fn members_are_shown_while_they_are_few() {
        let groups = [group("g", 2), group("h", 1)];
        let text = to_text(&collect(sampled(groups.clone()), &members(3)));
        assert!(text.contains("client_id=\"m1\"") && text.contains("lapwing_group_members_without_metrics 0"));
        let text = to_text(&collect(sampled(groups.clone()), &members(2)));
        assert!(!text.contains("client_id") && text.contains("group=\"h\""));
        assert!(text.contains("lapwing_group_members_without_metrics 3"));
        assert!(!to_text(&collect(sampled(groups), &members(0))).contains("client_id"));
    }

    /// With thousands of groups of a stranger's, whose names are as long as they may be and of what is written longest: is the
    /// answer bounded, what is left out counted, and what the operator declared in it?
    #[test]
    fn strangers_names_have_a_bound() {
        let long = |number: usize| format!("!{number:05}{}", "\u{1}\"".repeat(447));
        let mut groups: Vec<GroupReport> = (0..2_000).map(|number| group(&long(number), 0)).collect();
        groups.push(GroupReport { is_durable: true, ..group("zebra", 1) });
        let text = to_text(&collect(sampled(groups), &DispatchConfig::default()));
        assert!(text.len() < 3 << 20, "{}", text.len());
        assert!(text.contains("lapwing_group_members{group=\"zebra\"") && text.contains("client_id=\"m0\""));
        let shown = text.lines().filter(|line| line.starts_with("lapwing_group_members{")).count();
        assert!(shown > 10, "{shown}");
        assert!(text.lines().any(|line| line == format!("lapwing_groups_without_metrics {}", 2_001 - shown)));
        let label = |line: &str| line.rsplit_once(' ').map_or(0, |(series, _)| series.len());
        assert!(text.lines().filter(|line| !line.starts_with('#')).map(label).sum::<usize>() > 1 << 20, "room is used");
    }

    /// Are as many groups shown as the setting says, and of a member with an endless id nothing but the number?
    #[test]
    fn groups_are_shown_as_far_as_there_is_room() {
        let names = ["a", "b", "c"];
        let groups = names.map(|name| group(name, 1));
        let text = to_text(&collect(sampled(groups.clone()), &DispatchConfig { group_metrics_max: 2, ..members(9) }));
        assert!(text.contains("group=\"b\"") && !text.contains("group=\"c\""));
        assert!(text.contains("lapwing_groups_without_metrics 1") && text.contains("members_without_metrics 1"));
        let none = to_text(&collect(sampled(groups), &DispatchConfig { group_metrics_max: 0, ..members(9) }));
        assert!(!none.contains("group=") && none.contains("lapwing_groups_without_metrics 3"));
        let mut endless = group("d", 2);
        endless.members[0].client_id = "x".repeat(65_535);
        let config = DispatchConfig { metrics_label_bytes_max: 100_000, ..members(9) };
        let text = to_text(&collect(sampled([endless]), &config));
        assert!(text.len() < 10_000 && text.contains("client_id=\"m1\""));
        assert!(text.contains("lapwing_groups_without_metrics 0") && text.contains("members_without_metrics 1"));
    }

    /// Do the samples of one name follow each other, as the text format wants it?
    #[test]
    fn families_are_whole() {
        let metrics = collect(sampled([group("g", 2), group("h", 1)]), &members(9));
        let mut seen = BTreeSet::new();
        for pair in metrics.windows(2).filter(|pair| pair[0].name != pair[1].name) {
            assert!(seen.insert(pair[0].name), "{} comes twice", pair[0].name);
            assert!(!seen.contains(pair[1].name), "{} comes twice", pair[1].name);
        }
        assert!(metrics.iter().all(|metric| metric.name.ends_with("_total") == (metric.kind == MetricKind::Counter)));
    }
}
