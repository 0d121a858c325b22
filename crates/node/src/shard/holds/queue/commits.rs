//! Messages whose entries are not committed: nobody is offered one, and nothing of its topic goes before it.

use super::HoldQueue;

impl<T> HoldQueue<T> {
    /// The message that was just added waits for [`HoldQueue::committed`].
    pub(in crate::shard::holds) fn await_commit(&mut self, number: u64) {
        self.uncommitted.insert(number);
        if self.ready.remove(&number) {
            self.held_back.insert(number);
        }
    }

    /// The entries of messages up to this number are committed.
    pub(in crate::shard::holds) fn committed(&mut self, through: u64) {
        while let Some(number) = self.uncommitted.first().copied().filter(|number| *number <= through) {
            self.uncommitted.remove(&number);
            if self.held_back.remove(&number) {
                self.ready.insert(number);
            }
        }
    }
}
