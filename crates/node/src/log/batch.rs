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

    /// Keeps the first `count` records and gives the others, as a batch that comes next.
    pub(crate) fn split_off(&mut self, count: usize) -> LogBatch {
        let cut = count.checked_sub(1).map_or(0, |last| self.records[last].body_end);
        let mut records = self.records.split_off(count);
        records.iter_mut().for_each(|record| record.body_end -= cut);
        let rest = LogBatch {
            bodies: self.bodies.split_off(cut),
            last_lsn: self.last_lsn,
            ingress_at_us: self.ingress_at_us,
            // What it came after is in the log since before its first record.
            after: Vec::new(),
            awaited: self.awaited,
            records,
        };
        self.last_lsn -= rest.records.len() as u64;
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cut at any place: are both parts' bodies and LSNs those of the whole?
    #[test]
    fn two_parts_of_a_batch_are_the_whole() {
        let whole = || {
            let mut batch = LogBatch { last_lsn: 20, after: vec![(1, 5)], awaited: true, ..LogBatch::default() };
            for index in 1..=4_u64 {
                batch.bodies.extend(vec![index as u8; 3 * index as usize]);
                let to = Destination::DataGroup { data_group: 2, index };
                let body_end = batch.bodies.len();
                batch.records.push(Record { to, slot: Slot::first_of(2), message_id: index, body_end });
            }
            batch
        };
        let bodies =
            |batch: &LogBatch| batch.iter().map(|(record, body)| (record.to, body.to_vec())).collect::<Vec<_>>();
        for count in 0..=4 {
            let mut first = whole();
            let rest = first.split_off(count);
            assert_eq!((first.records.len(), first.last_lsn, rest.last_lsn), (count, 16 + count as u64, 20));
            assert_eq!([bodies(&first), bodies(&rest)].concat(), bodies(&whole()), "cut behind {count}");
            assert!(rest.after.is_empty() && rest.awaited);
        }
    }
}
