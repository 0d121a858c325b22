//! Numbers of the log: the store's own counters, and whether its disk is full.

use lapwing_store::LogReader;

use super::{Metric, MetricKind};
use crate::log::LogShared;

/// Names that the store's counters have outside.
const NAMES: [(&str, &str); 15] = [
    ("appended_records", "lapwing_log_records_total"),
    ("appended_bytes", "lapwing_log_bytes_total"),
    ("commits", "lapwing_log_commits_total"),
    ("syncs", "lapwing_log_syncs_total"),
    ("sync_us", "lapwing_log_sync_microseconds_total"),
    ("full", "lapwing_log_full_total"),
    ("torn_tails", "lapwing_log_torn_tails_total"),
    ("torn_bytes", "lapwing_log_torn_bytes_total"),
    ("indexes_rebuilt", "lapwing_log_indexes_rebuilt_total"),
    ("trimmed_segments", "lapwing_log_trimmed_segments_total"),
    ("trimmed_bytes", "lapwing_log_trimmed_bytes_total"),
    ("trimmed_unread", "lapwing_log_trimmed_unread_total"),
    ("corrupt_reads", "lapwing_log_corrupt_reads_total"),
    ("read_records", "lapwing_log_read_records_total"),
    ("notices_dropped", "lapwing_log_notices_dropped_total"),
];

/// The log's numbers.
pub(crate) struct LogCounters;

impl LogCounters {
    pub(crate) fn collect(reader: &LogReader, log: &LogShared) -> Vec<Metric> {
        let help = "1 while the disk is full, or nearly: acknowledgements of what is kept wait.";
        let mut metrics = vec![Metric::gauge("lapwing_log_disk_full", help, u64::from(log.is_full() || log.is_low()))];
        metrics.push(Metric {
            name: "lapwing_log_busy_seconds",
            help: "How long the write or sync of the log that is under way has taken; beyond limits.stall_after it stalls.",
            kind: MetricKind::Gauge,
            labels: Vec::new(),
            value: log.pulse.age().as_secs_f64(),
        });
        let help = "Writes and syncs of the log that took limits.stall_after or longer, and are over.";
        metrics.push(Metric::counter("lapwing_log_stalls_total", help, log.pulse.stalls().0));
        for (name, help, value) in reader.counters().list() {
            if let Some((_, outside)) = NAMES.iter().find(|(inside, _)| *inside == name) {
                metrics.push(Metric::counter(outside, help, value));
            }
        }
        for stream in reader.streams() {
            for partition in &stream.partitions {
                let help = "First offset that is not durable yet.";
                metrics.push(
                    Metric::gauge("lapwing_stream_next_offset", help, partition.next_offset)
                        .with("stream", stream.name.clone())
                        .with("partition", partition.partition.to_string()),
                );
            }
        }
        metrics
    }
}
