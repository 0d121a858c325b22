//! What a shard hands to the log thread in one step.

use lapwing_store::StreamIndex;

use crate::slot::Slot;

/// Where one body goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Into a partition of a stream; the log gives it its offset.
    Stream { stream: StreamIndex, partition: u32 },
    /// Into the log of a data group, under the index that its shard has given it.
    DataGroup { data_group: u16, index: u64 },
}

/// One body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) to: Destination,
    pub(crate) slot: Slot,
    pub(crate) message_id: u64,
    /// End of the body in `LogBatch::bodies`; it begins where the one before ends.
    pub(crate) body_end: usize,
}

/// Records in the order of their LSNs.
#[derive(Debug, Default)]
pub(crate) struct LogBatch {
    pub(crate) records: Vec<Record>,
    pub(crate) bodies: Vec<u8>,
    /// The LSN of the last record.
    pub(crate) last_lsn: u64,
    /// The latest time at which the node took one of them in, in microseconds since the epoch.
    pub(crate) ingress_at_us: i64,
    /// It came after what other shards had written by then: shards and LSNs, where they have changed since the batch before.
    pub(crate) after: Vec<(usize, u64)>,
    /// Someone waits for the commit (a QoS 1 or 2 message is in it).
    pub(crate) awaited: bool,
}

impl LogBatch {
    /// Each record with its body.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Record, &[u8])> {
        let mut start = 0;
        self.records.iter().map(move |record| {
            let body = &self.bodies[start..record.body_end];
            start = record.body_end;
            (record, body)
        })
    }
}
