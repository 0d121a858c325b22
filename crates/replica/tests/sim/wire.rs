//! The connection between two nodes: bytes in order, late, or for a while not at all; when it breaks, what is on its way is lost.

use std::collections::VecDeque;

/// Between the nodes `ends.0` and `ends.1`, of which the first has the lower number.
#[derive(Debug)]
pub struct Wire {
    pub ends: (usize, usize),
    pub is_up: bool,
    /// It cannot be made before that.
    pub down_until_ms: u64,
    /// From the first end to the second, and back.
    pub ways: [Way; 2],
}

/// One direction.
#[derive(Debug, Default)]
pub struct Way {
    parts: VecDeque<(u64, Vec<u8>)>,
    /// Nothing arrives before that.
    pub blocked_until_ms: u64,
    /// What has arrived and is no whole frame.
    pub arrived: Vec<u8>,
}

impl Wire {
    pub fn new(ends: (usize, usize)) -> Wire {
        Wire { ends, is_up: false, down_until_ms: 0, ways: Default::default() }
    }

    /// It breaks, and is made again some time after `until_ms`.
    pub fn cut(&mut self, until_ms: u64) {
        self.is_up = false;
        self.down_until_ms = self.down_until_ms.max(until_ms);
        for way in &mut self.ways {
            way.parts.clear();
            way.arrived.clear();
        }
    }

    /// The way from a node; `None`: it is not at this wire.
    pub fn way_from(&mut self, node: usize) -> Option<&mut Way> {
        match self.ends {
            (first, _) if first == node => Some(&mut self.ways[0]),
            (_, second) if second == node => Some(&mut self.ways[1]),
            _ => None,
        }
    }

    /// The other end.
    pub fn other(&self, node: usize) -> usize {
        if self.ends.0 == node { self.ends.1 } else { self.ends.0 }
    }
}

impl Way {
    pub fn send(&mut self, due_ms: u64, bytes: Vec<u8>) {
        // One behind the other.
        let due_ms = self.parts.back().map_or(due_ms, |(before_ms, _)| due_ms.max(*before_ms));
        self.parts.push_back((due_ms, bytes));
    }

    /// Takes in what has come by now; true when anything has.
    pub fn arrive(&mut self, now_ms: u64) -> bool {
        let before = self.arrived.len();
        while now_ms >= self.blocked_until_ms && self.parts.front().is_some_and(|(due_ms, _)| *due_ms <= now_ms) {
            let (_, bytes) = self.parts.pop_front().expect("looked at");
            self.arrived.extend(bytes);
        }
        self.arrived.len() > before
    }

    /// Bytes that are on their way.
    pub fn under_way(&self) -> usize {
        self.parts.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}
