//! Snapshots between nodes: what a leader sends to who lags, and what comes of it.

use lapwing_peer::{GroupNumber, NodeId};

use crate::book::Violation;
use crate::disk::{Saved, place};
use crate::world::{Flaw, World};

/// A snapshot on its way.
#[derive(Debug)]
pub struct Transfer {
    due_ms: u64,
    to: usize,
    group: GroupNumber,
    saved: Saved,
}

impl World {
    /// Snapshots that have come.
    pub fn install(&mut self) -> Result<(), Violation> {
        let now_ms = self.now_ms;
        let (come, later) = std::mem::take(&mut self.transfers).into_iter().partition(|one| one.due_ms <= now_ms);
        self.transfers = later;
        for Transfer { to, group, saved, .. } in come {
            let Some(life) = &mut self.nodes[to].life else { continue };
            // It may have caught up meanwhile.
            if life.replica.install(group, &saved.snapshot).is_ok() {
                life.memberships[place(group)] = saved.snapshot.membership.clone();
                if self.flaw != Flaw::InstalledWithoutState {
                    life.states[place(group)] = saved.state;
                }
                life.installing.push((group, saved));
                life.is_due = true;
            }
        }
        Ok(())
    }

    /// A leader sends its snapshot to who lags.
    pub fn transfer(&mut self, from: usize, group: GroupNumber, peer: NodeId) {
        let to = usize::from(peer.value()) - 1;
        if self.transfers.iter().any(|one| one.to == to && one.group == group) {
            return;
        }
        let is_of_peer =
            |world: &World| world.nodes[from].disk.saved(group).snapshot.membership.contains(peer.value().into());
        if !is_of_peer(self) {
            // Who joined behind a snapshot cannot take it: it is of a group without him.
            self.compact_at(from, group);
        }
        if !is_of_peer(self) {
            return;
        }
        let (due_ms, saved) = (self.now_ms + 20 + self.random.below(300) as u64, self.nodes[from].disk.saved(group));
        self.transfers.push(Transfer { due_ms, to, group, saved: saved.clone() });
    }
}
