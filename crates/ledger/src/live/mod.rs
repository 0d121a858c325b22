//! How many references each entry has. The log asks for every entry of a segment whether it is still referred to.
//!
//! Counts lie in blocks of 256 entries. New references are nearly always to the newest entry and leave soon, so its block
//! is at hand; an older one is in a table for as long as it has references, and small when they are few.

mod block;

use block::{Block, Dense, ENTRIES};
use rustc_hash::FxHashMap;

/// Reference counts.
#[derive(Debug, Default)]
pub(crate) struct Live {
    /// The number of the block that `newest` is.
    newest_at: u64,
    newest: Dense,
    older: FxHashMap<u64, Block>,
    /// Counts that are too large for a block; it then holds [`block::LARGE`].
    large: FxHashMap<u64, u64>,
    entries: u64,
}

impl Live {
    /// Entries that are referred to.
    pub(crate) const fn entries(&self) -> u64 {
        self.entries
    }

    /// Whether anything refers to `entry`.
    #[inline]
    pub(crate) fn has(&self, entry: u64) -> bool {
        let (at, place) = place(entry);
        let count =
            if at == self.newest_at { self.newest.get(place) } else { self.older.get(&at).map_or(0, |b| b.get(place)) };
        count != 0
    }

    /// So many references more.
    #[inline]
    pub(crate) fn add(&mut self, entry: u64, references: u64) {
        if references == 0 {
            return;
        }
        let (at, place) = place(entry);
        if at > self.newest_at {
            self.advance(at);
        }
        let before = self.count(entry);
        self.entries += u64::from(before == 0);
        let count = self.hold(entry, before + references);
        if at == self.newest_at {
            self.newest.set(place, count);
        } else {
            self.older.entry(at).or_default().set(place, count);
        }
    }

    /// One reference less. There is one.
    #[inline]
    pub(crate) fn remove(&mut self, entry: u64) {
        let (at, place) = place(entry);
        let Some(left) = self.count(entry).checked_sub(1) else {
            debug_assert!(false, "a reference to {entry} was counted once and left twice");
            return;
        };
        self.entries -= u64::from(left == 0);
        let count = self.hold(entry, left);
        if at == self.newest_at {
            self.newest.set(place, count);
        } else if let Some(block) = self.older.get_mut(&at) {
            block.set(place, count);
            if block.is_empty() {
                self.older.remove(&at);
            }
        }
    }

    fn count(&self, entry: u64) -> u64 {
        let (at, place) = place(entry);
        let count =
            if at == self.newest_at { self.newest.get(place) } else { self.older.get(&at).map_or(0, |b| b.get(place)) };
        if count == block::LARGE { self.large.get(&entry).copied().unwrap_or(0) } else { u64::from(count) }
    }

    /// The count as a block holds it.
    fn hold(&mut self, entry: u64, count: u64) -> u8 {
        if count < u64::from(block::LARGE) {
            if count == u64::from(block::LARGE) - 1 {
                self.large.remove(&entry);
            }
            return count as u8;
        }
        self.large.insert(entry, count);
        block::LARGE
    }

    /// A new newest block.
    fn advance(&mut self, at: u64) {
        if !self.newest.is_empty() {
            self.older.insert(self.newest_at, Block::of(&self.newest));
            self.newest.clear();
        }
        self.newest_at = at;
    }
}

/// Block, and place in it.
const fn place(entry: u64) -> (u64, u8) {
    (entry / ENTRIES, (entry % ENTRIES) as u8)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Does it agree with a table of numbers, through small counts and large, and is nothing left when all have gone?
    #[test]
    fn counts_agree_with_a_table() {
        let (mut live, mut model, mut random) = (Live::default(), BTreeMap::<u64, u64>::new(), 1_u64);
        for round in 0..60_000_u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let entry = round / 20 + (random >> 33) % 600;
            if (random >> 20) % 5 < 3 {
                let references = [1, 1, 2, 300][(random >> 50) as usize % 4];
                live.add(entry, references);
                *model.entry(entry).or_default() += references;
            } else if let Some((&entry, count)) = model.range_mut(entry..).next() {
                live.remove(entry);
                *count -= 1;
                model.retain(|at, count| *at != entry || *count > 0);
            }
            assert_eq!(live.entries(), model.len() as u64);
            assert_eq!(live.has(entry), model.contains_key(&entry));
        }
        for (entry, count) in model {
            (0..count).for_each(|_| live.remove(entry));
            assert!(!live.has(entry));
        }
        assert_eq!((live.entries(), live.older.len(), live.large.len()), (0, 0, 0));
    }
}
