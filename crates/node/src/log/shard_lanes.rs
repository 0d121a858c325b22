//! The lanes of all shards as the thread sees them that replicates: what they hand over becomes batches of data groups, one of
//! each a round, and is told as committed when every batch of its round is.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lapwing_peer::{Batch, EncodeError, List, Record as Copied};

use super::batch::{Destination, LogBatch};
use super::lanes::LogLanes;
use super::shared::LogShared;
use super::thread::LogWiring;
use crate::mailbox::Bell;
use crate::slot::DATA_GROUPS;

/// Bytes that one round takes at most, and a batch more.
const ROUND_BYTES: u64 = 8 << 20;

/// The lanes of one serving.
pub(crate) struct ShardLanes {
    lanes: LogLanes,
    shards: Vec<Bell>,
    shared: Arc<LogShared>,
    rounds: VecDeque<Round>,
}

/// What was taken from the lanes at one time.
#[derive(Debug)]
struct Round {
    /// Of each data group with a batch in it the last sequence.
    until: Vec<(u16, u64)>,
    /// By shard the last LSN through this round.
    lsns: Vec<u64>,
    bytes: u64,
}

impl ShardLanes {
    /// Of a serving that begins; whoever rings its bell is heard by the thread that has these.
    pub(crate) fn new(wiring: LogWiring) -> Self {
        let LogWiring { inlets, shards, shared, .. } = wiring;
        ShardLanes { lanes: LogLanes::new(inlets), shards, shared, rounds: VecDeque::new() }
    }

    /// What the shards have handed over since the last time: of each data group one batch. `now_us`: of what came in earlier
    /// this is when it is appended.
    ///
    /// # Errors
    /// Entries that no batch can have: a defect, since shards keep to the bounds of packets.
    pub(crate) fn gather(&mut self, now_us: i64) -> Result<Vec<(u16, Arc<Batch>)>, EncodeError> {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while bytes < ROUND_BYTES
            && let Some((shard, batch)) = self.lanes.take()
        {
            bytes += batch.bodies.len() as u64;
            self.lanes.appended(shard, batch.last_lsn);
            taken.push(batch);
        }
        if taken.is_empty() {
            return Ok(Vec::new());
        }
        if self.rounds.is_empty() {
            self.shared.pulse.begin();
        }
        let batches = batches_of(&taken, now_us)?;
        let end = |(data_group, batch): &(u16, Arc<Batch>)| {
            let head = batch.head();
            (*data_group, head.first_sequence + u64::from(head.count) - 1)
        };
        let until = batches.iter().map(end).collect();
        self.rounds.push_back(Round { until, lsns: self.lanes.lsns().to_vec(), bytes });
        Ok(batches)
    }

    /// Throws away what the shards hand over, and will never be told of: the serving is over, and they wait for room.
    pub(crate) fn discard(&mut self) {
        while let Some((shard, batch)) = self.lanes.take() {
            self.lanes.appended(shard, batch.last_lsn);
        }
    }

    /// Data groups have come so far; `applied`: the last sequence of one. Tells the shards whose rounds are done.
    pub(crate) fn applied(&mut self, applied: impl Fn(u16) -> u64) {
        let is_done = |round: &Round| round.until.iter().all(|(data_group, last)| applied(*data_group) >= *last);
        let (mut done, mut bytes) = (None, 0);
        while self.rounds.front().is_some_and(is_done)
            && let Some(round) = self.rounds.pop_front()
        {
            bytes += round.bytes;
            done = Some(round.lsns);
        }
        if let Some(lsns) = done {
            self.publish(&lsns, bytes);
            self.shared.pulse.end();
            if !self.rounds.is_empty() {
                self.shared.pulse.begin();
            }
        }
    }

    fn publish(&self, lsns: &[u64], bytes: u64) {
        let is_room = self.shared.arrived(bytes);
        for ((cell, bell), lsn) in self.shared.committed.iter().zip(&self.shards).zip(lsns) {
            if cell.load(Ordering::Relaxed) != *lsn || is_room {
                cell.store(*lsn, Ordering::Release);
                bell.ring();
            }
        }
    }

    /// What the disk says of its room: whether it takes nothing, or only what frees space in the end; and what counts as a
    /// segment there.
    pub(crate) fn note_room(&self, is_full: bool, is_low: bool, scale_bytes: u64) {
        let is_more = self.shared.set_scale(scale_bytes);
        let is_other = self.shared.full.swap(is_full, Ordering::Relaxed) != is_full;
        if self.shared.low.swap(is_low, Ordering::Relaxed) != is_low || is_other || is_more {
            // Nothing else may come that would wake them.
            self.shards.iter().for_each(Bell::ring);
        }
    }

