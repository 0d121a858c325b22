//! What each identity has of the tables of the whole node, where a share is set: one identity must not fill them for all.
//!
//! A share that is not set costs nothing: nobody is counted. The anonymous are one identity together, and so have one share.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lapwing_access::Identity;

use crate::config::Limits;
use crate::slot::stable_hash;

/// How often the log hears of refusals, by share.
const TELL_EVERY_MS: u64 = 60_000;

/// An identity, by its name's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Holder(NonZeroU64);

/// The anonymous, and whose hash is none.
const NOBODY: NonZeroU64 = NonZeroU64::MAX;

impl Holder {
    pub(crate) fn of(identity: &Identity) -> Self {
        Self::named(identity.name())
    }

    /// Who has this name; `None`: the anonymous.
    pub(crate) fn named(name: Option<&str>) -> Self {
        let hash = name.and_then(|name| NonZeroU64::new(stable_hash(name.as_bytes())));
        Holder(hash.unwrap_or(NOBODY))
    }

    /// As the log has it.
    pub(crate) const fn logged(self) -> NonZeroU64 {
        self.0
    }

    pub(crate) const fn from_log(logged: NonZeroU64) -> Self {
        Holder(logged)
    }
}

/// All shares of a node.
#[derive(Debug)]
pub(crate) struct IdentityShares {
    /// Sessions, with or without a connection.
    pub(crate) sessions: Share,
    /// Consumer groups that it has begun.
    pub(crate) groups: Share,
    /// Retained messages that it has published last.
    pub(crate) retained: RetainedHolders,
}

impl IdentityShares {
    pub(crate) fn new(limits: &Limits) -> Self {
        IdentityShares {
            sessions: Share::new(limits.sessions_per_identity_max),
            groups: Share::new(limits.groups_per_identity_max),
            retained: RetainedHolders::new(
                limits.retained_messages_per_identity_max,
                limits.retained_bytes_per_identity_max,
            ),
        }
    }
}

/// How many things of one kind each identity has.
#[derive(Debug)]
pub(crate) struct Share {
    /// 0: any number, and nobody counts.
    max: u32,
    held: Mutex<HashMap<Holder, u32>>,
    told: Seldom,
}

impl Share {
    fn new(max: u32) -> Self {
        Share { max, held: Mutex::default(), told: Seldom::default() }
    }

    pub(crate) const fn max(&self) -> u32 {
        self.max
    }

    /// Takes one more; false, and nothing is taken, when it has its share.
    pub(crate) fn take(&self, holder: Holder) -> bool {
        if self.max == 0 {
            return true;
        }
        let mut all = self.held();
        let held = all.entry(holder).or_default();
        let fits = *held < self.max;
        *held += u32::from(fits);
        fits
    }

    /// Takes one that is there in any case.
    pub(crate) fn take_anyway(&self, holder: Holder) {
        if self.max > 0 {
            *self.held().entry(holder).or_default() += 1;
        }
    }

    /// Gives back one that was taken.
    pub(crate) fn give_back(&self, holder: Holder) {
        if self.max == 0 {
            return;
        }
        let mut all = self.held();
        if let Some(held) = all.get_mut(&holder) {
            *held = held.saturating_sub(1);
            if *held == 0 {
                all.remove(&holder);
            }
        }
    }

    /// Whether the log should hear of a refusal now: not more than once a minute.
    pub(crate) fn may_tell(&self, now_ms: u64) -> bool {
        self.told.may_tell(now_ms)
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Holder, u32>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When the log was told last of somebody who has too much, and one more; 0: never.
#[derive(Debug, Default)]
struct Seldom(AtomicU64);

impl Seldom {
    fn may_tell(&self, now_ms: u64) -> bool {
        let told_ms = self.0.load(Ordering::Relaxed);
        if told_ms > 0 && now_ms < told_ms - 1 + TELL_EVERY_MS {
            return false;
        }
        self.0.compare_exchange(told_ms, now_ms + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

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
    fn new(messages_max: u32, bytes_max: u64) -> Self {
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
    use lapwing_access::Voucher;

    fn holder(name: &str) -> Holder {
        Holder::of(&Identity::named(name, Voucher::Users))
    }

    /// Has each its own share, the anonymous one together, and is there room again for what was given back?
    #[test]
    fn each_has_a_share_of_its_own() {
        let share = Share::new(2);
        let (alice, bob, anonymous) = (holder("alice"), holder("bob"), Holder::of(&Identity::ANONYMOUS));
        assert!(share.take(alice) && share.take(alice) && !share.take(alice));
        assert!(share.take(bob) && share.take(bob) && share.take(anonymous) && share.take(anonymous));
        assert!(!share.take(Holder::of(&Identity::ANONYMOUS)));
        share.give_back(alice);
        assert!(share.take(alice) && !share.take(alice), "what was refused was not counted");
    }

    /// What is there in any case counts, and what is given back once too often is not below nothing.
    #[test]
    fn what_is_there_in_any_case_counts() {
        let (share, alice) = (Share::new(1), holder("alice"));
        share.take_anyway(alice);
        share.take_anyway(alice);
        share.give_back(alice);
        assert!(!share.take(alice));
        (0..3).for_each(|_| share.give_back(alice));
        assert!(share.take(alice) && !share.take(alice));
        share.give_back(alice);
        assert!(share.held().is_empty(), "who has nothing takes no memory");
    }

    #[test]
    fn without_a_share_nobody_is_counted() {
        let share = Share::new(0);
        assert!((0..10).all(|_| share.take(holder("alice"))));
        share.take_anyway(holder("alice"));
        assert!(share.held().is_empty());
    }

    #[test]
    fn the_log_hears_of_it_once_a_minute() {
        let share = Share::new(1);
        let told = [0, 1, 59_999, 60_000, 60_001, 200_000].map(|now_ms| share.may_tell(now_ms));
        assert_eq!(told, [true, false, false, true, false, true]);
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

    /// Do shards that take for one identity at the same time stay within its share together, of sessions and of retained messages?
    #[test]
    fn a_share_holds_for_all_shards_together() {
        let (sessions, retained, alice) = (Share::new(1_000), RetainedHolders::new(1_000, 0), holder("alice"));
        let taken = std::thread::scope(|scope| {
            let take = || {
                let sessions = (0..500).filter(|_| sessions.take(alice)).count();
                (sessions, (0..500).filter(|_| retained.take(Some(alice), 1, None)).count())
            };
            let takers = [(); 4].map(|()| scope.spawn(take));
            takers.map(|taker| taker.join().expect("a taker ends"))
        });
        let sum = taken.iter().fold((0, 0), |sum, taken| (sum.0 + taken.0, sum.1 + taken.1));
        assert_eq!(sum, (1_000, 1_000));
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
