//! A hash table of indices, cut into many small ones.
//!
//! One table that doubles at a million entries stops its shard for tens of milliseconds. 1,024 tables double at
//! as many different moments and each doubling is 1,024 times smaller. Each entry keeps its hash, so that doubling does not have to
//! look at what the indices stand for (a cache miss each).

use hashbrown::HashTable;

const TABLES: usize = 1024;

#[derive(Clone, Copy)]
struct Slot {
    index: u32,
    hash: u32,
}

/// Indices found by hash; what they mean (and so equality) is the caller's.
pub(crate) struct SplitTable {
    tables: Box<[HashTable<Slot>]>,
}

/// The hash that a table works with, out of the 32 bits that a slot keeps. hashbrown takes its bucket from the lowest
/// bits and its tag from the highest seven; the multiplication fills both from all 32.
#[inline]
const fn spread(hash: u32) -> u64 {
    (hash as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl SplitTable {
    pub(crate) fn new() -> Self {
        SplitTable { tables: (0..TABLES).map(|_| HashTable::new()).collect() }
    }

    #[inline]
    pub(crate) fn find(&self, hash: u64, equal: impl Fn(u32) -> bool) -> Option<u32> {
        let (table, hash) = split(hash);
        let found = self.tables[table].find(spread(hash), |slot| slot.hash == hash && equal(slot.index));
        found.map(|slot| slot.index)
    }

    /// Adds `index`, which must not be there yet.
    pub(crate) fn insert(&mut self, hash: u64, index: u32) {
        let (table, hash) = split(hash);
        self.tables[table].insert_unique(spread(hash), Slot { index, hash }, |slot| spread(slot.hash));
    }

    /// Takes `index` out; nothing happens when it is not there. A table that has become nearly empty is shrunk.
    pub(crate) fn remove(&mut self, hash: u64, index: u32) {
        let (table, hash) = split(hash);
        let table = &mut self.tables[table];
        if let Ok(entry) = table.find_entry(spread(hash), |slot| slot.index == index) {
            entry.remove();
        }
        if table.capacity() > 64 && table.len() * 8 < table.capacity() {
            table.shrink_to(table.len() * 2, |slot| spread(slot.hash));
        }
    }
}

/// The table, from the high bits, and the hash within it, from the low ones.
#[inline]
const fn split(hash: u64) -> (usize, u32) {
    ((hash >> 40) as usize & (TABLES - 1), hash as u32)
}
