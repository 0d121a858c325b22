//! A hash table of indices, cut into many small ones.
//!
//! One table that doubles at a million entries stops its shard for tens of milliseconds. 1,024 tables double at as many
//! different moments, and each doubling is 1,024 times smaller. Each slot keeps its hash, so that neither doubling nor a
//! miss has to look at what the indices stand for (a cache miss each). Linear probing, because a lookup then touches one
//! cache line of slots; a table with control bytes beside its slots touches two.

const TABLES: usize = 1024;
/// Slots of a table when its first entry comes.
const SLOTS_MIN: usize = 4;

#[derive(Clone, Copy)]
struct Slot {
    index: u32,
    hash: u32,
}

/// No index has this value: an arena of so many nodes does not fit into memory.
const EMPTY: Slot = Slot { index: u32::MAX, hash: 0 };

impl Slot {
    const fn is_empty(self) -> bool {
        self.index == u32::MAX
    }
}

/// Indices found by hash; what they mean (and so equality) is the caller's.
#[derive(Default)]
pub(crate) struct SplitTable {
    /// Empty until the first entry comes: the tables alone are 24 KiB, and a broker has a dozen of these that most configurations
    /// put nothing into.
    tables: Box<[Table]>,
}

impl SplitTable {
    #[inline]
    pub(crate) fn find(&self, hash: u64, equal: impl Fn(u32) -> bool) -> Option<u32> {
        let (table, hash) = split(hash);
        self.tables.get(table)?.find(hash, equal)
    }

    /// Adds `index`, which must not be there yet.
    pub(crate) fn insert(&mut self, hash: u64, index: u32) {
        if self.tables.is_empty() {
            self.tables = (0..TABLES).map(|_| Table::default()).collect();
        }
        let (table, hash) = split(hash);
        self.tables[table].insert(Slot { index, hash });
    }

    /// Takes `index` out; nothing happens when it is not there.
    pub(crate) fn remove(&mut self, hash: u64, index: u32) {
        let (table, hash) = split(hash);
        if let Some(table) = self.tables.get_mut(table) {
            table.remove(hash, index);
        }
    }
}

/// The table, from the high bits, and the hash within it, from the low ones.
#[inline]
const fn split(hash: u64) -> (usize, u32) {
    ((hash >> 40) as usize & (TABLES - 1), hash as u32)
}

/// Slots in a ring, a power of two of them and at most two thirds full; an entry stands at the place that its hash names
/// or behind it, with no empty slot between.
#[derive(Default)]
struct Table {
    slots: Box<[Slot]>,
    len: usize,
}

impl Table {
    #[inline]
    fn find(&self, hash: u32, equal: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        loop {
            let slot = *self.slots.get(at)?;
            if slot.is_empty() {
                return None;
            }
            if slot.hash == hash && equal(slot.index) {
                return Some(slot.index);
            }
            at = (at + 1) & mask;
        }
    }

    fn insert(&mut self, slot: Slot) {
        if (self.len + 1) * 3 > self.slots.len() * 2 {
            self.resize((self.slots.len() * 2).max(SLOTS_MIN));
        }
        self.place(slot);
        self.len += 1;
    }

    fn place(&mut self, slot: Slot) {
        let mask = self.slots.len() - 1;
        let mut at = slot.hash as usize & mask;
        while !self.slots[at].is_empty() {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }

    fn resize(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; slots].into_boxed_slice());
        old.iter().filter(|slot| !slot.is_empty()).for_each(|slot| self.place(*slot));
    }

    fn remove(&mut self, hash: u32, index: u32) {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        while self.slots.get(at).is_some_and(|slot| !slot.is_empty() && slot.index != index) {
            at = (at + 1) & mask;
        }
        if self.slots.get(at).is_none_or(|slot| slot.is_empty()) {
            return;
        }
        self.close_gap(at);
        self.len -= 1;
        if self.slots.len() > 64 && self.len * 8 < self.slots.len() {
            self.resize(self.slots.len() / 2);
        }
    }

    /// Moves entries up into the freed slot `gap` that could not be found behind an empty one.
    fn close_gap(&mut self, mut gap: usize) {
        let mask = self.slots.len() - 1;
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let slot = self.slots[at];
            if slot.is_empty() {
                break;
            }
            let home = slot.hash as usize & mask;
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(gap) & mask {
                self.slots[gap] = slot;
                gap = at;
            }
        }
        self.slots[gap] = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// 61 hashes for 300 indices.
    fn hash_of(index: u32) -> u32 {
        (index % 61).wrapping_mul(0x9E37_79B1)
    }

    /// Few hashes, so that entries crowd, wrap around the ring and close gaps all the time.
    #[test]
    fn it_finds_what_was_put_in_and_not_taken_out() {
        let (mut table, mut model, mut random) = (Table::default(), BTreeSet::new(), 1_u32);
        for _ in 0..100_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (index, grows) = ((random >> 8) % 300, (random >> 20) % 2 == 0);
            let hash = hash_of(index);
            if grows && model.insert(index) {
                table.insert(Slot { index, hash });
            } else if !grows {
                model.remove(&index);
                table.remove(hash, index);
            }
            assert_eq!(table.find(hash, |other| other == index), model.get(&index).copied());
        }
        assert_eq!(table.len, model.len());
        assert!((0..300).all(|n| table.find(hash_of(n), |o| o == n).is_some() == model.contains(&n)));
        (0..300).for_each(|n| table.remove(hash_of(n), n));
        assert_eq!((table.len, table.slots.len()), (0, 64));
    }

    /// Does one that nothing was put into take no memory, and answer as any other?
    #[test]
    fn an_empty_one_has_no_tables() {
        let mut table = SplitTable::default();
        table.remove(7 << 40, 1);
        assert_eq!((table.find(7 << 40, |_| true), table.tables.len()), (None, 0));
        table.insert(7 << 40, 1);
        assert_eq!((table.find(7 << 40, |index| index == 1), table.tables.len()), (Some(1), TABLES));
        table.remove(7 << 40, 1);
        assert_eq!(table.find(7 << 40, |_| true), None);
    }

    /// Does each half of the hash do its part, so that the many tables are all used?
    #[test]
    fn the_high_bits_name_the_table_and_the_low_ones_the_place() {
        assert_eq!(split(5), (0, 5));
        assert_eq!(split((3 << 40) | 9), (3, 9));
        assert_eq!(split(u64::MAX), (TABLES - 1, u32::MAX));
    }

    /// Is a table at most two thirds full, and not larger than that takes?
    #[test]
    fn it_doubles_when_two_thirds_are_full() {
        let mut table = Table::default();
        let mut sizes = Vec::new();
        for index in 0..11 {
            table.insert(Slot { index, hash: index });
            sizes.push(table.slots.len());
        }
        assert_eq!(sizes, [4, 4, 8, 8, 8, 16, 16, 16, 16, 16, 32]);
    }

    /// Does it give slots back once less than an eighth is used, and does a small one keep what it has?
    #[test]
    fn it_halves_when_nearly_empty() {
        let mut table = Table::default();
        (0..100).for_each(|index| table.insert(Slot { index, hash: index }));
        assert_eq!(table.slots.len(), 256);
        (32..100).for_each(|index| table.remove(index, index));
        assert_eq!((table.len, table.slots.len()), (32, 256));
        table.remove(31, 31);
        assert_eq!((table.len, table.slots.len()), (31, 128));
        (1..31).for_each(|index| table.remove(index, index));
        assert_eq!((table.len, table.slots.len()), (1, 64));
        assert_eq!(table.find(0, |index| index == 0), Some(0));
    }
}
