//! What goes wrong in a run, and what its operators do.

use super::World;
use super::book::Violation;

/// How often each thing happens: once in so many steps; 0: never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plan {
    /// One message in so many is lost, and one comes twice.
    pub bad_message: u64,
    /// A message takes up to so many steps.
    pub delay_max: u64,
    /// A replica crashes, and is back after a while.
    pub crash: u64,
    /// A disk stands still for a while.
    pub stall: u64,
    /// Some do not hear others for a while.
    pub split: u64,
    /// The leader hands over.
    pub transfer: u64,
    /// Somebody forgets what is committed.
    pub compact: u64,
    /// Somebody comes, goes, or gets or loses its vote.
    pub change: u64,
}

impl Plan {
    /// Everything but members that change.
    pub const ROUGH: Plan = Plan {
        bad_message: 20,
        delay_max: 4,
        crash: 150,
        stall: 120,
        split: 150,
        transfer: 100,
        compact: 80,
        change: 0,
    };
}

impl World {
    /// What happens in this step besides the usual.
    pub(super) fn happen(&mut self) -> Result<(), Violation> {
        let plan = self.plan;
        if self.is_time(plan.crash) {
            let who = self.pick();
            self.crash(who);
        }
        if self.is_time(plan.stall) {
            let who = self.pick();
            self.replicas[who].disk.stands_still_until = self.now + 10 + self.random.below(100);
        }
        if self.is_time(plan.split) {
            self.split();
        }
        if self.healed_at == self.now {
            self.network.heal();
        }
        if self.is_time(plan.transfer) {
            self.transfer();
        }
        if self.is_time(plan.compact) {
            let who = self.pick();
            self.compact(who);
        }
        if self.is_time(plan.change) {
            self.change();
        }
        self.restart_the_crashed()
    }

    fn is_time(&mut self, once_in: u64) -> bool {
        once_in > 0 && self.random.once_in(once_in)
    }

    fn pick(&mut self) -> usize {
        self.random.below(self.replicas.len() as u64) as usize
    }

    /// The process is gone, and of what was not synced a part.
    pub fn crash(&mut self, who: usize) {
        let kept = self.random.below(self.replicas[who].disk.lag() as u64 + 1) as usize;
        let back_in = 5 + self.random.below(60);
        let replica = &mut self.replicas[who];
        if replica.engine.is_some() {
            replica.stop();
            replica.disk.crash(kept, self.mutant);
            replica.back_at = self.now + back_in;
        }
    }

    fn split(&mut self) {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for replica in &self.replicas {
            if self.random.once_in(2) { left.push(replica.id) } else { right.push(replica.id) }
        }
        let is_one_way = self.random.once_in(3);
        self.network.split(&left, &right, is_one_way);
        self.healed_at = self.now + 20 + self.random.below(80);
    }

    fn transfer(&mut self) {
        let to = self.pick() as u64 + 1;
        for engine in self.replicas.iter_mut().filter_map(|replica| replica.engine.as_mut()) {
            // Whoever leads; the others refuse.
            let _ = engine.transfer_to(to);
        }
    }

    /// A snapshot is written and synced, then what it has is forgotten; the disk must have come so far.
    fn compact(&mut self, who: usize) {
        let replica = &mut self.replicas[who];
        let Some(engine) = &mut replica.engine else { return };
        let through = engine.status().commit.min(replica.disk.synced.vote.commit).min(replica.disk.synced.last().index);
        let Ok(snapshot) = engine.snapshot_at(through) else { return };
        if engine.compact(through).is_ok() {
            replica.log.retain(|entry| entry.index > through);
            replica.base = snapshot.at;
            replica.base_sequence = self.book.sequence_behind(through);
            replica.disk.compact(snapshot);
        }
    }
}
