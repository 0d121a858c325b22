//! Which groups and members have metrics of their own. Whoever may subscribe makes groups, and chooses the names that stand in
//! every sample: what is shown of them is bounded by number and by bytes, and what is left out is counted.
//!
//! No label is cut: two series with the same labels make a scraper refuse the whole answer.

use super::prometheus::label_bytes;
use super::{groups, members};
use crate::config::DispatchConfig;
use crate::group_reports::{GroupReport, MemberReport};

/// What is shown, both by name; the samples of one metric follow this order.
pub(super) struct Shown<'a> {
    pub(super) groups: Vec<&'a GroupReport>,
    pub(super) members: Vec<(&'a GroupReport, &'a MemberReport)>,
    pub(super) groups_left_out: usize,
    pub(super) members_left_out: usize,
}

impl<'a> Shown<'a> {
    /// Groups that were declared come first, so that no stranger's take their room; then by name, each that fits.
    pub(super) fn of(reports: &'a [GroupReport], config: &DispatchConfig) -> Self {
        let mut bytes_left = config.metrics_label_bytes_max;
        let mut fits = |bytes: u64| {
            let is_room = bytes <= bytes_left;
            bytes_left -= if is_room { bytes } else { 0 };
            is_room
        };
        let mut ranked: Vec<&GroupReport> = reports.iter().collect();
        ranked.sort_by_key(|report| !report.is_durable);
        let has_room = |report: &&GroupReport| fits(groups::series(report) * labels_of(report));
        let mut groups: Vec<&GroupReport> =
            ranked.into_iter().filter(has_room).take(config.group_metrics_max as usize).collect();
        groups.sort_by(|a, b| (&a.name, &a.filter).cmp(&(&b.name, &b.filter)));
        let count: usize = reports.iter().map(|report| report.members.len()).sum();
        let mut members = Vec::new();
        if count <= config.member_metrics_max as usize {
            let all = groups.iter().flat_map(|&report| report.members.iter().map(move |member| (report, member)));
            let each = |report: &GroupReport, member: &MemberReport| labels_of(report) + label_bytes(&member.client_id);
            members.extend(all.filter(|(report, member)| fits(members::SERIES * each(report, member))));
        }
        Shown {
            groups_left_out: reports.len() - groups.len(),
            members_left_out: count - members.len(),
            groups,
            members,
        }
    }
}

fn labels_of(report: &GroupReport) -> u64 {
    label_bytes(&report.name) + label_bytes(&report.filter)
}
