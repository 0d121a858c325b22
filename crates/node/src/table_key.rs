//! Numbers of sessions and consumer groups: where one lives, and which of its place's many it is.

use crate::placement::NodeId;
use crate::slot::ShardId;

/// A number that no other session or group of a cluster has as long as both live: 6 bits of the node, 6 of the shard, 24 that
/// count what the shard has begun, 28 of the place in its table. Two are alike only where a place is taken again a multiple of 16
/// million sessions (or groups) later, and somebody still has the first one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableKey {
    pub(crate) node: NodeId,
    pub(crate) shard: ShardId,
    pub(crate) generation: u32,
    pub(crate) place: usize,
}

const PLACE_BITS: u32 = 28;
const GENERATION_BITS: u32 = 24;
const SHARD_BITS: u32 = 6;

const fn low(number: u64, bits: u32) -> u64 {
    number & ((1 << bits) - 1)
}

impl TableKey {
    /// The generation after this one: never 0, so that no number is.
    pub(crate) fn next_generation(generation: u32) -> u32 {
        generation % ((1 << GENERATION_BITS) - 1) + 1
    }

    #[inline]
    pub(crate) fn number(self) -> u64 {
        debug_assert!(self.place < 1 << PLACE_BITS && self.generation < 1 << GENERATION_BITS);
        let of_node = u64::from(self.node.0) << SHARD_BITS | u64::from(self.shard.0);
        (of_node << GENERATION_BITS | u64::from(self.generation)) << PLACE_BITS | self.place as u64
    }

    /// Its place in the table of its shard.
    #[inline]
    pub(crate) fn place_of(number: u64) -> usize {
        low(number, PLACE_BITS) as usize
    }

    /// The shard that it lives on.
    #[inline]
    pub(crate) fn shard_of(number: u64) -> ShardId {
        ShardId(low(number >> (PLACE_BITS + GENERATION_BITS), SHARD_BITS) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a number say where what it names lives, at every end of what it has room for, and is no number another's?
    #[test]
    fn a_number_says_where_its_owner_lives() {
        let mut numbers = std::collections::BTreeSet::new();
        for node in [0, 1, 63].map(NodeId) {
            for shard in [0, 1, 63].map(ShardId) {
                for generation in [1, 2, (1 << GENERATION_BITS) - 1] {
                    for place in [0, 1, (1 << PLACE_BITS) - 1] {
                        let number = TableKey { node, shard, generation, place }.number();
                        assert_eq!((TableKey::shard_of(number), TableKey::place_of(number)), (shard, place));
                        assert!(number != 0 && numbers.insert(number), "{number:x}");
                    }
                }
            }
        }
    }

    #[test]
    fn generations_go_round_without_zero() {
        assert_eq!(TableKey::next_generation(0), 1);
        assert_eq!(TableKey::next_generation((1 << GENERATION_BITS) - 1), 1);
        assert_eq!(TableKey::next_generation(7), 8);
    }
}
