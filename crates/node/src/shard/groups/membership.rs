//! What a session has to do with groups, on its own shard.

use lapwing_session::Bound;

use crate::signals::Probes;
use crate::slot::{ShardId, stable_hash};
use crate::words::{Profile, share_name};

/// One per session.
#[derive(Debug, Default)]
pub(crate) struct Membership {
    /// Bit per shard: it owns a group that the session joined, perhaps long ago.
    pub(crate) owners: u64,
    /// The number of its connection, or of the last one.
    pub(crate) epoch: u64,
    /// Hashes of groups and filters that it subscribes to, ascending.
    shares: Vec<u64>,
    /// What its client says about itself.
    pub(crate) profile: Profile,
    /// Its probes, if its client has asked for them.
    pub(crate) probes: Option<Box<Probes>>,
    /// When the kernel was asked last how far away it is.
    pub(crate) sampled_at_us: u64,
}

impl Membership {
    /// The session has a new connection.
    pub(crate) fn connected(mut self, epoch: u64, profile: Profile) -> Self {
        (self.epoch, self.profile, self.probes) = (epoch, profile, None);
        self
    }

    /// The session subscribes to a group that `owner` has.
    pub(crate) fn joined(&mut self, group: &str, filter: &str, owner: ShardId) {
        self.owners |= 1 << owner.index();
        let share = hash_of(group, filter);
        if let Err(at) = self.shares.binary_search(&share) {
            self.shares.insert(at, share);
        }
    }

    /// It does not any more.
    pub(crate) fn left(&mut self, group: &str, filter: &str) {
        if let Ok(at) = self.shares.binary_search(&hash_of(group, filter)) {
            self.shares.remove(at);
        }
    }

    /// Whether it subscribes to the group with this hash.
    pub(crate) fn has(&self, share: u64) -> bool {
        self.shares.binary_search(&share).is_ok()
    }

    /// Each owner.
    pub(crate) fn owners(&self) -> impl Iterator<Item = ShardId> + use<> {
        let mut left = self.owners;
        std::iter::from_fn(move || {
            let owner = (left != 0).then(|| ShardId(left.trailing_zeros() as u8))?;
            left &= left - 1;
            Some(owner)
        })
    }
}

/// The shard that bound a message: it is in the group's number.
pub(crate) fn owner_of(bound: Bound) -> ShardId {
    ShardId((bound.group.get() >> 56) as u8)
}

fn hash_of(group: &str, filter: &str) -> u64 {
    stable_hash(share_name(group, filter).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does it know what it subscribes to, and every owner it ever joined?
    #[test]
    fn shares_come_and_go_and_owners_stay() {
        let mut membership = Membership::default();
        membership.joined("g", "a/#", ShardId(3));
        membership.joined("g", "a/#", ShardId(3));
        membership.joined("h", "a/#", ShardId(0));
        assert!(membership.has(hash_of("g", "a/#")) && !membership.has(hash_of("g", "a")));
        membership.left("g", "a/#");
        assert!(!membership.has(hash_of("g", "a/#")) && membership.has(hash_of("h", "a/#")));
        assert_eq!(membership.owners().collect::<Vec<_>>(), [ShardId(0), ShardId(3)]);
    }
}
