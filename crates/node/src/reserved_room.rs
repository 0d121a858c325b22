//! Room for one retained message that is promised to its publisher before the message is where it is kept.
//!
//! The shard of a publisher promises it, the shard of the topic keeps the message, and mail lies in between. So the room is taken
//! where it is promised. It counts as one message more, also where the message comes in the place of another one: what that
//! takes up is given back when it has done so. Room that was not needed is given back as this is dropped.

use std::sync::Arc;

use crate::holder::Holder;
use crate::identity_shares::IdentityShares;
use crate::mail::NoRoom;
use crate::retained_share::RetainedShare;

/// Taken in the table of the node, and in the share of its holder, if holders are counted.
#[derive(Debug)]
pub(crate) struct ReservedRoom {
    table: Arc<RetainedShare>,
    shares: Arc<IdentityShares>,
    holder: Option<Holder>,
    bytes: u64,
    /// A message has it, or the mail that one goes with: there is nothing to give back.
    is_used: bool,
}

impl ReservedRoom {
    /// Takes room for one more message.
    ///
    /// # Errors
    /// Where there is none; nothing is taken.
    pub(crate) fn take(
        table: &Arc<RetainedShare>,
        shares: &Arc<IdentityShares>,
        holder: Option<Holder>,
        bytes: u64,
    ) -> Result<Self, NoRoom> {
        if !shares.retained.take(holder, bytes, None, table.free()) {
            return Err(NoRoom::RetainedShare);
        }
        if !table.take(bytes, None) {
            shares.retained.untake(holder, bytes, None);
            return Err(NoRoom::Retained);
        }
        Ok(Self::taken(table, shares, holder, bytes))
    }

    /// Room for one more message that was taken already.
    pub(crate) fn taken(
        table: &Arc<RetainedShare>,
        shares: &Arc<IdentityShares>,
        holder: Option<Holder>,
        bytes: u64,
    ) -> Self {
        ReservedRoom { table: table.clone(), shares: shares.clone(), holder, bytes, is_used: false }
    }

    /// For how many bytes; it stays taken: the message has it, or the mail that the message goes with.
    pub(crate) fn into_bytes(mut self) -> u64 {
        self.is_used = true;
        self.bytes
    }

    /// Whether a message of so many bytes has its room here; what is too much for it is given back.
    pub(crate) fn fit(&mut self, bytes: u64) -> bool {
        let Some(spare) = self.bytes.checked_sub(bytes) else { return false };
        self.table.shrink(spare);
        self.shares.retained.shrink(self.holder, spare);
        self.bytes = bytes;
        true
    }
}

impl Drop for ReservedRoom {
    fn drop(&mut self) {
        if self.is_used {
            return;
        }
        self.table.give_back(self.bytes);
        self.shares.retained.give_back(self.holder, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;

    /// Is room that was promised nobody else's, in both bounds, until it is dropped or shrunk; does it stay with the message, and
    /// hold on to nothing then?
    #[test]
    fn what_is_promised_is_taken() {
        let limits = Limits { retained_bytes_per_identity_max: 60, held_times_free_max: 0, ..Limits::default() };
        let (table, shares) = (Arc::new(RetainedShare::new(2, 100)), Arc::new(IdentityShares::new(&limits)));
        let [alice, bob] = ["alice", "bob"].map(|name| Some(Holder::of_client(Some(name), "any")));
        let take = |holder, bytes| ReservedRoom::take(&table, &shares, holder, bytes);
        let mut first = take(alice, 60).expect("room");
        assert_eq!(take(alice, 1).map(drop), Err(NoRoom::RetainedShare));
        assert_eq!(take(bob, 41).map(drop), Err(NoRoom::Retained));
        assert!(!first.fit(61) && first.fit(50));
        let second = take(bob, 50).expect("what the first had too much");
        assert_eq!(take(None, 0).map(drop), Err(NoRoom::Retained), "a third message");
        drop(second);
        assert_eq!(first.into_bytes(), 50);
        assert_eq!(take(alice, 11).map(drop), Err(NoRoom::RetainedShare), "the message has it");
        assert!(take(bob, 50).is_ok());
        assert_eq!((Arc::strong_count(&table), Arc::strong_count(&shares)), (1, 1));
    }
}
