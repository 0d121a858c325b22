//! Shared subscriptions: each group lives on one shard, which picks a member for each message, in turn.

use lapwing_codec::topic::SharedFilter;
use lapwing_router::{Entry, GroupId};
use lapwing_session::{Grant, Routed, SessionKey};

use super::Shard;
use super::clients::shard_of;
use crate::mail::{Control, Direct};
use crate::metrics::DropReason;
use crate::slot::{ShardId, Slot};

/// A member of a group: a session, on whichever shard it lives.
pub(crate) type Member = SessionKey;

impl Shard {
    /// The shard on which a group lives.
    pub(super) fn owner_of_group(&self, shared: &SharedFilter<'_>) -> ShardId {
        Slot::of_group(shared.group, shared.filter).shard(self.post.shards())
    }

    /// Offers a message to one member of each group here that wants its topic.
    pub(super) fn dispatch_groups(&mut self, routed: &Routed<'_>) {
        let topic = routed.publish().topic;
        let mut all_away: Vec<GroupId> = Vec::new();
        let Shard { groups, away, .. } = self;
        let mut picks: Vec<(Member, Grant)> = Vec::new();
        let reachable = |_, member: &Entry<Member, Grant>| {
            let is_reachable = away.is_empty() || !away.contains(&member.subscriber);
            is_reachable && pick(member, &mut picks)
        };
        groups.dispatch(topic, reachable, |group| all_away.push(group));
        if !all_away.is_empty() {
            let offer = |group, member: &Entry<Member, Grant>| {
                // Groups that were served in the first round must not lose their turn: they are not asked.
                all_away.contains(&group) && pick(member, &mut picks)
            };
            let mut refused = 0;
            groups.dispatch(topic, offer, |group| refused += u64::from(all_away.contains(&group)));
            self.counters.dropped(DropReason::GroupEmpty, refused);
        }
        for (member, grant) in picks {
            self.send_to_member(member, grant, routed);
        }
    }

    fn send_to_member(&mut self, member: Member, grant: Grant, routed: &Routed<'_>) {
        let shard = shard_of(member);
        if shard == self.id {
            self.counters.deliveries.add(1);
            self.clients.deliver(member, routed, std::iter::once(&grant), self.now_ms);
            return;
        }
        self.counters.forwarded.add(1);
        let direct = Direct { to: member, grant, expires_at_ms: routed.expires_at_ms() };
        self.post.direct(shard, direct, routed.publish());
    }

    /// Tells the owners of a session's groups that it lost (`away`) or got back its connection.
    pub(super) fn mark_away(&mut self, key: SessionKey, away: bool) {
        let Some(entry) = self.clients.entry(key) else { return };
        let shards = self.post.shards();
        let owners = owners_of_groups(entry.session.subscriptions().map(|(filter, _)| filter), shards);
        self.tell_away(key, owners, away);
    }

    /// Sends one word to each owner in the set.
    pub(super) fn tell_away(&mut self, member: SessionKey, mut owners: u64, away: bool) {
        while owners != 0 {
            let owner = ShardId(owners.trailing_zeros() as u8);
            owners &= owners - 1;
            if owner == self.id {
                self.note_away(member, away);
            } else {
                self.post.control(owner, Control::Away { member, away });
            }
        }
    }

    /// A member of groups that live here has lost or got back its connection.
    pub(super) fn note_away(&mut self, member: SessionKey, away: bool) {
        if away {
            self.away.insert(member);
        } else {
            self.away.remove(&member);
        }
    }
}

/// Bit per shard: it owns a group that one of `filters` joins.
pub(super) fn owners_of_groups<'a>(filters: impl Iterator<Item = &'a str>, shards: u32) -> u64 {
    let owner = |filter: &'a str| {
        let shared = SharedFilter::parse(filter).ok().flatten()?;
        Some(Slot::of_group(shared.group, shared.filter).shard(shards))
    };
    filters
        .filter(|filter| filter.starts_with("$share/"))
        .filter_map(owner)
        .fold(0, |set, owner| set | 1 << owner.index())
}

fn pick(member: &Entry<Member, Grant>, picks: &mut Vec<(Member, Grant)>) -> bool {
    picks.push((member.subscriber, member.options));
    true
}
