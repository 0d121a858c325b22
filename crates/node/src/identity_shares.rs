//! What each identity has of the tables of the whole node, where a share is set: one identity must not fill them for all.
//!
//! A share that is not set costs nothing: nobody is counted. The anonymous are one identity together, and so have one share.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lapwing_access::Identity;

use crate::config::Limits;
use crate::retained_holders::RetainedHolders;
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

    /// Do shards that take for one identity at the same time stay within its share together?
    #[test]
    fn a_share_holds_for_all_shards_together() {
        let (sessions, alice) = (Share::new(1_000), holder("alice"));
        let taken = std::thread::scope(|scope| {
            let takers = [(); 4].map(|()| scope.spawn(|| (0..500).filter(|_| sessions.take(alice)).count()));
            takers.map(|taker| taker.join().expect("a taker ends")).into_iter().sum::<usize>()
        });
        assert_eq!(taken, 1_000);
    }
}
