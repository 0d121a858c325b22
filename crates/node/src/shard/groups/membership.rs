//! What a session has to do with groups, on its own shard.

use lapwing_session::Bound;

use crate::signals::Probes;
use crate::slot::{ShardId, stable_hash};
use crate::words::{JoinRequest, Profile, share_name};

/// One per session.
#[derive(Debug, Default)]
pub(crate) struct Membership {
    /// Bit per shard: it owns a group that the session joined, perhaps long ago.
    pub(crate) owners: u64,
    /// The number of its connection, or of the last one.
    pub(crate) epoch: u64,
    /// Hashes of groups and filters that it subscribes to, ascending, each with its last request to join.
    shares: Vec<(u64, JoinRequest)>,
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
    pub(crate) fn joined(&mut self, group: &str, filter: &str, owner: ShardId, request: JoinRequest) {
        self.owners |= 1 << owner.index();
        let share = hash_of(group, filter);
        match self.place(share) {
            Ok(at) => self.shares[at].1 = request,
            Err(at) => self.shares.insert(at, (share, request)),
        }
    }

    /// It does not any more.
    pub(crate) fn left(&mut self, group: &str, filter: &str) {
        if let Ok(at) = self.place(hash_of(group, filter)) {
            self.shares.remove(at);
        }
    }

    /// The group has no room for it. Returns whether that is its answer: if the session has asked again meanwhile, what it
    /// is told then is what is so.
    pub(crate) fn was_refused(&mut self, group: &str, filter: &str, request: JoinRequest) -> bool {
        let place = self.place(hash_of(group, filter)).ok().filter(|at| self.shares[*at].1 == request);
        place.map(|at| self.shares.remove(at)).is_some()
    }

    /// Whether it subscribes to the group with this hash.
    pub(crate) fn has(&self, share: u64) -> bool {
        self.place(share).is_ok()
    }

    fn place(&self, share: u64) -> Result<usize, usize> {
        self.shares.binary_search_by_key(&share, |(share, _)| *share)
    }

    /// How many groups it subscribes to.
    pub(crate) fn groups(&self) -> u64 {
        self.shares.len() as u64
    }

    /// Whether it subscribes to any group.
    pub(crate) fn is_member(&self) -> bool {
        !self.shares.is_empty()
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

    /// Its nth request.
    fn nth(at: usize) -> JoinRequest {
        JoinRequest { place: 0, at }
    }

    /// Does it know what it subscribes to, and every owner it ever joined?
    #[test]
    fn shares_come_and_go_and_owners_stay() {
        let mut membership = Membership::default();
        membership.joined("g", "a/#", ShardId(3), nth(0));
        membership.joined("g", "a/#", ShardId(3), nth(1));
        membership.joined("h", "a/#", ShardId(0), nth(2));
        assert!(membership.has(hash_of("g", "a/#")) && !membership.has(hash_of("g", "a")));
        membership.left("g", "a/#");
        assert!(!membership.has(hash_of("g", "a/#")) && membership.has(hash_of("h", "a/#")));
        assert_eq!(membership.owners().collect::<Vec<_>>(), [ShardId(0), ShardId(3)]);
    }

    /// Asked twice while the group was full and then had room: is it the last answer that counts?
    #[test]
    fn an_earlier_refusal_is_not_the_answer_to_a_later_request() {
        let mut membership = Membership::default();
        membership.joined("g", "a", ShardId(1), nth(0));
        membership.joined("g", "a", ShardId(1), nth(1));
        assert!(!membership.was_refused("g", "a", nth(0)) && membership.has(hash_of("g", "a")));
        assert!(membership.was_refused("g", "a", nth(1)) && !membership.has(hash_of("g", "a")));
        membership.joined("g", "a", ShardId(1), nth(2));
        membership.left("g", "a");
        assert!(!membership.was_refused("g", "a", nth(2)));
    }
}
