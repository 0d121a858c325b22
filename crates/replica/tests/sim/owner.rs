//! Who serves, as far as the log sees it: batches with numbers, and what was acknowledged.

use std::sync::Arc;

use lapwing_oracle::variants::Random;
use lapwing_peer::{Batch, GroupNumber, List, Record};

use crate::disk::place;
use crate::state::State;

/// A serving: from where its node began to have clients until the last of them is gone.
#[derive(Debug)]
pub struct Owner {
    /// The sequence that comes next, by place of the group.
    next: Vec<u64>,
    /// It is over at this time of its node's clock.
    pub ends_at_ms: Option<u64>,
}

impl Owner {
    /// Goes on where the states end.
    pub fn new(states: &[State]) -> Owner {
        Owner { next: states.iter().map(|state| state.sequence + 1).collect(), ends_at_ms: None }
    }

    /// The next batch of a group: some messages, now and then a large one.
    pub fn batch(&mut self, group: GroupNumber, random: &mut Random) -> Arc<Batch> {
        let next = &mut self.next[place(group)];
        let batch = batch(*next, random);
        *next += u64::from(batch.head().count);
        batch
    }

    /// A batch of this group was not taken.
    pub fn take_back(&mut self, group: GroupNumber, batch: &Batch) {
        self.next[place(group)] -= u64::from(batch.head().count);
    }
}

/// A batch whose messages are like no others.
pub fn batch(first_sequence: u64, random: &mut Random) -> Arc<Batch> {
    let count = 1 + random.below(4);
    let large = if random.below(400) == 0 { 300_000 } else { 60 };
    let bodies: Vec<Vec<u8>> = (0..count)
        .map(|_| {
            let length = random.below(large);
            random.bytes(length)
        })
        .collect();
    let record = |body| Record { slot: 7, message_id: random.bits() >> 2, appended_at_us: 1, body };
    let records: Vec<Record<'_>> = bodies.iter().map(Vec::as_slice).map(record).collect();
    Arc::new(Batch::of(first_sequence, &List::from_slice(&records)).expect("within bounds"))
}
