//! What of the retained messages is whose.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::holder::Holder;
use crate::identity_shares::Seldom;
use crate::times_free::TimesFree;

/// How many retained messages each holder has, and what they take up.
///
/// A message is of whoever published it last to its topic. Nobody has those of the node itself, and those that were on disk
/// from before anybody was counted. The lock is taken for messages that are to be retained only, and not for one that comes in the
/// place of one of the same holder and size.
#[derive(Debug)]
pub(crate) struct RetainedHolders {
    /// Of one identity. 0: any number.
    messages_max: u64,
    /// 0: any.
    bytes_max: u64,
    times_free: TimesFree,
    held: Mutex<HashMap<Holder, Retained>>,
    told: Seldom,
}

/// So many messages, and what they take up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Retained {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
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

impl RetainedHolders {
    pub(crate) fn new(messages_max: u32, bytes_max: u64, times_free: TimesFree) -> Self {
        RetainedHolders {
            messages_max: messages_max.into(),
            bytes_max,
            times_free,
            held: Mutex::default(),
            told: Seldom::default(),
        }
    }

    /// Whether anybody is counted.
    pub(crate) const fn is_on(&self) -> bool {
        self.is_by_identity() || self.times_free.is_on()
    }

    /// Whether identities have shares of their own.
    const fn is_by_identity(&self) -> bool {
        self.messages_max > 0 || self.bytes_max > 0
    }

    /// Messages and bytes of one identity.
    pub(crate) const fn bounds(&self) -> (u64, u64) {
        (self.messages_max, self.bytes_max)
    }

    /// Takes what a message of so many bytes needs for a topic whose message before is `before`: whose, and its bytes. False, and
    /// nothing is taken, where there is no room: all shards together never have more. What is `before` is given back in this if
    /// it is its own, and otherwise not; `free`: so much is, in the table of all.
    pub(crate) fn take(&self, holder: Option<Holder>, bytes: u64, before: Option<Before>, free: Retained) -> bool {
        let Some(holder) = holder.filter(|_| self.is_on()) else { return true };
        if before == Some((Some(holder), bytes)) {
            return true;
        }
        let mut all = self.held();
        let has_room = |whose| {
            let held = all.get(&whose).copied().unwrap_or_default();
            let own = self.own(whose, before);
            (whose != holder.identity() || self.is_within(held, bytes, own))
                && (whose != holder || self.is_little(held, bytes, own, free))
        };
        let fits = self.counted(holder).all(has_room);
        if fits {
            self.add(&mut all, holder, bytes, before);
        }
        fits
    }

    /// The same for a message that is kept in any case.
    pub(crate) fn take_anyway(&self, holder: Option<Holder>, bytes: u64, before: Option<Before>) {
        let Some(holder) = holder.filter(|_| self.is_on()) else { return };
        self.add(&mut self.held(), holder, bytes, before);
    }

    /// Takes nothing after all: there was no room elsewhere.
    pub(crate) fn untake(&self, holder: Option<Holder>, bytes: u64, before: Option<Before>) {
        if holder.is_some() && before == Some((holder, bytes)) {
            return;
        }
        self.give_back(holder, bytes);
        self.retake(holder, before);
    }

    /// Counts the message before as well again, as far as [`RetainedHolders::take`] gave it back.
    pub(crate) fn retake(&self, holder: Option<Holder>, before: Option<Before>) {
        let (Some(holder), Some((Some(of), bytes))) = (holder.filter(|_| self.is_on()), before) else { return };
        let mut all = self.held();
        for whose in self.counted(of).filter(|whose| self.is_counted(holder, *whose)) {
            let held = all.entry(whose).or_default();
            *held = held.with(bytes, None);
        }
    }

    /// Gives back the message before, as far as `take` does where it knows it.
    pub(crate) fn give_back_own(&self, holder: Option<Holder>, before: Option<Before>) {
        let Some((Some(of), bytes)) = before else { return };
        self.give_back_where(Some(of), bytes, |whose| holder.is_some_and(|holder| self.is_counted(holder, whose)));
    }

    /// Gives back the message before, as far as `take` does not: it has gone for one of `holder`'s.
    pub(crate) fn give_back_others(&self, holder: Option<Holder>, before: Before) {
        let (of, bytes) = before;
        self.give_back_where(of, bytes, |whose| holder.is_none_or(|holder| !self.is_counted(holder, whose)));
    }

