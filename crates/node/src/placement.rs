//! Who owns what: slot -> data group -> owner. Whoever wants to know where a client, a topic, a consumer group or a hold lives
//! asks the node's [`Placement`]; nothing works it out by itself.

use crate::slot::{DATA_GROUPS, ShardId, Slot};

/// The number of a node in its cluster: 0..64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u8);

impl NodeId {
    /// The only one, as long as nodes are not joined to clusters.
    pub const THIS: NodeId = NodeId(0);
}

/// Where something lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The node.
    pub node: NodeId,
    /// The shard of that node.
    pub shard: ShardId,
    /// Goes up whenever the owner changes: what was said under an earlier one no longer holds.
    pub epoch: u64,
}

/// The owners of all slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// A slot's is at its number modulo their count.
    owners: Box<[Owner]>,
}

impl Placement {
    /// Of a node by itself with so many shards.
    ///
    /// Data groups go to shards in turn. With more shards than groups, which is for memory only, the slots of one group are spread
    /// over the shards that are congruent to it, so that no shard stays idle.
    pub fn of_shards(shards: u32) -> Self {
        let shards = shards.max(1);
        let owner = |number: u32| Owner { node: NodeId::THIS, shard: ShardId((number % shards) as u8), epoch: 1 };
        Placement { owners: (0..shards.max(u32::from(DATA_GROUPS))).map(owner).collect() }
    }

    /// Who owns this slot.
    #[inline]
    pub fn owner_of(&self, slot: Slot) -> Owner {
        self.owners[usize::from(slot.get()) % self.owners.len()]
    }

    /// The data groups that a shard of this node owns. Asked only where there is a log, so with no more shards than groups.
    pub(crate) fn data_groups_of(&self, shard: ShardId) -> impl Iterator<Item = u16> + use<> {
        debug_assert!(self.owners.len() == usize::from(DATA_GROUPS), "a data group has one owner where there is a log");
        let own: Vec<u16> = (0..DATA_GROUPS)
            .filter(|data_group| {
                let owner = self.owner_of(Slot::first_of(*data_group));
                owner.node == NodeId::THIS && owner.shard == shard
            })
            .collect();
        own.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do ten thousand names spread evenly, and does every shard count use all its shards?
    #[test]
    fn names_spread_evenly() {
        for shards in [1_u32, 2, 3, 4, 8, 16, 17, 32, 64] {
            let placement = Placement::of_shards(shards);
            let mut counts = vec![0_u32; shards as usize];
            for n in 0..20_000 {
                counts[placement.owner_of(Slot::of(format!("device-{n}").as_bytes())).shard.index()] += 1;
            }
            // With a number of shards that does not divide 16 some carry one data group more than others.
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(*least * 5 > *most * 2, "{shards} shards: {counts:?}");
        }
    }

    /// Where there is a log: has each data group one owner, and do all of its slots live there?
    #[test]
    fn a_data_group_has_one_owner() {
        for shards in 1..=u32::from(DATA_GROUPS) {
            let placement = Placement::of_shards(shards);
            let mut owned = vec![0; usize::from(DATA_GROUPS)];
            for shard in (0..shards).map(|shard| ShardId(shard as u8)) {
                for data_group in placement.data_groups_of(shard) {
                    owned[usize::from(data_group)] += 1;
                    let of_group = (0..crate::slot::SLOTS).map(Slot::numbered).filter(|s| s.data_group() == data_group);
                    of_group.for_each(|slot| assert_eq!(placement.owner_of(slot).shard, shard, "{slot:?} of {shards}"));
                }
            }
            assert!(owned.iter().all(|owners| *owners == 1), "{shards} shards: {owned:?}");
        }
    }
}
