//! What each holder has of the tables of the whole node: nobody must fill them for all.
//!
//! Two rules hold beside each other: `limits.*_per_identity_max`, where that is set, counts by identity, of which the anonymous are
//! one; [`TimesFree`] by [`Holder`]. Where neither is on, nobody is counted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::Limits;
use crate::holder::Holder;
use crate::retained_holders::RetainedHolders;
use crate::times_free::TimesFree;

/// How often the log hears of refusals, by share.
const TELL_EVERY_MS: u64 = 60_000;

/// All shares of a node.
#[derive(Debug)]
pub(crate) struct IdentityShares {
    /// Sessions, with or without a connection.
    pub(crate) sessions: Share,
    /// Connections of clients.
    pub(crate) connections: Arc<Share>,
    /// Sessions that are without a connection, or were and may be again.
    pub(crate) away: Arc<Share>,
    /// Consumer groups that it has begun.
    pub(crate) groups: Share,
    /// Retained messages that it has published last.
    pub(crate) retained: RetainedHolders,
}

impl IdentityShares {
    pub(crate) fn new(limits: &Limits) -> Self {
        let times_free = TimesFree(limits.held_times_free_max);
        IdentityShares {
            sessions: Share::new(limits.sessions_per_identity_max, TimesFree(0)),
            connections: Arc::new(Share::new(0, times_free)),
            away: Arc::new(Share::new(0, times_free)),
            groups: Share::new(limits.groups_per_identity_max, times_free),
            retained: RetainedHolders::new(
                limits.retained_messages_per_identity_max,
                limits.retained_bytes_per_identity_max,
                times_free,
            ),
        }
    }
}

/// Why somebody has no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// Its identity has so many, which is the most.
    Most(u32),
    /// It has so many itself, which is too much for what is free.
    Free(u32),
}

/// How many things of one kind each holder has.
#[derive(Debug)]
pub(crate) struct Share {
    /// Of one identity. 0: any number.
    max: u32,
    times_free: TimesFree,
    held: Mutex<HashMap<Holder, u32>>,
    /// What all have together.
    all: AtomicU32,
    told: Seldom,
}

/// One thing that counts to its holder until this is dropped.
#[derive(Debug)]
pub(crate) struct HeldPlace {
    share: Arc<Share>,
    holder: Holder,
}

impl HeldPlace {
    /// Takes one of a table in which so many are `free`.
    ///
    /// # Errors
    /// When its holder has its share.
    pub(crate) fn take(share: &Arc<Share>, holder: Holder, free: u64) -> Result<Self, Beyond> {
        share.take(holder, free)?;
        Ok(HeldPlace { share: share.clone(), holder })
    }

    /// Takes one that is there in any case.
    pub(crate) fn take_anyway(share: &Arc<Share>, holder: Holder) -> Self {
        share.take_anyway(holder);
        HeldPlace { share: share.clone(), holder }
    }

    pub(crate) const fn holder(&self) -> Holder {
        self.holder
    }
}

impl Drop for HeldPlace {
    fn drop(&mut self) {
        self.share.give_back(self.holder);
    }
}

impl Share {
    fn new(max: u32, times_free: TimesFree) -> Self {
        Share { max, times_free, held: Mutex::default(), all: AtomicU32::new(0), told: Seldom::default() }
    }

    /// Whether anybody is counted.
    const fn is_on(&self) -> bool {
        self.max > 0 || self.times_free.is_on()
    }

    /// How many have any.
    #[cfg(test)]
    pub(crate) fn holders(&self) -> usize {
        self.held().len()
    }

    /// How many all have together; 0 where nobody is counted.
    pub(crate) fn all(&self) -> u32 {
        self.all.load(Ordering::Relaxed)
    }

    /// Takes one more of a table in which so many are `free`.
    ///
    /// # Errors
    /// When it has its share; nothing is taken.
    pub(crate) fn take(&self, holder: Holder, free: u64) -> Result<(), Beyond> {
        if !self.is_on() {
            return Ok(());
        }
        let mut all = self.held();
        let held = |whose: Holder| all.get(&whose).copied().unwrap_or_default();
        if self.max > 0 && held(holder.identity()) >= self.max {
            return Err(Beyond::Most(self.max));
        }
        if !self.times_free.allows(held(holder).into(), free) {
            return Err(Beyond::Free(held(holder)));
        }
        self.add(&mut all, holder);
        Ok(())
    }

    /// Takes one that is there in any case.
    pub(crate) fn take_anyway(&self, holder: Holder) {
        if self.is_on() {
            self.add(&mut self.held(), holder);
        }
    }

    /// Gives back one that was taken.
    pub(crate) fn give_back(&self, holder: Holder) {
        if !self.is_on() {
            return;
        }
        let mut all = self.held();
        if all.contains_key(&holder) {
            self.all.fetch_sub(1, Ordering::Relaxed);
        }
        for whose in self.counted(holder) {
            if let Some(held) = all.get_mut(&whose) {
                *held = held.saturating_sub(1);
                if *held == 0 {
                    all.remove(&whose);
                }
            }
        }
    }

    fn add(&self, all: &mut HashMap<Holder, u32>, holder: Holder) {
        self.all.fetch_add(1, Ordering::Relaxed);
        for whose in self.counted(holder) {
            *all.entry(whose).or_default() += 1;
        }
    }