    /// Within the bounds of one identity. `own`: bytes of what it has in that place already; it needs what it has more.
    fn is_within(&self, held: Retained, bytes: u64, own: Option<u64>) -> bool {
        let (one, more) = (u64::from(own.is_none()), bytes.saturating_sub(own.unwrap_or(0)));
        let is_within = |held: u64, more: u64, max: u64| max == 0 || more == 0 || held.saturating_add(more) <= max;
        is_within(held.messages, one, self.messages_max) && is_within(held.bytes, more, self.bytes_max)
    }

    /// So little that it may have what is free.
    fn is_little(&self, held: Retained, bytes: u64, own: Option<u64>, free: Retained) -> bool {
        let needs_bytes = bytes > own.unwrap_or(0);
        (own.is_some() || self.times_free.allows(held.messages, free.messages))
            && (!needs_bytes || self.times_free.allows(held.bytes, free.bytes))
    }

    /// So many bytes of a message are not needed.
    pub(crate) fn shrink(&self, holder: Option<Holder>, bytes: u64) {
        let Some(holder) = holder.filter(|_| self.is_on() && bytes > 0) else { return };
        let mut all = self.held();
        for whose in self.counted(holder) {
            if let Some(held) = all.get_mut(&whose) {
                held.bytes = held.bytes.saturating_sub(bytes);
            }
        }
    }

    /// One of so many bytes is not any more.
    pub(crate) fn give_back(&self, holder: Option<Holder>, bytes: u64) {
        self.give_back_where(holder, bytes, |_| true);
    }

    fn give_back_where(&self, holder: Option<Holder>, bytes: u64, is_meant: impl Fn(Holder) -> bool) {
        let Some(holder) = holder.filter(|_| self.is_on()) else { return };
        if !self.counted(holder).any(&is_meant) {
            return;
        }
        let mut all = self.held();
        for whose in self.counted(holder).filter(|whose| is_meant(*whose)) {
            if let Some(held) = all.get_mut(&whose) {
                held.messages = held.messages.saturating_sub(1);
                held.bytes = held.bytes.saturating_sub(bytes);
                if held.messages == 0 {
                    all.remove(&whose);
                }
            }
        }
    }

    /// Whether the log should hear of a refusal now: not more than once a minute.
    pub(crate) fn may_tell(&self, now_ms: u64) -> bool {
        self.told.may_tell(now_ms)
    }

    fn add(&self, all: &mut HashMap<Holder, Retained>, holder: Holder, bytes: u64, before: Option<Before>) {
        for whose in self.counted(holder) {
            let held = all.entry(whose).or_default();
            *held = held.with(bytes, self.own(whose, before));
        }
    }

    /// The bytes of the message before, if it is counted for `whose` too.
    fn own(&self, whose: Holder, before: Option<Before>) -> Option<u64> {
        let (of, bytes) = before?;
        self.is_counted(of?, whose).then_some(bytes)
    }

    /// Under whom what a holder has is counted.
    fn counted(&self, holder: Holder) -> impl Iterator<Item = Holder> + use<> {
        holder.counted(self.is_by_identity())
    }

    fn is_counted(&self, holder: Holder, whose: Holder) -> bool {
        self.counted(holder).any(|other| other == whose)
    }

