//! Numbers of the data groups' log: the store's own counters, what lies there, and what waits in it.

use lapwing_store::journal::JournalReader;

use super::Metric;
use crate::data_groups::DataGroups;

/// Names that the store's counters have outside.
const NAMES: [(&str, &str); 17] = [
    ("entries", "lapwing_journal_entries_total"),
    ("bytes", "lapwing_journal_bytes_total"),
    ("commits", "lapwing_journal_commits_total"),
    ("sync_us", "lapwing_journal_sync_microseconds_total"),
    ("full", "lapwing_journal_full_total"),
    ("torn_tails", "lapwing_journal_torn_tails_total"),
    ("torn_bytes", "lapwing_journal_torn_bytes_total"),
    ("indexes_rebuilt", "lapwing_journal_indexes_rebuilt_total"),
    ("corrupt_reads", "lapwing_journal_corrupt_reads_total"),
    ("read_entries", "lapwing_journal_read_entries_total"),
    ("deleted_segments", "lapwing_journal_deleted_segments_total"),
    ("deleted_bytes", "lapwing_journal_deleted_bytes_total"),
    ("kept_entries", "lapwing_journal_kept_entries_total"),
    ("kept_bytes", "lapwing_journal_kept_bytes_total"),
    ("snapshots", "lapwing_journal_snapshots_total"),
    ("snapshot_bytes", "lapwing_journal_snapshot_bytes_total"),
    ("notices_dropped", "lapwing_journal_notices_dropped_total"),
];

/// The journal's numbers.
pub(crate) fn collect(reader: &JournalReader, data_groups: &DataGroups) -> Vec<Metric> {
    let info = reader.info();
    let mut metrics = vec![
        Metric::gauge("lapwing_journal_segments", "Files that entries of the data groups lie in.", info.segments),
        Metric::gauge("lapwing_journal_disk_bytes", "Bytes of these files that are in use.", info.bytes),
        Metric::gauge(
            "lapwing_journal_queued_messages",
            "Messages that wait for kept sessions and consumer groups, each once for each of them.",
            data_groups.queued(),
        ),
        Metric::gauge(
            "lapwing_journal_lost_entries",
            "Entries whose loss was accepted, met in the log by this start; see lapwing store.",
            data_groups.lost(),
        ),
    ];
    for (name, help, value) in reader.counters().list() {
        if let Some((_, outside)) = NAMES.iter().find(|(inside, _)| *inside == name) {
            metrics.push(Metric::counter(outside, help, value));
        }
    }
    metrics
}
