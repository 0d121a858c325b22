//! Where a member stands, as metrics.

use super::status::{MemberStatus, NodeStatus};
use crate::metrics::Metric;

/// What it says of its node, whether that serves or not.
pub(super) fn figures(status: &MemberStatus) -> Vec<Metric> {
    let mut figures = of_this_node(status);
    figures.extend(OF_NODES.iter().flat_map(|family| {
        let of_node = |node: &NodeStatus| Some(family(node)?.with("node", node.name.as_str()));
        // Who was removed is not missed.
        let nodes = status.nodes.iter().filter(|node| node.standing != "gone");
        nodes.filter_map(of_node).collect::<Vec<_>>()
    }));
    figures.extend(["moved", "not_moved"].into_iter().zip(["sent", "unsent"]).map(|(result, counted)| {
        let help = "Snapshots of a group that this node has begun to send to another one, by what came of them.";
        let count = status.moved.get(counted).copied().unwrap_or(0);
        Metric::counter("lapwing_cluster_snapshots_total", help, count).with("result", result)
    }));
    figures.extend(status.cuts.iter().map(|(reason, count)| {
        let help = "Connections between nodes that were cut, by reason.";
        Metric::counter("lapwing_cluster_connections_cut_total", help, *count).with("reason", *reason)
    }));
    figures
}

fn of_this_node(status: &MemberStatus) -> Vec<Metric> {
    let MemberStatus { role, term, leads, behind, stopped, log_bytes, elections, changes_refused, .. } = status;
    let mut figures = vec![
        Metric::gauge(
            "lapwing_cluster_active",
            "1 while this node serves its cluster's clients.",
            u64::from(*role == "active"),
        ),
        Metric::gauge("lapwing_cluster_term", "Raft's term of the metadata group; it grows by each election.", *term),
        Metric::counter(
            "lapwing_cluster_elections_total",
            "Elections that this node has stood for, of all 17 groups: it has voted for itself in a new term.",
            *elections,
        ),
        Metric::gauge("lapwing_cluster_groups_led", "Data groups that this node leads, of 16.", u64::from(*leads)),
        Metric::gauge("lapwing_cluster_unapplied_entries", "Entries that are committed and not applied here.", *behind),
        Metric::gauge("lapwing_cluster_groups_stopped", "Groups whose replica here has stopped.", stopped.len() as u64),
        Metric::gauge(
            "lapwing_cluster_log_bytes",
            "Bytes of entries in the logs of this node that no snapshot has let go of, all data groups together.",
            *log_bytes,
        ),
        Metric::counter(
            "lapwing_cluster_changes_refused_total",
            "Tokens and removals of nodes that were refused because so many waited to be taken.",
            *changes_refused,
        ),
    ];
    figures.extend(status.uncommitted_age_ms.map(|age_ms| {
        let help = "For how long the oldest batch waits that this node has appended and that is not committed; where it leads.";
        Metric::seconds("lapwing_cluster_uncommitted_age_seconds", help, age_ms as f64 / 1e3)
    }));
    figures
}

/// What there is of each node, one family after the other.
const OF_NODES: [fn(&NodeStatus) -> Option<Metric>; 5] = [
    |node| {
        let help = "1 while there is a connection to that node, or it is this one.";
        Some(Metric::gauge("lapwing_cluster_connected", help, u64::from(node.is_connected)))
    },
    |node| {
        let help = "Entries that a node lacks, as the one that leads sees it; at that one alone.";
        Some(Metric::gauge("lapwing_cluster_lag_entries", help, node.behind?))
    },
    |node| {
        let help = "Bytes of entries that this node has sent to that one; to itself none.";
        Some(Metric::counter("lapwing_cluster_appended_bytes_total", help, node.sent_bytes))
    },
    |node| {
        let help = "Bytes that are free where a node's data folder lies, as it says itself.";
        Some(Metric::gauge("lapwing_cluster_disk_free_bytes", help, node.disk_free_bytes?))
    },
    |node| {
        let help = "A node's wall clock less that of this one.";
        Some(Metric::seconds("lapwing_cluster_skew_seconds", help, node.skew_ms? as f64 / 1e3))
    },
];
