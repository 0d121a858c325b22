//! Members of consumer groups as metrics.

use super::Metric;
use super::groups::sample;
use crate::group_reports::{GroupReport, MemberReport};

/// What is known of each member; the samples of one name follow each other.
pub(super) fn collect(reports: &[GroupReport]) -> impl Iterator<Item = Metric> {
    MEMBER_FAMILIES.iter().flat_map(|family| reports.iter().flat_map(|report| report.sampled(family)))
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

impl GroupReport {
    fn sampled(&self, family: &MemberFamily) -> Vec<Metric> {
        let known = self.members.iter().filter_map(|member| Some((member, (family.read)(member)?)));
        let sampled = known.map(|(member, value)| {
            let metric = sample(family.name, family.help, value);
            metric.with("group", &*self.name).with("filter", &*self.filter).with("client_id", &*member.client_id)
        });
        sampled.collect()
    }
}
