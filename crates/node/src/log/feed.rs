//! A shard's side of the log: encode, number, hand over, and know what is durable.

use std::collections::VecDeque;
use std::sync::Arc;

use lapwing_envelope::Envelope;
use lapwing_store::StreamIndex;

use super::batch::{Destination, LogBatch, Record};
use super::shared::LogShared;
use crate::config::StreamKey;
use crate::mailbox::Lane;
use crate::placement::NodeId;
use crate::slot::{Slot, stable_hash};

/// Bytes gathered in one batch before the next one is begun.
const BATCH_BYTES: usize = 256 << 10;

/// One stream as a shard sees it.
#[derive(Clone, Debug)]
pub(crate) struct StreamRoute {
    pub(crate) index: StreamIndex,
    pub(crate) partitions: u32,
    pub(crate) key: StreamKey,
}

/// A shard's way into the log.
pub(crate) struct LogFeed {
    lane: Lane<LogBatch>,
    shared: Arc<LogShared>,
    shard: usize,
    streams: Vec<StreamRoute>,
    open: LogBatch,
    /// By shard the last LSN that this one may have heard of.
    heard: Vec<u64>,
    last_lsn: u64,
    /// (last LSN, bytes) of batches handed over and not durable yet.
    under_way: VecDeque<(u64, u64)>,
    under_way_bytes: u64,
    bytes_max: u64,
}

impl LogFeed {
    pub(crate) fn new(
        lane: Lane<LogBatch>,
        shared: Arc<LogShared>,
        shard: usize,
        streams: Vec<StreamRoute>,
        bytes_max: u64,
    ) -> Self {
        let (open, heard, under_way) = (LogBatch::default(), vec![0; shared.shards()], VecDeque::new());
        LogFeed { lane, shared, shard, streams, open, heard, last_lsn: 0, under_way, under_way_bytes: 0, bytes_max }
    }

    /// Encodes one message for stream number `stream`; returns its LSN.
    pub(crate) fn append<'p, I>(&mut self, stream: u32, envelope: &Envelope<'_>, user_properties: I) -> u64
    where
        I: Iterator<Item = (&'p str, &'p str)> + Clone,
    {
        let route = &self.streams[stream as usize];
        let slot = Slot::of(envelope.client_id.as_bytes());
        let key = match route.key {
            StreamKey::Client => envelope.client_id,
            StreamKey::Topic => envelope.topic,
        };
        let partition = (stable_hash(key.as_bytes()) % u64::from(route.partitions)) as u32;
        let to = Destination::Stream { stream: route.index, partition };
        envelope.encode(user_properties, &mut self.open.bodies);
        self.open.ingress_at_us = self.open.ingress_at_us.max(envelope.ingress_at_us);
        self.push(to, slot, envelope.qos > 0)
    }

    /// Adds an entry to the log of a data group that this shard owns; returns its LSN. `awaited`: somebody waits until it
    /// is durable.
    pub(crate) fn entry(
        &mut self,
        (data_group, index): (u16, u64),
        slot: Slot,
        awaited: bool,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> u64 {
        encode(&mut self.open.bodies);
        self.push(Destination::DataGroup { data_group, index }, slot, awaited)
    }

    /// The body is at the end of the open batch.
    fn push(&mut self, to: Destination, slot: Slot, awaited: bool) -> u64 {
        self.last_lsn += 1;
        // Unique in a cluster as long as this process lives: 6 bits of the node and 6 of the shard over a counter.
        let maker = u64::from(NodeId::THIS.0) << 6 | self.shard as u64;
        let message_id = maker << 52 | self.last_lsn;
        let body_end = self.open.bodies.len();
        self.open.records.push(Record { to, slot, message_id, body_end });
        self.open.last_lsn = self.last_lsn;
        self.open.awaited |= awaited;
        if body_end >= BATCH_BYTES {
            self.close_batch();
        }
        self.last_lsn
    }

    /// The LSN of the last record so far.
    pub(crate) fn last_lsn(&self) -> u64 {
        self.last_lsn
    }

    fn close_batch(&mut self) {
        if self.open.records.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.open);
        let bytes = batch.bodies.len() as u64;
        self.under_way.push_back((batch.last_lsn, bytes));
        self.under_way_bytes += bytes;
        self.shared.sent(bytes);
        self.lane.send(batch);
        self.shared.note_closed(self.shard, self.last_lsn);
    }

    /// Mail of this shard has been taken: what is written from now on comes after what that one had written before.
    pub(crate) fn hear(&mut self, from: usize) {
        let closed = self.shared.closed(from);
        if closed > self.heard[from] {
            // What was written before has not heard of it; together they could wait for each other.
            self.close_batch();
            self.heard[from] = closed;
            self.open.after.push((from, closed));
        }
    }

    /// Hands over what gathered: once per turn of the loop, and before any mail leaves, as whoever takes that comes after it.
    pub(crate) fn flush(&mut self) {
        self.close_batch();
        self.lane.flush();
    }

    /// The last durable LSN of this shard.
    pub(crate) fn committed(&mut self) -> u64 {
        let committed = self.shared.committed(self.shard);
        while let Some(&(lsn, bytes)) = self.under_way.front()
            && lsn <= committed
        {
            self.under_way.pop_front();
            self.under_way_bytes -= bytes;
        }
        committed
    }

    /// Nothing more will be handed over: notes how much it was.
    pub(crate) fn note_end(&self) {
        self.shared.note_end(self.shard, self.last_lsn);
    }

    /// True when nothing waits here for room in the lane.
    pub(crate) fn is_handed_over(&self) -> bool {
        self.lane.pending() == 0 && self.open.records.is_empty()
    }

    /// True when everything handed over is durable.
    pub(crate) fn is_settled(&mut self) -> bool {
        self.committed() == self.last_lsn
    }

    /// Bytes on their way to the disk.
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.under_way_bytes + self.open.bodies.len() as u64
    }

    /// True when connections that publish what is kept may be read.
    pub(crate) fn has_credit(&self) -> bool {
        self.waiting_bytes() < self.bytes_max && self.shared.takes_more()
    }

    /// True when not even a message that has come in already may be taken: it stays where it is.
    pub(crate) fn takes_nothing(&self) -> bool {
        self.shared.takes_nothing()
    }

    /// True when even those that wait already are too many: four times the mark.
    pub(crate) fn is_overfull(&self) -> bool {
        self.waiting_bytes() > self.bytes_max.saturating_mul(4)
    }

    /// True while the disk is full.
    pub(crate) fn is_disk_full(&self) -> bool {
        self.shared.is_full()
    }
}
