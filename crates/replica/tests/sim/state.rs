//! What a group's log adds up to: in the place of sessions and queues a number, and a hash of everything before.

use lapwing_replica::Body;

/// A state machine that notices everything: order, gaps, other contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The Raft index of the last entry.
    pub raft_index: u64,
    /// The sequence of the last message.
    pub sequence: u64,
    /// Of all messages.
    pub hash: u64,
}

impl State {
    /// As a group is founded: at Raft index 1, without messages.
    pub fn founded() -> State {
        State { raft_index: 1, ..State::default() }
    }

    /// Applies the next entry.
    ///
    /// # Errors
    /// It is not the next one.
    pub fn apply(&mut self, raft_index: u64, body: &Body) -> Result<(), String> {
        if raft_index != self.raft_index + 1 {
            return Err(format!("entry {raft_index} comes behind {}", self.raft_index));
        }
        self.raft_index = raft_index;
        let Some(batch) = body.batch() else { return Ok(()) };
        let first = batch.head().first_sequence;
        if first != self.sequence + 1 {
            return Err(format!("entry {raft_index} has sequence {first} behind {}", self.sequence));
        }
        for record in batch.records().iter() {
            self.sequence += 1;
            self.hash = record.body.iter().fold(self.hash ^ record.message_id, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
            });
        }
        Ok(())
    }
}
