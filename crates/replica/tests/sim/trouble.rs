//! What goes wrong, and how it comes right again.

use lapwing_peer::GroupNumber;

use crate::book::Violation;
use crate::disk::{Saved, place};
use crate::world::{Flaw, World};

impl World {
    /// Goes on for so long; in trouble something happens about twice a second.
    pub fn run(&mut self, for_ms: u64, in_trouble: bool) -> Result<(), Violation> {
        let until_ms = self.now_ms + for_ms;
        while self.now_ms < until_ms {
            if in_trouble && self.random.below(500) == 0 {
                self.trouble();
            }
            if self.do_members_change {
                self.members_pass(in_trouble);
            }
            if self.random.below(100) == 0 {
                self.compact();
            }
            self.step().map_err(|what| format!("at {} ms: {what}", self.now_ms))?;
        }
        Ok(())
    }

    /// Members change now and then, and the groups follow.
    fn members_pass(&mut self, in_trouble: bool) {
        if in_trouble && self.random.below(2_000) == 0 {
            self.change_members();
        }
        if self.random.below(100) == 0 {
            self.follow_members();
        }
    }

    /// Everything goes through, everybody is up.
    pub fn heal(&mut self) {
        let now_ms = self.now_ms;
        for node in &mut self.nodes {
            (node.down_until_ms, node.still_until_ms) = (now_ms, now_ms);
            node.disk.lags_until_ms = now_ms;
        }
        for wire in &mut self.wires {
            wire.down_until_ms = now_ms;
            wire.ways.iter_mut().for_each(|way| way.blocked_until_ms = now_ms);
        }
    }

    fn trouble(&mut self) {
        let node = self.random.below(self.nodes.len());
        let wire = self.random.below(self.wires.len());
        let for_ms = [30, 300, 1_500, 4_000][self.random.below(4)];
        let until_ms = self.now_ms + for_ms;
        match self.random.below(9) {
            0 | 1 => self.crash(node, until_ms),
            2 => self.nodes[node].still_until_ms = until_ms,
            3 => self.nodes[node].disk.lags_until_ms = until_ms,
            4 => self.cut(wire, until_ms),
            5 => self.wires_of(node).into_iter().for_each(|wire| self.cut(wire, until_ms)),
            6 => {
                let way = self.random.below(2);
                self.wires[wire].ways[way].blocked_until_ms = until_ms;
            }
            7 => self.nodes[node].life.iter_mut().for_each(|life| life.replica.step_down(None)),
            _ => self.heal(),
        }
    }

    fn wires_of(&self, node: usize) -> Vec<usize> {
        let is_at = |wire: &usize| [self.wires[*wire].ends.0, self.wires[*wire].ends.1].contains(&node);
        (0..self.wires.len()).filter(is_at).collect()
    }

    /// A process ends, and its connections with it; it comes up again at `until_ms`.
    pub fn crash(&mut self, node: usize, until_ms: u64) {
        for wire in self.wires_of(node) {
            self.cut(wire, self.now_ms);
        }
        let (this, random) = (&mut self.nodes[node], &mut self.random);
        if this.life.is_some() {
            this.crash(random);
            this.down_until_ms = until_ms;
        }
        if self.flaw == Flaw::SuffixLost {
            this.disk.lose_suffix();
        }
    }

    /// Some node writes a snapshot of some group.
    fn compact(&mut self) {
        let node = self.random.below(self.nodes.len());
        let group = GroupNumber::all().nth(self.random.below(17)).expect("one of 17");
        self.compact_at(node, group);
    }

    /// A node writes a snapshot of a group, as far as its disk has what the state has.
    pub fn compact_at(&mut self, node: usize, group: GroupNumber) {
        let this = &mut self.nodes[node];
        let Some(life) = &mut this.life else { return };
        let state = life.states[place(group)];
        let is_written = this.disk.synced_through(group) >= state.raft_index;
        let Ok(snapshot) = life.replica.engine(group).snapshot_at(state.raft_index) else { return };
        if is_written && life.installing.is_empty() && life.replica.compact(group, state.raft_index).is_ok() {
            this.disk.compact(group, &Saved { snapshot, state });
        }
    }
}