    /// Whether the serving is to end: its shards have ended, and hand over nothing more.
    pub(crate) fn is_stopping(&self) -> bool {
        self.shared.stop.load(Ordering::Acquire)
    }

    /// Whether nothing is in the lanes that was not looked at.
    pub(crate) fn is_idle(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Whether something that was taken is not committed.
    pub(crate) fn is_under_way(&self) -> bool {
        !self.rounds.is_empty()
    }

    /// Whether everything that was handed over is committed.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_idle() && self.rounds.is_empty()
    }
}

/// The records of each data group, in their order, as one batch.
fn batches_of(taken: &[LogBatch], now_us: i64) -> Result<Vec<(u16, Arc<Batch>)>, EncodeError> {
    let mut groups: [(u64, Vec<Copied<'_>>); DATA_GROUPS as usize] = Default::default();
    for batch in taken {
        // Nothing is appended before it came in, even if the clock was set back meanwhile.
        let appended_at_us = now_us.max(batch.ingress_at_us);
        for (record, body) in batch.iter() {
            let Destination::DataGroup { data_group, index } = record.to else {
                panic!("a member of a cluster has no streams");
            };
            let (first, records) = &mut groups[usize::from(data_group)];
            if records.is_empty() {
                *first = index;
            }
            let (slot, message_id) = (record.slot.get(), record.message_id);
            records.push(Copied { slot, message_id, appended_at_us, body });
        }
    }
    let written = (0..).zip(groups).filter(|(_, (_, records))| !records.is_empty());
    let batch = |(data_group, (first, records)): (u16, (u64, Vec<Copied<'_>>))| {
        Ok((data_group, Arc::new(Batch::of(first, &List::from_slice(&records))?)))
    };
    written.map(batch).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::assemble::Unpark;
    use crate::log::batch::Record;
    use crate::mailbox::{Lane, Wake, lane};
    use crate::slot::Slot;

    struct Nobody;
    impl Wake for Nobody {
        fn wake(&self) {}
    }

    fn lanes(count: usize) -> (Vec<Lane<LogBatch>>, ShardLanes, Arc<LogShared>) {
        let bell = Bell::new(Nobody);
        let (out, inlets) = (0..count).map(|_| lane(8, bell.clone(), bell.clone())).unzip();
        let shared = Arc::new(LogShared::new(count, 1 << 20, 1 << 20, Duration::from_secs(1)));
        let shards = (0..count).map(|_| bell.clone()).collect();
        let wiring = LogWiring { inlets, shards, bell, unpark: Unpark::default(), shared: shared.clone() };
        (out, ShardLanes::new(wiring), shared)
    }

    fn send(lane: &mut Lane<LogBatch>, last_lsn: u64, entries: &[(u16, u64)]) {
        let mut batch = LogBatch { last_lsn, ..LogBatch::default() };
        for (data_group, index) in entries {
            batch.bodies.extend_from_slice(&index.to_le_bytes());
            let to = Destination::DataGroup { data_group: *data_group, index: *index };
            let (slot, body_end) = (Slot::first_of(*data_group), batch.bodies.len());
            batch.records.push(Record { to, slot, message_id: *index, body_end });
        }
        lane.send(batch);
        lane.flush();
    }

    /// Does each data group get one batch of all that the shards have for it, in order, and is a shard told of it when every
    /// group of that round has come so far?
    #[test]
    fn a_round_is_done_when_all_its_groups_are() {
        let (mut out, mut lanes, shared) = lanes(2);
        send(&mut out[0], 3, &[(2, 5), (4, 9), (2, 6)]);
        send(&mut out[0], 4, &[(2, 7)]);
        send(&mut out[1], 1, &[(6, 1)]);
        let batches = lanes.gather(77).expect("within bounds");
        let heads: Vec<_> = batches
            .iter()
            .map(|(data_group, batch)| (*data_group, batch.head().first_sequence, batch.head().count))
            .collect();
        assert_eq!(heads, [(2, 5, 3), (4, 9, 1), (6, 1, 1)]);
        assert!(batches[0].1.records().iter().all(|record| record.appended_at_us == 77));
        send(&mut out[0], 5, &[(4, 10)]);
        assert_eq!(lanes.gather(78).expect("within bounds").len(), 1);
        let committed = || [shared.committed(0), shared.committed(1)];
        lanes.applied(|data_group| if data_group == 6 { 0 } else { 100 });
        assert_eq!(committed(), [0, 0], "one group of the first round is missing");
        lanes.applied(|data_group| [7, 9, 1][usize::from(data_group) / 2 - 1]);
        assert_eq!((committed(), lanes.is_settled()), ([4, 1], false));
        lanes.applied(|_| 10);
        assert_eq!((committed(), lanes.is_settled()), ([5, 1], true));
        assert!(lanes.gather(79).expect("nothing").is_empty());
    }
}
