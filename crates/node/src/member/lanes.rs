//! The lanes over which shards hand over batches: what comes is proposed, and told as committed when a round is.

use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use lapwing_cluster::Role;
use lapwing_peer::GroupNumber;

use super::error::MemberError;
use super::raft_thread::{RaftThread, Room};
use crate::log::{LogWiring, ShardLanes, now_us};
use crate::slot::DATA_GROUPS;

/// How long what was handed over may wait for its commit when a serving ends.
const SETTLE_MAX: Duration = Duration::from_secs(2);

/// The lanes of a serving, and whom to tell when it is over.
pub(super) struct Lanes {
    lanes: ShardLanes,
    done: SyncSender<()>,
    /// This node leads no longer: nothing that comes is taken, and nothing that waits is told as committed.
    is_lost: bool,
    /// Of each data group, in which this node leads it while they are taken.
    terms: [u64; DATA_GROUPS as usize],
    stopping_since: Option<Instant>,
}

impl RaftThread {
    /// A serving has begun.
    pub(super) fn take_lanes(&mut self, wiring: LogWiring, done: SyncSender<()>) {
        let lanes = ShardLanes::new(wiring);
        // It may have been decided meanwhile that another node serves.
        let is_lost = self.core.replica.serving() != Role::Active;
        let terms = self.core.terms();
        self.lanes = Some(Lanes { lanes, done, is_lost, terms, stopping_since: None });
        self.tell_room();
    }

    pub(super) fn tell_room(&self) {
        let Room { is_full, is_low, scale_bytes } = self.room;
        if let Some(Lanes { lanes, .. }) = &self.lanes {
            lanes.note_room(is_full, is_low, scale_bytes);
        }
    }

    /// Proposes what the shards have handed over.
    pub(super) fn gather(&mut self) -> Result<bool, MemberError> {
        let Some(Lanes { lanes, is_lost, .. }) = &mut self.lanes else { return Ok(false) };
        let now = Instant::now();
        // What the others have and this disk does not is in memory: no more than fits is taken.
        let is_full = self.core.replica.is_tail_full();
        if !self.pace.opens(lanes.is_under_way(), is_full, now) {
            return Ok(false);
        }
        if *is_lost {
            lanes.discard();
            return Ok(false);
        }
        let batches = lanes.gather(now_us()).map_err(MemberError::Frame)?;
        let has_any = !batches.is_empty();
        if has_any {
            self.pace.took(now);
        }
        for (data_group, batch) in batches {
            let group = GroupNumber::new(data_group as u8).expect("a data group's number");
            if self.core.propose(group, batch).is_err() {
                // Another node leads, or will: nothing of this serving is acknowledged any more.
                self.lose_lanes();
                return Ok(true);
            }
        }
        Ok(has_any)
    }

    pub(super) fn lose_lanes(&mut self) {
        self.lanes.iter_mut().for_each(|lanes| lanes.is_lost = true);
    }

    /// Tells the shards how far it has come, and who serves no more when all of that is over.
    pub(super) fn settle_lanes(&mut self) {
        let Some(Lanes { lanes, done, is_lost, terms, stopping_since }) = &mut self.lanes else { return };
        // A group that was led by another node meanwhile may lack what was handed over for it, and have what came behind that.
        *is_lost |= self.core.replica.observed().leads != u16::MAX || self.core.terms() != *terms;
        if !*is_lost {
            lanes.applied(|data_group| self.core.applied_sequence(data_group));
        }
        if !lanes.is_stopping() {
            return;
        }
        let since = *stopping_since.get_or_insert_with(Instant::now);
        if *is_lost || lanes.is_settled() || since.elapsed() > SETTLE_MAX {
            let _ = done.send(());
            self.lanes = None;
        }
    }
}
