//! What of the retained messages is whose, where identities have a share of them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::identity_shares::{Holder, Seldom};

/// How many retained messages each identity has, and what they take up.
///
/// A message is of whoever published it last to its topic. Nobody has those of the node itself, and those that were on disk
/// from before there was a share.
#[derive(Debug)]
pub(crate) struct RetainedHolders {
    /// 0: any number.
    messages_max: u64,
    /// 0: any.
    bytes_max: u64,
    held: Mutex<HashMap<Holder, Retained>>,
    told: Seldom,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Retained {
    messages: u64,
    bytes: u64,
}

impl Retained {
    /// With a message of so many bytes, in the place of one of `own` bytes.
    fn with(self, bytes: u64, own: Option<u64>) -> Self {
        let messages = self.messages + u64::from(own.is_none());
        Retained { messages, bytes: (self.bytes + bytes).saturating_sub(own.unwrap_or(0)) }
    }
}

/// The message that a topic has already: whose it is, and its bytes.
pub(crate) type Before = (Option<Holder>, u64);

/// The bytes of it, if it is `holder`'s own.
fn own(holder: Holder, before: Option<Before>) -> Option<u64> {
    before.filter(|(of, _)| *of == Some(holder)).map(|(_, bytes)| bytes)
}

impl RetainedHolders {
    pub(crate) fn new(messages_max: u32, bytes_max: u64) -> Self {
        RetainedHolders {
            messages_max: messages_max.into(),
            bytes_max,
            held: Mutex::default(),
            told: Seldom::default(),
        }
    }

    /// Whether there is a share at all.
    pub(crate) const fn is_on(&self) -> bool {
        self.messages_max > 0 || self.bytes_max > 0
    }

    pub(crate) const fn bounds(&self) -> (u64, u64) {
        (self.messages_max, self.bytes_max)
    }

    /// Whether `holder` may have a message of so many bytes for a topic whose message before is `before`: whose, and its bytes.
    #[cfg(test)]
    pub(crate) fn fits(&self, holder: Option<Holder>, bytes: u64, before: Option<Before>) -> bool {
        let Some(holder) = holder.filter(|_| self.is_on()) else { return true };
        let held = self.held().get(&holder).copied().unwrap_or_default();
        self.has_room(held, bytes, own(holder, before))
    }

    /// Takes what a message of so many bytes needs for a topic whose message before is `before`: whose, and its bytes. False, and
    /// nothing is taken, where there is no room: all shards together never have more. What is `before` is given back in this if
    /// it is its own, and otherwise not.
    pub(crate) fn take(&self, holder: Option<Holder>, bytes: u64, before: Option<Before>) -> bool {
        let Some(holder) = holder.filter(|_| self.is_on()) else { return true };
        let (mut all, own) = (self.held(), own(holder, before));
        let held = all.get(&holder).copied().unwrap_or_default();
        let fits = self.has_room(held, bytes, own);
        if fits {
            all.insert(holder, held.with(bytes, own));
        }
        fits
    }

    /// The same for a message that is kept in any case.
    pub(crate) fn take_anyway(&self, holder: Option<Holder>, bytes: u64, before: Option<Before>) {
        let Some(holder) = holder.filter(|_| self.is_on()) else { return };
        let mut all = self.held();
        let held = all.get(&holder).copied().unwrap_or_default();
        all.insert(holder, held.with(bytes, own(holder, before)));
    }

    /// Takes nothing after all: there was no room elsewhere.
    pub(crate) fn untake(&self, holder: Option<Holder>, bytes: u64, before: Option<Before>) {
        self.give_back(holder, bytes);
        if let Some((of, bytes)) = before.filter(|(of, _)| *of == holder) {
            self.take_anyway(of, bytes, None);
        }
    }

    /// `own`: bytes of what it has in that place already; it needs what it has more.
    fn has_room(&self, held: Retained, bytes: u64, own: Option<u64>) -> bool {
        let (one, more) = (u64::from(own.is_none()), bytes.saturating_sub(own.unwrap_or(0)));
        let is_within = |held: u64, more: u64, max: u64| max == 0 || more == 0 || held.saturating_add(more) <= max;
        is_within(held.messages, one, self.messages_max) && is_within(held.bytes, more, self.bytes_max)
    }

