//! What the retained messages of the whole node take up, against its two bounds.
//!
//! Each shard keeps the messages of its own topics, and takes room here for each: a share for each shard would keep one more
//! than is allowed, or refuse while the others' shares are empty, as the topics' hashes fall.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::retained_holders::Retained;

/// One per node; taken from and given back to by every shard.
#[derive(Debug)]
pub(crate) struct RetainedShare {
    messages: AtomicU64,
    bytes: AtomicU64,
    messages_max: u64,
    bytes_max: u64,
}

impl RetainedShare {
    pub(crate) const fn new(messages_max: u64, bytes_max: u64) -> Self {
        RetainedShare { messages: AtomicU64::new(0), bytes: AtomicU64::new(0), messages_max, bytes_max }
    }

    /// What nobody has taken; others may be taking of it at this moment.
    pub(crate) fn free(&self) -> Retained {
        let (messages, bytes) = (self.messages.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed));
        Retained { messages: self.messages_max.saturating_sub(messages), bytes: self.bytes_max.saturating_sub(bytes) }
    }

    /// Takes room for a message of so many bytes in the place of one of `before` bytes, or beside the others; false: there is
    /// none, and nothing was taken.
    pub(crate) fn take(&self, bytes: u64, before: Option<u64>) -> bool {
        if before.is_none() && !add_within(&self.messages, 1, self.messages_max) {
            return false;
        }
        let before_bytes = before.unwrap_or(0);
        if bytes <= before_bytes {
            self.bytes.fetch_sub(before_bytes - bytes, Ordering::Relaxed);
            return true;
        }
        let fits = add_within(&self.bytes, bytes - before_bytes, self.bytes_max);
        if !fits && before.is_none() {
            self.messages.fetch_sub(1, Ordering::Relaxed);
        }
        fits
    }

    /// The same for a message that was promised to be kept: it has its room in any case, and others have none until it is
    /// within the bounds again.
    pub(crate) fn take_anyway(&self, bytes: u64) {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A message of so many bytes is not kept any more.
    pub(crate) fn give_back(&self, bytes: u64) {
        self.messages.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// So many bytes of a message are not needed.
    pub(crate) fn shrink(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Whether a message of so many bytes would find room now.
    #[cfg(test)]
    pub(crate) fn fits(&self, bytes: u64, before: Option<u64>) -> bool {
        let (messages, held) = (self.messages.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed));
        let more = bytes.saturating_sub(before.unwrap_or(0));
        (before.is_some() || messages < self.messages_max) && (more == 0 || held.saturating_add(more) <= self.bytes_max)
    }
}

/// Adds to a counter unless that brings it above `max`; returns whether it did.
fn add_within(counter: &AtomicU64, more: u64, max: u64) -> bool {
    let add = |held: u64| held.checked_add(more).filter(|sum| *sum <= max);
    counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are both bounds exact, does a message in another's place need only what it has more, and is nothing taken by one that
    /// is refused?
    #[test]
    fn both_bounds_are_exact() {
        let share = RetainedShare::new(2, 100);
        assert!(share.take(40, None) && share.take(50, None));
        assert!(!share.fits(1, None) && !share.take(1, None), "a third");
        assert!(share.fits(50, Some(40)) && !share.fits(51, Some(40)));
        assert!(!share.take(51, Some(40)) && share.take(50, Some(40)) && share.take(10, Some(50)));
        share.give_back(10);
        assert!(!share.take(51, None) && share.take(50, None));
        share.give_back(50);
        share.give_back(50);
        assert!(share.fits(100, None) && !share.fits(101, None));
    }

    /// What was on disk before the bounds were as low has its room, and then nobody else has.
    #[test]
    fn what_was_promised_has_room_in_any_case() {
        let share = RetainedShare::new(1, 10);
        share.take_anyway(8);
        share.take_anyway(8);
        assert!(!share.fits(0, None) && share.fits(8, Some(8)) && !share.take(9, Some(8)));
        share.give_back(8);
        share.give_back(8);
        assert!(share.take(10, None));
    }

    /// Do shards that take at the same time stay within the bound together?
    #[test]
    fn the_bound_holds_for_all_shards_together() {
        let share = RetainedShare::new(1_000, u64::MAX);
        let taken = std::thread::scope(|scope| {
            let takers = [(); 4].map(|()| scope.spawn(|| (0..500).filter(|_| share.take(1, None)).count()));
            takers.map(|taker| taker.join().expect("a taker ends")).into_iter().sum::<usize>()
        });
        assert_eq!(taken, 1_000);
    }
}
