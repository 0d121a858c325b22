//! What a session has to do with groups, on its own shard.

use lapwing_session::Bound;

use crate::shard_set::ShardSet;
use crate::signals::{Declared, Probes};
use crate::slot::{ShardId, stable_hash};
use crate::table_key::TableKey;
use crate::words::{JoinRequest, Profile, share_name};

/// One per session. Most are in no group and say nothing of themselves, so what comes with that lies behind a pointer.
#[derive(Debug, Default)]
pub(crate) struct Membership {
    /// The number of its connection, or of the last one, counted as sessions open; 0: it has had none since the node started.
    pub(crate) epoch: u64,
    standing: Option<Box<MemberStanding>>,
    /// Messages that it may have at a time.
    receive_max: u16,
    /// The kernel sees the near leg of the way to it only.
    pub(crate) is_proxied: bool,
}

/// Of a session that joined a group, perhaps long ago, or whose client has declared something.
#[derive(Debug, Default)]
struct MemberStanding {
    /// The shards that own a group that the session joined, perhaps long ago.
    owners: ShardSet,
    /// Hashes of groups and filters that it subscribes to, ascending, each with its last request to join.
    shares: Vec<(u64, JoinRequest)>,
    /// What its client says about itself.
    declared: Declared,
    /// Its probes, if its client has asked for them.
    probes: Option<Box<Probes>>,
    /// When the kernel was asked last how far away it is.
    sampled_at_us: u64,
}

// Every session has one.
const _: () = assert!(size_of::<Membership>() <= 24);

impl Membership {
    /// The session has a new connection.
    pub(crate) fn connected(mut self, epoch: u64, profile: Profile) -> Self {
        let Profile { receive_max, is_proxied, declared, .. } = profile;
        (self.epoch, self.receive_max, self.is_proxied) = (epoch, receive_max, is_proxied);
        if self.standing.is_some() || declared != Declared::default() {
            let standing = self.standing.get_or_insert_default();
            (standing.declared, standing.probes) = (declared, None);
        }
        self
    }

    /// What is known of its client, who has this id.
    pub(crate) fn profile(&self, client_id: &str) -> Profile {
        Profile {
            identity: stable_hash(client_id.as_bytes()),
            receive_max: self.receive_max,
            is_proxied: self.is_proxied,
            declared: self.declared(),
        }
    }

    /// What its client says about itself.
    pub(crate) fn declared(&self) -> Declared {
        self.standing.as_ref().map_or_else(Declared::default, |standing| standing.declared)
    }

    /// Its client says this too.
    pub(crate) fn declare(&mut self, declared: Declared) {
        let standing = self.standing.get_or_insert_default();
        standing.declared = standing.declared.and_then(declared);
    }

    /// Its probes, if its client has asked for them.
    pub(crate) fn probes(&mut self) -> Option<&mut Probes> {
        self.standing.as_mut()?.probes.as_deref_mut()
    }

    /// It is probed so from now on, or not any more.
    pub(crate) fn set_probes(&mut self, probes: Option<Probes>) {
        if self.standing.is_some() || probes.is_some() {
            self.standing.get_or_insert_default().probes = probes.map(Box::new);
        }
    }

    /// Whether the kernel may be asked again how far away it is, `every_us` after the last time; then it is taken as asked.
    pub(crate) fn may_sample(&mut self, now_us: u64, every_us: u64) -> bool {
        let Some(standing) = &mut self.standing else { return false };
        let is_time = now_us >= standing.sampled_at_us + every_us;
        if is_time {
            standing.sampled_at_us = now_us;
        }
        is_time
    }

    /// The session subscribes to a group that `owner` has.
    pub(crate) fn joined(&mut self, group: &str, filter: &str, owner: ShardId, request: JoinRequest) {
        let (share, place) = (hash_of(group, filter), self.place(hash_of(group, filter)));
        let standing = self.standing.get_or_insert_default();
        standing.owners.insert(owner);
        match place {
            Ok(at) => standing.shares[at].1 = request,
            Err(at) => standing.shares.insert(at, (share, request)),
        }
    }

    /// It does not any more.
    pub(crate) fn left(&mut self, group: &str, filter: &str) {
        self.remove_share(hash_of(group, filter), |_| true);
    }

    /// The group has no room for it. Returns whether that is its answer: if the session has asked again meanwhile, what it
    /// is told then is what is so.
    pub(crate) fn was_refused(&mut self, group: &str, filter: &str, request: JoinRequest) -> bool {
        self.remove_share(hash_of(group, filter), |last| last == request)
    }

    /// Whether it subscribes to the group with this hash.
    pub(crate) fn has(&self, share: u64) -> bool {
        self.place(share).is_ok()
    }

    fn place(&self, share: u64) -> Result<usize, usize> {
        self.shares().binary_search_by_key(&share, |(share, _)| *share)
    }

    fn shares(&self) -> &[(u64, JoinRequest)] {
        self.standing.as_ref().map_or(&[], |standing| &standing.shares)
    }

    /// Removes a share, if it is there and its last request to join is such; returns whether it did.
    fn remove_share(&mut self, share: u64, is_such: impl FnOnce(JoinRequest) -> bool) -> bool {
        let (place, standing) = (self.place(share), self.standing.as_deref_mut());
        let (Ok(at), Some(MemberStanding { shares, .. })) = (place, standing) else { return false };
        let goes = is_such(shares[at].1);
        if goes {
            shares.remove(at);
        }
        goes
    }

    /// How many groups it subscribes to.
    pub(crate) fn groups(&self) -> u64 {
        self.shares().len() as u64
    }

    /// Whether it subscribes to any group.
    pub(crate) fn is_member(&self) -> bool {
        !self.shares().is_empty()
    }

    /// Whether a group that it joined, perhaps long ago, may know it.
    pub(crate) fn has_owners(&self) -> bool {
        self.standing.as_ref().is_some_and(|standing| !standing.owners.is_empty())
    }

    /// Each owner.
    pub(crate) fn owners(&self) -> impl Iterator<Item = ShardId> + use<> {
        self.standing.as_ref().map_or(ShardSet::EMPTY, |standing| standing.owners).iter()
    }
}

/// The shard that bound a message: it is in the group's number.
pub(crate) fn owner_of(bound: Bound) -> ShardId {
    TableKey::shard_of(bound.group.get())
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
