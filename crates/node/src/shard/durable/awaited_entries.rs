//! What waits for the commit of entries that this shard has written, and for nothing else.
//!
//! Each data group is a log of its own, of which a crash or a change of owner may take what is not committed. So an entry of
//! one names an entry of another only when that is committed: a group binds a logged QoS 2 message, a hold offers it, and a will
//! goes out, when the log has what they would be named by. And that such a message has ended is said to others (they forget its
//! name) when the log has that.
//!
//! A commit token ([`super::commits`]) waits for other shards too, which would be longer than needed.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_session::Message;

use crate::holder::Holder;
use crate::hooks::HookClient;
use crate::shard::Shard;
use crate::shard::durable::DurableRoom;
use crate::shard::durable::keeping::Origin;
use crate::shard::durable::owed_wills::Debt;

/// What is done when its entry is committed.
pub(in crate::shard) enum Awaited {
    /// A group binds what it has up to an entry; by its number.
    Bind { tag: NonZeroU64, through: NonZeroU64 },
    /// A hold offers what it has up to a number of its queue; by its place.
    Offer { place: usize, through: u64 },
    /// A QoS 2 message of a group is settled.
    GroupEnd { tag: NonZeroU64, entry: NonZeroU64 },
    /// One of a hold is.
    HoldEnd { place: usize, entry: NonZeroU64 },
    /// A will goes out.
    Will(Box<ReadyWill>),
}

/// A will that nothing stands in the way of but its own entry.
pub(in crate::shard) struct ReadyWill {
    pub(in crate::shard) will: Arc<Message>,
    pub(in crate::shard) client_id: Arc<str>,
    pub(in crate::shard) who: Option<Arc<HookClient>>,
    pub(in crate::shard) holder: Option<Holder>,
    pub(in crate::shard) debt: Option<Debt>,
}

/// All of one shard.
#[derive(Default)]
pub(in crate::shard) struct AwaitedEntries {
    /// Of this turn.
    open: Vec<Awaited>,
    /// Of turns before, each with the LSN that it waits for; these ascend.
    line: VecDeque<(u64, Awaited)>,
}

impl AwaitedEntries {
    /// Waits for all that is handed to the log until the end of this turn.
    pub(in crate::shard) fn push(&mut self, awaited: Awaited) {
        // One of each group and hold stands for many.
        match (self.open.last_mut(), &awaited) {
            (Some(Awaited::Bind { tag, through }), Awaited::Bind { tag: same, through: next }) if tag == same => {
                *through = *next;
            }
            (Some(Awaited::Offer { place, through }), Awaited::Offer { place: same, through: next })
                if place == same =>
            {
                *through = *next;
            }
            _ => self.open.push(awaited),
        }
    }

    /// The turn is over; `lsn`: that of the last record handed to the log so far.
    pub(in crate::shard) fn close(&mut self, lsn: u64) {
        self.line.extend(self.open.drain(..).map(|awaited| (lsn, awaited)));
    }

    /// True when [`AwaitedEntries::take_due`] would find one.
    pub(in crate::shard) fn is_due(&self, durable_lsn: u64) -> bool {
        self.line.front().is_some_and(|(lsn, _)| *lsn <= durable_lsn)
    }

    /// The next one that need not wait any more: the log is durable up to `durable_lsn`.
    pub(in crate::shard) fn take_due(&mut self, durable_lsn: u64) -> Option<Awaited> {
        if self.is_due(durable_lsn) { self.line.pop_front().map(|(_, awaited)| awaited) } else { None }
    }

    /// True when nothing waits.
    pub(in crate::shard) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.line.is_empty()
    }
}

impl Shard {
    /// Does what has waited for entries that are committed by now.
    pub(in crate::shard) fn entries_committed(&mut self, durable_lsn: u64) {
        while let Some(awaited) = self.durable.awaited_entries.take_due(durable_lsn) {
            match awaited {
                Awaited::Bind { tag, through } => self.group_committed(tag, through),
                Awaited::Offer { place, through } => self.hold_committed(place, through),
                Awaited::GroupEnd { tag, entry } => self.group_settled(tag, entry),
                Awaited::HoldEnd { place, entry } => self.hold_settled(place, entry),
                Awaited::Will(ready) => self.send_will(&ready),
            }
        }
    }
}

impl DurableRoom {
    /// Whether what others would name a message by is committed: the entry of a group, of a hold, or of a will. Asks the state
    /// of the data group, which has what is committed and nothing else.
    pub(in crate::shard) fn has_committed(&self, named: Option<Origin>) -> bool {
        let (Some(recovered), Some(Origin { publisher, of, .. })) = (&self.recovered, named) else { return true };
        recovered.data_groups.get(publisher.slot.data_group()).applied() >= of.use_number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each wait for the LSN at the end of its turn, in order, those of one group and turn as one?
    #[test]
    fn what_waits_comes_with_its_turn() {
        let mut awaited = AwaitedEntries::default();
        let number = |number| NonZeroU64::new(number).expect("not 0");
        for entry in 1..=3 {
            awaited.push(Awaited::Bind { tag: number(7), through: number(entry) });
        }
        awaited.push(Awaited::Offer { place: 2, through: 9 });
        assert!(!awaited.is_due(u64::MAX) && !awaited.is_empty(), "not before the turn is over");
        awaited.close(10);
        awaited.push(Awaited::Bind { tag: number(7), through: number(4) });
        awaited.close(12);
        assert!(awaited.take_due(9).is_none());
        assert!(matches!(awaited.take_due(11), Some(Awaited::Bind { through, .. }) if through == number(3)));
        assert!(matches!(awaited.take_due(11), Some(Awaited::Offer { place: 2, through: 9 })));
        assert!(awaited.take_due(11).is_none());
        assert!(matches!(awaited.take_due(12), Some(Awaited::Bind { through, .. }) if through == number(4)));
        assert!(awaited.is_empty());
    }
}
