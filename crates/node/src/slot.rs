//! Where things live: name -> slot -> data group; whose that is says the [`crate::placement::Placement`].
//!
//! The hash is part of the on-disk and (later) the cluster format: it must never change. FNV-1a over the bytes,
//! finished with the mixer of splitmix64 because FNV alone leaves its low bits weak for short names.

/// Number of slots, fixed for good.
pub const SLOTS: u16 = 4096;
/// Number of data groups, fixed when a cluster is made.
pub const DATA_GROUPS: u16 = 16;

/// A slot: 0..4096.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(u16);

/// The number of a shard on this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShardId(pub(crate) u8);

impl ShardId {
    /// As an index of arrays with one entry per shard.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl Slot {
    /// The slot of a client id, a topic or any other name.
    pub fn of(name: &[u8]) -> Slot {
        Slot((stable_hash(name) % u64::from(SLOTS)) as u16)
    }

    /// The slot of a consumer group on a filter.
    pub fn of_group(group: &str, filter: &str) -> Slot {
        let mut name = Vec::with_capacity(group.len() + filter.len() + 1);
        name.extend_from_slice(group.as_bytes());
        // A group name holds no '/', so that two pairs never make the same name.
        name.push(b'/');
        name.extend_from_slice(filter.as_bytes());
        Slot::of(&name)
    }

    /// By its number.
    #[cfg(test)]
    pub(crate) fn numbered(number: u16) -> Slot {
        Slot(number % SLOTS)
    }

    /// The first slot of a data group.
    pub fn first_of(data_group: u16) -> Slot {
        Slot(data_group % DATA_GROUPS)
    }

    /// 0..4096.
    pub fn get(self) -> u16 {
        self.0
    }

    /// The data group of this slot: 0..16.
    pub fn data_group(self) -> u16 {
        self.0 % DATA_GROUPS
    }
}

/// A 64-bit hash that is the same on every machine and in every version.
pub fn stable_hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fixed for good: a change here would move every client of every existing node.
    #[test]
    fn slots_never_change() {
        let found: Vec<u16> = ["", "a", "device-1", "device-2", "spectrum/1/readings"]
            .iter()
            .map(|n| Slot::of(n.as_bytes()).get())
            .collect();
        assert_eq!(found, [2203, 248, 2869, 549, 1731]);
    }

    /// Is a group's place independent of how its name and filter are cut?
    #[test]
    fn groups_are_told_apart() {
        assert_ne!(Slot::of_group("ab", "c"), Slot::of_group("a", "bc"));
    }
}
