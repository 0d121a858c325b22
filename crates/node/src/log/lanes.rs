//! What the shards have for the log, in an order that a crash may cut anywhere: nothing is taken before what it came after.
//!
//! What one shard writes may rest on what another has written: the entry of a QoS 2 message names the session of its publisher,
//! if that is kept. Mail between shards leaves behind the writer's batch, and who has taken mail says with its next batch
//! after which ones that comes ([`LogBatch::after`]). So the log never has the second without the first, and no index
//! that somebody refers to is given again after a crash.
//!
//! This holds for as long as all data groups share one log. What names the entry of a group, a hold or a will does without: that
//! entry was committed before it left its shard (`shard/durable/awaited_entries`).

use super::batch::LogBatch;
use crate::mailbox::Inlet;

/// The lanes of all shards, as the log thread sees them.
pub(super) struct LogLanes {
    inlets: Vec<Inlet<LogBatch>>,
    /// By lane a batch that has to wait for another lane's.
    aside: Vec<Option<LogBatch>>,
    /// The last LSN appended, by lane.
    appended: Vec<u64>,
    /// The lane to look at next.
    turn: usize,
}

impl LogLanes {
    pub(super) fn new(inlets: Vec<Inlet<LogBatch>>) -> Self {
        let (aside, appended) = (inlets.iter().map(|_| None).collect(), vec![0; inlets.len()]);
        LogLanes { inlets, aside, appended, turn: 0 }
    }

    /// The next batch and its lane: one of each in turn, beginning behind the lane that came last, so that a shard with
    /// much to log does not keep the others from it. `None`: nothing that may be appended now is there.
    pub(super) fn take(&mut self) -> Option<(usize, LogBatch)> {
        for _ in 0..self.inlets.len() {
            let lane = self.turn;
            self.turn = (lane + 1) % self.inlets.len();
            if let Some(batch) = self.take_from(lane) {
                return Some((lane, batch));
            }
        }
        None
    }

    fn take_from(&mut self, lane: usize) -> Option<LogBatch> {
        let batch = self.aside[lane].take().or_else(|| self.inlets[lane].take())?;
        if batch.after.iter().all(|(other, lsn)| self.appended[*other] >= *lsn) {
            return Some(batch);
        }
        // The other shard has closed its batch already: it is on its way, and wakes us.
        self.aside[lane] = Some(batch);
        None
    }

    /// Everything of a lane up to this LSN is appended.
    pub(super) fn appended(&mut self, lane: usize, lsn: u64) {
        self.appended[lane] = lsn;
    }

    /// The last LSN appended, by lane.
    pub(super) fn lsns(&self) -> &[u64] {
        &self.appended
    }

    /// True when nothing has come that was not looked at.
    pub(super) fn is_empty(&self) -> bool {
        self.inlets.iter().zip(&self.aside).all(|(inlet, aside)| aside.is_some() || inlet.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mailbox::{Bell, Lane, Wake, lane};

    struct Nobody;
    impl Wake for Nobody {
        fn wake(&self) {}
    }

    fn lanes(count: usize) -> (Vec<Lane<LogBatch>>, LogLanes) {
        let (out, inlets) = (0..count).map(|_| lane(4, Bell::new(Nobody), Bell::new(Nobody))).unzip();
        (out, LogLanes::new(inlets))
    }

    fn send(lane: &mut Lane<LogBatch>, last_lsn: u64, after: &[(usize, u64)]) {
        lane.send(LogBatch { last_lsn, after: after.to_vec(), ..LogBatch::default() });
        lane.flush();
    }

    fn take(lanes: &mut LogLanes) -> Option<(usize, u64)> {
        let (lane, batch) = lanes.take()?;
        lanes.appended(lane, batch.last_lsn);
        Some((lane, batch.last_lsn))
    }

    /// Does a batch wait for those it came after, over any number of lanes, and nobody else for it?
    #[test]
    fn nothing_comes_before_what_it_came_after() {
        let (mut out, mut lanes) = lanes(3);
        send(&mut out[0], 5, &[(1, 7), (2, 1)]);
        send(&mut out[0], 6, &[]);
        send(&mut out[1], 7, &[(2, 3)]);
        assert_eq!((take(&mut lanes), lanes.is_empty()), (None, true), "what they wait for is not there yet");
        send(&mut out[2], 2, &[]);
        assert_eq!((take(&mut lanes), take(&mut lanes)), (Some((2, 2)), None));
        send(&mut out[2], 3, &[(0, 0)]);
        assert!(!lanes.is_empty());
        let order: Vec<_> = std::iter::from_fn(|| take(&mut lanes)).collect();
        assert_eq!(order, [(2, 3), (1, 7), (0, 5), (0, 6)]);
        assert_eq!(lanes.lsns(), [6, 7, 3]);
    }

    /// Does each lane have its turn?
    #[test]
    fn lanes_take_turns() {
        let (mut out, mut lanes) = lanes(2);
        for lsn in 1..4 {
            send(&mut out[0], lsn, &[]);
        }
        send(&mut out[1], 1, &[]);
        let order: Vec<_> = std::iter::from_fn(|| take(&mut lanes)).collect();
        assert_eq!(order, [(0, 1), (1, 1), (0, 2), (0, 3)]);
    }
}
