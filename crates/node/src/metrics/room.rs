//! Which groups and members have metrics of their own. Whoever may subscribe makes groups, and chooses the names that stand in
//! every sample: what is shown of them is bounded by number and by bytes, and what is left out is counted.
//!
//! Each shard keeps to the bounds before it answers, so that no scrape costs more than it shows; all answers together do again.
//! No label is cut: two series with the same labels make a scraper refuse the whole answer.

use super::prometheus::label_bytes;
use super::{groups, members};
use crate::config::DispatchConfig;
use crate::group_reports::{GroupReport, MemberReport};

/// What one shard, or all of them, have for one scrape.
#[derive(Debug, Default)]
pub(crate) struct GroupSample {
    /// Those that there are, of which the reports may be a part.
    pub(crate) groups: usize,
    pub(crate) members: usize,
    /// Of those that were declared first; without members where there are too many to show.
    pub(crate) reports: Vec<GroupReport>,
}

impl GroupSample {
    pub(super) fn of_all(shards: Vec<GroupSample>) -> Self {
        let mut all = GroupSample::default();
        for shard in shards {
            all.groups += shard.groups;
            all.members += shard.members;
            all.reports.extend(shard.reports);
        }
        all.reports.sort_by(|a, b| (!a.is_durable, a.place()).cmp(&(!b.is_durable, b.place())));
        all
    }
}

/// What is left for groups, and the labels of all.
pub(crate) struct GroupRoom {
    groups: u32,
    bytes: u64,
}

impl GroupRoom {
    pub(crate) fn new(config: &DispatchConfig) -> Self {
        GroupRoom { groups: config.group_metrics_max, bytes: config.metrics_label_bytes_max }
    }

    /// Whether nothing fits any more.
    pub(crate) fn is_full(&self) -> bool {
        self.groups == 0
    }

    /// Whether a group of that name might fit, with one sample at least.
    pub(crate) fn may_take(&self, name: &str, filter: &str) -> bool {
        self.groups > 0 && label_bytes(name) + label_bytes(filter) <= self.bytes
    }

    /// Takes the room that a group needs, if there is so much.
    pub(crate) fn takes(&mut self, report: &GroupReport) -> bool {
        let fits = self.groups > 0 && self.takes_bytes(groups::series(report) * labels_of(report));
        self.groups -= u32::from(fits);
        fits
    }

    fn takes_bytes(&mut self, bytes: u64) -> bool {
        let fits = bytes <= self.bytes;
        self.bytes -= if fits { bytes } else { 0 };
        fits
    }
}

/// What is shown, both by name; the samples of one metric follow this order.
pub(super) struct Shown<'a> {
    pub(super) groups: Vec<&'a GroupReport>,
    pub(super) members: Vec<(&'a GroupReport, &'a MemberReport)>,
    pub(super) groups_left_out: usize,
    pub(super) members_left_out: usize,
}

impl<'a> Shown<'a> {
    /// Groups that were declared come first, so that no stranger's take their room; then by name, each that fits.
    pub(super) fn of(sample: &'a GroupSample, config: &DispatchConfig) -> Self {
        let mut room = GroupRoom::new(config);
        let mut groups: Vec<&GroupReport> = sample.reports.iter().filter(|report| room.takes(report)).collect();
        groups.sort_by_key(|report| report.place());
        let mut members = Vec::new();
        if sample.members <= config.member_metrics_max as usize {
            let all = groups.iter().flat_map(|&report| report.members.iter().map(move |member| (report, member)));
            let each = |report: &GroupReport, member: &MemberReport| labels_of(report) + label_bytes(&member.client_id);
            members.extend(all.filter(|(report, member)| room.takes_bytes(members::SERIES * each(report, member))));
        }
        Shown {
            groups_left_out: sample.groups - groups.len(),
            members_left_out: sample.members - members.len(),
            groups,
            members,
        }
    }
}

fn labels_of(report: &GroupReport) -> u64 {
    label_bytes(&report.name) + label_bytes(&report.filter)
}
