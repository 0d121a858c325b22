//! Where a member stands, as metrics.

use crate::metrics::Metric;

use super::status::MemberStatus;

/// What it says of its node, whether that serves or not.
pub(super) fn figures(status: &MemberStatus) -> Vec<Metric> {
    let MemberStatus { role, term, leads, behind, nodes, stopped, cuts, .. } = status;
    let mut figures = vec![
        Metric::gauge(
            "lapwing_cluster_active",
            "1 while this node serves its cluster's clients.",
            u64::from(*role == "active"),
        ),
        Metric::gauge("lapwing_cluster_term", "Raft's term of the metadata group; it grows by each election.", *term),
        Metric::gauge("lapwing_cluster_groups_led", "Data groups that this node leads, of 16.", u64::from(*leads)),
        Metric::gauge("lapwing_cluster_unapplied_entries", "Entries that are committed and not applied here.", *behind),
        Metric::gauge("lapwing_cluster_groups_stopped", "Groups whose replica here has stopped.", stopped.len() as u64),
    ];
    figures.extend(nodes.iter().map(|node| {
        let help = "1 while there is a connection to that node, or it is this one.";
        Metric::gauge("lapwing_cluster_connected", help, u64::from(node.is_connected)).with("node", node.name.as_str())
    }));
    figures.extend(nodes.iter().filter_map(|node| {
        let help = "Entries that a node lacks, as the one that leads sees it; at that one alone.";
        Some(Metric::gauge("lapwing_cluster_lag_entries", help, node.behind?).with("node", node.name.as_str()))
    }));
    figures.extend(cuts.iter().map(|(reason, count)| {
        let help = "Connections between nodes that were cut, by reason.";
        Metric::counter("lapwing_cluster_connections_cut_total", help, *count).with("reason", *reason)
    }));
    figures
}