    /// How many have any.
    #[cfg(test)]
    pub(crate) fn holders(&self) -> usize {
        self.held().len()
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Holder, Retained>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUCH: Retained = Retained { messages: u64::MAX, bytes: u64::MAX };

    fn holder(name: &str) -> Holder {
        Holder::of_client(Some(name), "any")
    }

    fn anonymous(client_id: &str) -> Option<Holder> {
        Some(Holder::of_client(None, client_id))
    }

    impl RetainedHolders {
        fn of_most(messages_max: u32, bytes_max: u64) -> Self {
            Self::new(messages_max, bytes_max, TimesFree(0))
        }

        fn takes(&self, holder: Option<Holder>, bytes: u64, before: Option<Before>) -> bool {
            self.take(holder, bytes, before, MUCH)
        }

        /// Whether there would be room; nothing is taken.
        fn fits(&self, holder: Option<Holder>, bytes: u64, before: Option<Before>) -> bool {
            let fits = self.takes(holder, bytes, before);
            if fits {
                self.untake(holder, bytes, before);
            }
            fits
        }
    }

    /// Has each a share of both, exactly; is one in the place of its own only what it has more, and one in another's place one more?
    #[test]
    fn both_bounds_of_retained_messages_are_exact() {
        let share = RetainedHolders::of_most(2, 100);
        let (alice, bob) = (Some(holder("alice")), Some(holder("bob")));
        assert!(share.takes(alice, 40, None) && !share.takes(alice, 61, None));
        assert!(share.fits(alice, 60, None) && !share.fits(alice, 61, None));
        assert!(share.fits(alice, 100, Some((alice, 40))) && !share.fits(alice, 101, Some((alice, 40))));
        assert!(share.fits(alice, 60, Some((bob, 900))) && !share.fits(alice, 61, Some((bob, 900))));
        assert!(!share.takes(alice, 101, Some((alice, 40))) && share.takes(alice, 100, Some((alice, 40))));
        assert!(
            share.takes(alice, 40, Some((alice, 100))) && share.takes(alice, 1, None) && !share.takes(alice, 0, None)
        );
        share.untake(alice, 1, None);
        assert!(share.takes(alice, 60, Some((bob, 900))));
        share.untake(alice, 60, Some((bob, 900)));
        assert!(share.takes(alice, 70, Some((alice, 40))));
        share.untake(alice, 70, Some((alice, 40)));
        assert!(share.takes(alice, 1, None));
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
        let (retained, alice) = (RetainedHolders::of_most(1_000, 0), holder("alice"));
        let taken = std::thread::scope(|scope| {
            let takers =
                [(); 4].map(|()| scope.spawn(|| (0..500).filter(|_| retained.takes(Some(alice), 1, None)).count()));
            takers.map(|taker| taker.join().expect("a taker ends")).into_iter().sum::<usize>()
        });
        assert_eq!(taken, 1_000);
    }

    /// What came back is its, also where it is more than the share: then nothing more, but no more for what is there either.
    #[test]
    fn who_has_more_than_its_share_may_renew_it() {
        let (share, alice) = (RetainedHolders::of_most(1, 0), Some(holder("alice")));
        (0..3).for_each(|_| share.take_anyway(alice, 10, None));
        assert!(!share.fits(alice, 1, None) && share.fits(alice, 1_000, Some((alice, 10))));
        assert!(!RetainedHolders::of_most(0, 0).is_on() && RetainedHolders::of_most(0, 1).is_on());
        let off = RetainedHolders::of_most(0, 0);
        assert!(off.takes(alice, 10, None));
        off.take_anyway(alice, 10, None);
        assert!(off.held().is_empty() && off.fits(alice, u64::MAX, None));
    }

    /// Is who has much refused one more message, or more bytes, while others are not and it may renew what it has?
    #[test]
    fn who_has_little_may_have_what_is_free() {
        let share = RetainedHolders::new(0, 0, TimesFree(9));
        let (alice, bob) = (Some(holder("alice")), Some(holder("bob")));
        (0..91).for_each(|_| share.take_anyway(alice, 10, None));
        let free = Retained { messages: 9, bytes: 1_000 };
        assert!(!share.take(alice, 1, None, free) && !share.take(alice, 1, Some((bob, 10)), free));
        assert!(share.take(alice, 11, Some((alice, 10)), free), "no message more");
        let few_bytes = Retained { messages: 1_000, bytes: 101 };
        assert!(
            !share.take(alice, 12, Some((alice, 11)), few_bytes) && share.take(alice, 10, Some((alice, 11)), few_bytes)
        );
        assert!(!share.take(alice, 1, None, few_bytes) && share.take(bob, 100, None, few_bytes));
        share.give_back_others(bob, (alice, 10));
        share.give_back(bob, 100);
        (0..90).for_each(|_| share.give_back(alice, 10));
        assert!(share.held().is_empty());
    }

    /// Is each anonymous client a holder of its own beside the share that all have together, in whatever order they replace each
    /// other's messages, and does nothing stay counted?
    #[test]
    fn anonymous_clients_have_one_share_and_each_its_own_part() {
        let share = RetainedHolders::new(2, 0, TimesFree(9));
        let [a, b] = ["a", "b"].map(anonymous);
        let free = |messages| Retained { messages, bytes: u64::MAX };
        assert!(share.take(a, 5, None, free(9)) && share.take(b, 5, None, free(8)) && !share.take(b, 5, None, free(7)));
        assert!(!share.take(a, 7, Some((b, 5)), free(0)), "one more of its own");
        assert!(share.take(a, 7, Some((b, 5)), free(1)), "in the place of another's, and not one more of all");
        share.untake(a, 7, Some((b, 5)));
        assert!(share.take(a, 7, Some((b, 5)), free(1)));
        share.give_back_others(a, (b, 5));
        assert!(!share.take(b, 1, None, free(7)) && share.take(b, 1, Some((a, 7)), free(7)));
        // As room is promised, and the message then takes it.
        share.retake(b, Some((a, 7)));
        share.give_back_own(b, Some((a, 7)));
        share.give_back_others(b, (a, 7));
        share.give_back(a, 5);
        share.give_back(b, 1);
        assert!(share.held().is_empty());
    }
}
