//! Members of consumer groups as metrics.

use super::Metric;
use super::group_families::sample;
use crate::group_reports::{GroupReport, MemberReport};

/// Samples of one member, at most.
pub(super) const SERIES: u64 = MEMBER_FAMILIES.len() as u64;

/// What is known of each member; the samples of one name follow each other.
pub(super) fn collect(members: &[(&GroupReport, &MemberReport)]) -> impl Iterator<Item = Metric> {
    let sampled = |family: &'static MemberFamily| members.iter().filter_map(|(group, member)| family.of(group, member));
    MEMBER_FAMILIES.iter().flat_map(sampled)
}

/// One name with its meaning; `read` gives the value of one member, None: it has none now.
struct MemberFamily {
    name: &'static str,
    help: &'static str,
    read: fn(&MemberReport) -> Option<f64>,
}

const MEMBER_FAMILIES: &[MemberFamily] = &[
    MemberFamily {
        name: "lapwing_group_member_round_trip_seconds",
        help: "Round trip to a member; members only while there are at most dispatch.member_metrics_max.",
        read: |member| member.rtt_ms.map(|rtt_ms| rtt_ms / 1000.0),
    },
    MemberFamily {
        name: "lapwing_group_member_service_seconds",
        help: "What a message is expected to take a member.",
        read: |member| member.service_ms.map(|service_ms| service_ms / 1000.0),
    },
    MemberFamily {
        name: "lapwing_group_member_queue_messages",
        help: "Messages that wait in a member, as far as is known.",
        read: |member| member.queue,
    },
    MemberFamily {
        name: "lapwing_group_member_inflight_messages",
        help: "Messages that a member has and has not acknowledged.",
        read: |member| Some(member.inflight as f64),
    },
    MemberFamily {
        name: "lapwing_group_member_picks_total",
        help: "Messages given to a member.",
        read: |member| Some(member.picks as f64),
    },
    MemberFamily {
        name: "lapwing_group_member_deadlines_missed_total",
        help: "Deadlines missed by a member.",
        read: |member| Some(member.missed as f64),
    },
    MemberFamily {
        name: "lapwing_group_member_kicks_total",
        help: "Times a member was disconnected because it had stalled.",
        read: |member| Some(member.kicks as f64),
    },
];

impl MemberFamily {
    fn of(&self, group: &GroupReport, member: &MemberReport) -> Option<Metric> {
        let metric = sample(self.name, self.help, (self.read)(member)?);
        Some(metric.with("group", &*group.name).with("filter", &*group.filter).with("client_id", &*member.client_id))
    }
}
