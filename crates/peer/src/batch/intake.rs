//! Where the parts of batches come together.

use std::collections::VecDeque;

use super::{Batch, BatchPart, Window};
use crate::{BatchHead, Fault, FaultKind, GroupNumber};

/// The batches of one connection that have begun to come and that no entry has named yet. In each group they are taken in the
/// order in which they came.
#[derive(Debug)]
pub struct BatchIntake {
    window: Window,
    groups: [VecDeque<Held>; GroupNumber::END],
}

/// A batch, whole unless it is the last of its group.
#[derive(Debug)]
struct Held {
    term: u64,
    raft_index: u64,
    total_bytes: u32,
    bytes: Vec<u8>,
}

impl Held {
    fn is_whole(&self) -> bool {
        self.bytes.len() == self.total_bytes as usize
    }

    /// Whether the part is the next one of this batch.
    fn goes_on_with(&self, part: &BatchPart<'_>) -> bool {
        let is_it = (self.term, self.raft_index, self.total_bytes) == (part.term, part.raft_index, part.total_bytes);
        is_it && self.bytes.len() == part.first_byte as usize
    }
}

impl BatchIntake {
    /// Of a new connection. `window_bytes`: what this node's hello said.
    pub fn new(window_bytes: u64) -> Self {
        BatchIntake { window: Window::new(window_bytes), groups: std::array::from_fn(|_| VecDeque::new()) }
    }

    /// Takes in a part.
    /// # Errors
    /// `Gap`: it is not the next one. `Window`: it begins a batch for which there was no room.
    pub fn part(&mut self, part: &BatchPart<'_>) -> Result<(), Fault> {
        let group = &mut self.groups[usize::from(part.group.value())];
        match group.back_mut().filter(|held| !held.is_whole()) {
            Some(held) if held.goes_on_with(part) => {
                held.bytes.extend_from_slice(part.bytes);
                return Ok(());
            }
            None if part.first_byte == 0 => {}
            _ => return Err(gap("a part that is not the next one", part)),
        }
        if !self.window.has_room(part.total_bytes) {
            return Err(Fault::new(FaultKind::Window, "a batch for which there was no room", 0));
        }
        self.window.begin(part.total_bytes);
        // Not as many as will come in all: what is said is not what is sent.
        let (term, raft_index, total_bytes) = (part.term, part.raft_index, part.total_bytes);
        group.push_back(Held { term, raft_index, total_bytes, bytes: part.bytes.to_vec() });
        Ok(())
    }

    /// Takes out the batch that an entry names: for each one of each message, in order, whether the engine wants it or not.
    /// It stays under way until it is [finished](Self::finish).
    /// # Errors
    /// `MissingBatch`: it is not the next one of its group, or not whole. `CutShort`, `Malformed`: its bytes are not what the
    /// entry says, or no records.
    pub fn take(&mut self, group: GroupNumber, term: u64, raft_index: u64, head: BatchHead) -> Result<Batch, Fault> {
        let missing = Fault::new(FaultKind::MissingBatch, "an entry whose batch has not come", 0).with(raft_index);
        let group = &mut self.groups[usize::from(group.value())];
        let is_it = |held: &Held| held.is_whole() && (held.term, held.raft_index) == (term, raft_index);
        match group.front().is_some_and(is_it).then(|| group.pop_front()).flatten() {
            Some(held) => Batch::new(head, held.bytes),
            None => Err(missing),
        }
    }

    /// What was taken out is written, or was not wanted: there is room for as much again.
    pub const fn finish(&mut self, batch: BatchHead) {
        self.window.finish(batch.bytes);
    }

    /// What goes into the next Raft frame: [`Raft::done_bytes`](crate::Raft::done_bytes).
    pub const fn done_bytes(&self) -> u64 {
        self.window.done()
    }

    /// What is held or not finished, in bytes.
    pub const fn under_way_bytes(&self) -> u64 {
        self.window.under_way_bytes()
    }
}

#[cold]
fn gap(what: &'static str, part: &BatchPart<'_>) -> Fault {
    Fault::new(FaultKind::Gap, what, 0).with(part.first_byte.into())
}