    /// So many bytes of a message are not needed.
    pub(crate) fn shrink(&self, holder: Option<Holder>, bytes: u64) {
        let Some(holder) = holder.filter(|_| self.is_on()) else { return };
        if let Some(held) = self.held().get_mut(&holder) {
            held.bytes = held.bytes.saturating_sub(bytes);
        }
    }

    /// One of so many bytes is not any more.
    pub(crate) fn give_back(&self, holder: Option<Holder>, bytes: u64) {
        let Some(holder) = holder.filter(|_| self.is_on()) else { return };
        let mut all = self.held();
        if let Some(held) = all.get_mut(&holder) {
            held.messages = held.messages.saturating_sub(1);
            held.bytes = held.bytes.saturating_sub(bytes);
            if held.messages == 0 {
                all.remove(&holder);
            }
        }
    }

    /// Whether the log should hear of a refusal now: not more than once a minute.
    pub(crate) fn may_tell(&self, now_ms: u64) -> bool {
        self.told.may_tell(now_ms)
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Holder, Retained>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(name: &str) -> Holder {
        Holder::named(Some(name))
    }

    /// Has each a share of both, exactly; is one in the place of its own only what it has more, and one in another's place one more?
    #[test]
    fn both_bounds_of_retained_messages_are_exact() {
        let share = RetainedHolders::new(2, 100);
        let (alice, bob) = (Some(holder("alice")), Some(holder("bob")));
        assert!(share.take(alice, 40, None) && !share.take(alice, 61, None));
        assert!(share.fits(alice, 60, None) && !share.fits(alice, 61, None));
        assert!(share.fits(alice, 100, Some((alice, 40))) && !share.fits(alice, 101, Some((alice, 40))));
        assert!(share.fits(alice, 60, Some((bob, 900))) && !share.fits(alice, 61, Some((bob, 900))));
        assert!(!share.take(alice, 101, Some((alice, 40))) && share.take(alice, 100, Some((alice, 40))));
        assert!(share.take(alice, 40, Some((alice, 100))) && share.take(alice, 1, None) && !share.take(alice, 0, None));
        share.untake(alice, 1, None);
        assert!(share.take(alice, 60, Some((bob, 900))));
        share.untake(alice, 60, Some((bob, 900)));
        assert!(share.take(alice, 70, Some((alice, 40))));
        share.untake(alice, 70, Some((alice, 40)));
        assert!(share.take(alice, 1, None));
        assert!(!share.fits(alice, 0, None) && share.fits(alice, 1, Some((alice, 1))) && share.fits(bob, 100, None));
        assert!(share.fits(None, 1_000_000, None), "the node's own");
        share.give_back(alice, 1);
        share.give_back(alice, 40);
        (0..2).for_each(|_| share.give_back(alice, 40));
        assert!(share.held().is_empty());
    }

    /// Do shards that take for one identity at the same time stay within its share together?
    #[test]
    fn a_share_holds_for_all_shards_together() {
        let (retained, alice) = (RetainedHolders::new(1_000, 0), holder("alice"));
        let taken = std::thread::scope(|scope| {
            let takers =
                [(); 4].map(|()| scope.spawn(|| (0..500).filter(|_| retained.take(Some(alice), 1, None)).count()));
            takers.map(|taker| taker.join().expect("a taker ends")).into_iter().sum::<usize>()
        });
        assert_eq!(taken, 1_000);
    }

    /// What came back is its, also where it is more than the share: then nothing more, but no more for what is there either.
    #[test]
    fn who_has_more_than_its_share_may_renew_it() {
        let (share, alice) = (RetainedHolders::new(1, 0), Some(holder("alice")));
        (0..3).for_each(|_| share.take_anyway(alice, 10, None));
        assert!(!share.fits(alice, 1, None) && share.fits(alice, 1_000, Some((alice, 10))));
        assert!(!RetainedHolders::new(0, 0).is_on() && RetainedHolders::new(0, 1).is_on());
        let off = RetainedHolders::new(0, 0);
        assert!(off.take(alice, 10, None));
        off.take_anyway(alice, 10, None);
        assert!(off.held().is_empty() && off.fits(alice, u64::MAX, None));
    }
}
