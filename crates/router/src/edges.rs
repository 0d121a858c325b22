//! A hash table of indices, cut into many small ones.
//!
//! One table that doubles at a million entries stops its shard for tens of milliseconds. 256 tables double at 256
//! different moments and each doubling is 256 times smaller.

use hashbrown::HashTable;

const TABLES: usize = 256;

/// Indices found by hash; what they mean (and so equality and rehashing) is the caller's.
pub(crate) struct SplitTable {
    tables: Box<[HashTable<u32>]>,
}

impl SplitTable {
    pub(crate) fn new() -> Self {
        SplitTable { tables: (0..TABLES).map(|_| HashTable::new()).collect() }
    }

    /// The table of `hash`. hashbrown takes its bucket from the lowest bits and its tag from the highest seven, so the
    /// choice is made from bits between.
    #[inline]
    const fn table_of(hash: u64) -> usize {
        (hash >> 40) as usize & (TABLES - 1)
    }

    #[inline]
    pub(crate) fn find(&self, hash: u64, equal: impl Fn(u32) -> bool) -> Option<u32> {
        self.tables[Self::table_of(hash)].find(hash, |&index| equal(index)).copied()
    }

    /// Adds `index`, which must not be there yet. `hasher` gives the hash of any index in the table.
    pub(crate) fn insert(&mut self, hash: u64, index: u32, hasher: impl Fn(u32) -> u64) {
        self.tables[Self::table_of(hash)].insert_unique(hash, index, |&index| hasher(index));
    }

    /// Takes `index` out; nothing happens when it is not there. A table that has become nearly empty is shrunk.
    pub(crate) fn remove(&mut self, hash: u64, index: u32, hasher: impl Fn(u32) -> u64) {
        let table = &mut self.tables[Self::table_of(hash)];
        if let Ok(entry) = table.find_entry(hash, |&other| other == index) {
            entry.remove();
        }
        if table.capacity() > 64 && table.len() * 8 < table.capacity() {
            table.shrink_to(table.len() * 2, |&index| hasher(index));
        }
    }
}
