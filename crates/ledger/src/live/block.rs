//! The counts of 256 entries: a byte each, or a list while few of them have any.

/// Entries of a block.
pub(super) const ENTRIES: u64 = 256;
/// Stands for a count that is not smaller; it is held elsewhere.
pub(super) const LARGE: u8 = u8::MAX;
/// A list that grows beyond so many becomes a table.
const LIST_MAX: usize = 32;
/// A table that shrinks to so many becomes a list.
const LIST_AGAIN: u16 = 16;

/// A byte per entry.
#[derive(Debug)]
pub(super) struct Dense {
    counts: Box<[u8; ENTRIES as usize]>,
    /// Counts that are not 0.
    used: u16,
}

impl Default for Dense {
    fn default() -> Self {
        Dense { counts: Box::new([0; ENTRIES as usize]), used: 0 }
    }
}

impl Dense {
    pub(super) const fn is_empty(&self) -> bool {
        self.used == 0
    }

    #[inline]
    pub(super) fn get(&self, place: u8) -> u8 {
        self.counts[usize::from(place)]
    }

    #[inline]
    pub(super) fn set(&mut self, place: u8, count: u8) {
        let before = std::mem::replace(&mut self.counts[usize::from(place)], count);
        self.used += u16::from(count != 0);
        self.used -= u16::from(before != 0);
    }

    pub(super) fn clear(&mut self) {
        self.counts.fill(0);
        self.used = 0;
    }

    /// Places and counts that are not 0.
    fn iter(&self) -> impl Iterator<Item = (u8, u8)> {
        (0..=u8::MAX).zip(self.counts.iter().copied()).filter(|(_, count)| *count != 0)
    }
}

/// As a list or as a table, whichever is smaller.
#[derive(Debug)]
pub(super) enum Block {
    List(Vec<(u8, u8)>),
    Table(Dense),
}

impl Default for Block {
    fn default() -> Self {
        Block::List(Vec::new())
    }
}

impl Block {
    pub(super) fn of(dense: &Dense) -> Self {
        if usize::from(dense.used) <= LIST_MAX {
            return Block::List(dense.iter().collect());
        }
        Block::Table(Dense { counts: dense.counts.clone(), used: dense.used })
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Block::List(list) => list.is_empty(),
            Block::Table(table) => table.is_empty(),
        }
    }

    pub(super) fn get(&self, place: u8) -> u8 {
        match self {
            Block::List(list) => list.iter().find(|(at, _)| *at == place).map_or(0, |(_, count)| *count),
            Block::Table(table) => table.get(place),
        }
    }

    pub(super) fn set(&mut self, place: u8, count: u8) {
        match self {
            Block::List(list) => {
                set_in_list(list, place, count);
                if list.len() > LIST_MAX {
                    let mut table = Dense::default();
                    list.iter().for_each(|(place, count)| table.set(*place, *count));
                    *self = Block::Table(table);
                }
            }
            Block::Table(table) => {
                table.set(place, count);
                if table.used <= LIST_AGAIN {
                    *self = Block::List(table.iter().collect());
                }
            }
        }
    }
}

fn set_in_list(list: &mut Vec<(u8, u8)>, place: u8, count: u8) {
    match (list.iter().position(|(at, _)| *at == place), count) {
        (Some(at), 0) => drop(list.swap_remove(at)),
        (Some(at), _) => list[at].1 = count,
        (None, 0) => {}
        (None, _) => list.push((place, count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a block become a table and a list again, and say the same in both forms?
    #[test]
    fn lists_and_tables_agree() {
        let mut block = Block::default();
        for place in 0..=u8::MAX {
            block.set(place, place / 2 + 1);
            assert_eq!(matches!(block, Block::Table(_)), usize::from(place) >= LIST_MAX);
        }
        for place in (0..=u8::MAX).rev() {
            assert_eq!(block.get(place), place / 2 + 1);
            block.set(place, 0);
            assert_eq!(block.get(place), 0);
            assert_eq!(matches!(block, Block::List(_)), u16::from(place) <= LIST_AGAIN);
        }
        assert!(block.is_empty());
    }
}
