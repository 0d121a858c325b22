//! What a durable commit changes for readers.

use super::data_group::OWN;
use super::map::Held;
use super::op::{Op, Piece};
use super::pending::Pending;
use super::state::State;

impl State {
    /// The batch is on disk; its first run lies at `runs_start` of the active segment, which ends at `end` now.
    pub(crate) fn publish(&mut self, pending: &Pending, runs_start: u64, end: u64) {
        for (partition, run_start, ops) in pending.runs(runs_start) {
            ops.iter().for_each(|op| self.apply(partition, run_start, op));
        }
        self.active.last_at_us = Some(pending.batch.times_us().1);
        self.active.end = end;
    }

    fn apply(&mut self, partition: usize, run_start: u64, op: &Op) {
        if partition == OWN as usize {
            return;
        }
        match op {
            Op::Entries(Piece { first, last, .. }) => {
                let held = Held { first: *first, last: *last, sequence: self.active.sequence };
                self.map.append(partition, held);
            }
            Op::Truncate { from, .. } => self.map.truncate(partition, *from),
            _ => {}
        }
        self.active.index.apply(partition, op, run_start, false);
        self.groups[partition].apply(op);
    }
}
