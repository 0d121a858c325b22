//! Queues whose sessions or groups are over. A queue of millions is not taken down in one go: each entry that is
//! applied takes a share, and until then what it refers to counts as live.

use std::collections::VecDeque;

use crate::live::Live;
use crate::queue::Queue;

/// References that are taken down with each entry.
const REFERENCES_PER_ENTRY: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct LazyFree {
    queues: VecDeque<Queue>,
}

impl LazyFree {
    pub(crate) fn add(&mut self, queue: Queue) {
        if queue.len() > 0 {
            self.queues.push_back(queue);
        }
    }

    /// Takes down a share of the oldest of them.
    #[inline]
    pub(crate) fn free_some(&mut self, live: &mut Live) {
        for _ in 0..REFERENCES_PER_ENTRY {
            let Some(queue) = self.queues.front_mut() else { return };
            match queue.pop() {
                Some(entry) => live.remove(entry),
                None => drop(self.queues.pop_front()),
            }
        }
    }
}