    /// Under whom what a holder has is counted.
    fn counted(&self, holder: Holder) -> impl Iterator<Item = Holder> + use<> {
        holder.counted(self.max > 0)
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
pub(crate) struct Seldom(AtomicU64);

impl Seldom {
    pub(crate) fn may_tell(&self, now_ms: u64) -> bool {
        let told_ms = self.0.load(Ordering::Relaxed);
        if told_ms > 0 && now_ms < told_ms - 1 + TELL_EVERY_MS {
            return false;
        }
        self.0.compare_exchange(told_ms, now_ms + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u64 = 1_000_000;

    fn holder(name: &str) -> Holder {
        Holder::of_client(Some(name), "any")
    }

    fn anonymous(client_id: &str) -> Holder {
        Holder::of_client(None, client_id)
    }

    fn of_most(max: u32) -> Share {
        Share::new(max, TimesFree(0))
    }

    /// Has each its own share, the anonymous one together, and is there room again for what was given back?
    #[test]
    fn each_has_a_share_of_its_own() {
        let share = of_most(2);
        let takes = |holder| share.take(holder, MANY).is_ok();
        let (alice, bob) = (holder("alice"), holder("bob"));
        assert!(takes(alice) && takes(alice));
        assert_eq!(share.take(alice, MANY), Err(Beyond::Most(2)));
        assert!(takes(bob) && takes(bob) && takes(anonymous("a")) && takes(anonymous("b")) && !takes(anonymous("c")));
        share.give_back(alice);
        assert!(takes(alice) && !takes(alice), "what was refused was not counted");
        share.give_back(anonymous("a"));
        assert!(takes(anonymous("c")) && !takes(anonymous("a")));
    }

    /// What is there in any case counts, and what is given back once too often is not below nothing.
    #[test]
    fn what_is_there_in_any_case_counts() {
        let (share, alice) = (of_most(1), holder("alice"));
        let takes = || share.take(alice, MANY).is_ok();
        share.take_anyway(alice);
        share.take_anyway(alice);
        share.give_back(alice);
        assert!(!takes());
        (0..3).for_each(|_| share.give_back(alice));
        assert!(takes() && !takes());
        share.give_back(alice);
        assert!(share.held().is_empty(), "who has nothing takes no memory");
    }

    /// Is who has much refused while who has little is not, each anonymous client for itself, and does the bound of all the
    /// anonymous hold beside that?
    #[test]
    fn who_has_little_may_have_what_is_free() {
        let share = Share::new(100, TimesFree(9));
        let (alice, one, other) = (holder("alice"), anonymous("one"), anonymous("other"));
        (0..90).for_each(|_| share.take(alice, MANY).expect("all is free"));
        assert_eq!((share.take(alice, 9), share.take(alice, 10)), (Err(Beyond::Free(90)), Ok(())));
        (0..10).for_each(|_| share.take_anyway(one));
        assert_eq!((share.take(one, 1), share.take(other, 1)), (Err(Beyond::Free(10)), Ok(())));
        (0..89).for_each(|_| share.take_anyway(one));
        assert_eq!(share.take(other, MANY), Err(Beyond::Most(100)));
        (0..99).for_each(|_| share.give_back(one));
        (0..91).for_each(|_| share.give_back(alice));
        share.give_back(other);
        assert!(share.held().is_empty());
    }

    /// Does a place count for as long as it is there, also one that its holder has in any case?
    #[test]
    fn a_place_counts_until_it_is_dropped() {
        let share = Arc::new(Share::new(0, TimesFree(1)));
        let (alice, bob) = (holder("alice"), holder("bob"));
        let first = HeldPlace::take(&share, alice, 1).expect("it has none");
        let second = HeldPlace::take_anyway(&share, first.holder());
        assert_eq!((share.all(), HeldPlace::take(&share, alice, 1).map(drop)), (2, Err(Beyond::Free(2))));
        assert!(HeldPlace::take(&share, bob, 1).is_ok());
        drop(second);
        assert!(HeldPlace::take(&share, alice, 1).is_ok());
        drop(first);
        assert!(share.all() == 0 && share.held().is_empty());
    }

    #[test]
    fn without_a_share_nobody_is_counted() {
        let share = of_most(0);
        assert!((0..10).all(|_| share.take(holder("alice"), 0).is_ok()));
        share.take_anyway(holder("alice"));
        assert!(share.held().is_empty());
    }

    #[test]
    fn the_log_hears_of_it_once_a_minute() {
        let share = of_most(1);
        let told = [0, 1, 59_999, 60_000, 60_001, 200_000].map(|now_ms| share.may_tell(now_ms));
        assert_eq!(told, [true, false, false, true, false, true]);
    }

    /// Do shards that take for one identity at the same time stay within its share together?
    #[test]
    fn a_share_holds_for_all_shards_together() {
        let (sessions, alice) = (of_most(1_000), holder("alice"));
        let taken = std::thread::scope(|scope| {
            let takers =
                [(); 4].map(|()| scope.spawn(|| (0..500).filter(|_| sessions.take(alice, MANY).is_ok()).count()));
            takers.map(|taker| taker.join().expect("a taker ends")).into_iter().sum::<usize>()
        });
        assert_eq!(taken, 1_000);
    }
}
