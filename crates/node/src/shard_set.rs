//! A set of shards of one node.

use crate::slot::ShardId;

/// A bit for each shard: there are at most 64 ([`crate::config::SHARDS_MAX`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardSet(u64);

impl ShardSet {
    pub(crate) const EMPTY: ShardSet = ShardSet(0);

    #[inline]
    pub(crate) fn of(shard: ShardId) -> ShardSet {
        ShardSet(1 << shard.index())
    }

    #[inline]
    pub(crate) fn insert(&mut self, shard: ShardId) {
        self.0 |= 1 << shard.index();
    }

    #[inline]
    pub(crate) fn contains(self, shard: ShardId) -> bool {
        self.0 & 1 << shard.index() != 0
    }

    /// Those that are in either.
    #[inline]
    pub(crate) const fn with(self, other: ShardSet) -> ShardSet {
        ShardSet(self.0 | other.0)
    }

    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Each, the lowest first.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = ShardId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let shard = (left != 0).then(|| ShardId(left.trailing_zeros() as u8))?;
            left &= left - 1;
            Some(shard)
        })
    }
}

impl FromIterator<ShardId> for ShardSet {
    fn from_iter<I: IntoIterator<Item = ShardId>>(shards: I) -> Self {
        shards.into_iter().fold(ShardSet::EMPTY, |set, shard| set.with(ShardSet::of(shard)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are the first and the last shard there are in it once they were added, and no other?
    #[test]
    fn what_was_added_is_in_it() {
        let mut set: ShardSet = [ShardId(63), ShardId(0)].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [ShardId(0), ShardId(63)]);
        set.insert(ShardId(5));
        set.insert(ShardId(5));
        assert_eq!((set.len(), set.contains(ShardId(5)), set.contains(ShardId(6))), (3, true, false));
        assert!(ShardSet::EMPTY.is_empty() && ShardSet::EMPTY.iter().next().is_none() && !set.is_empty());
    }
}
