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

/// What a group knows of a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberGrant {
    pub(crate) grant: Grant,
    /// It has no connection; it gets messages only when all others have none either.
    pub(crate) away: bool,
}

impl Shard {
    /// The shard on which a group lives.
    pub(super) fn owner_of_group(&self, shared: &SharedFilter<'_>) -> ShardId {
        Slot::of_group(shared.group, shared.filter).shard(self.post.shards())
    }

    /// Offers a message to one member of each group here that wants its topic.
    pub(super) fn dispatch_groups(&mut self, routed: &Routed<'_>) {
        let topic = routed.publish().topic;
        let mut all_away: Vec<GroupId> = Vec::new();
        let Shard { groups, .. } = self;
        let mut picks: Vec<(Member, Grant)> = Vec::new();
        groups.dispatch(topic, |_, member| pick(member, false, &mut picks), |group| all_away.push(group));
        if !all_away.is_empty() {
            let offer = |group, member: &Entry<Member, MemberGrant>| {
                // Groups that were served in the first round must not lose their turn: they are not asked.
                all_away.contains(&group) && pick(member, true, &mut picks)
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

    /// Tells the groups of a session that it lost (`away`) or got back its connection.
    pub(super) fn mark_away(&mut self, key: SessionKey, away: bool) {
        let Some(entry) = self.clients.entry(key) else { return };
        let shared: Vec<(String, Grant)> = entry
            .session
            .subscriptions()
            .filter(|(filter, _)| filter.starts_with("$share/"))
            .map(|(filter, grant)| (filter.to_owned(), grant))
            .collect();
        for (filter, grant) in shared {
            let Ok(Some(shared)) = SharedFilter::parse(&filter) else { continue };
            let owner = self.owner_of_group(&shared);
            let (group, filter) = (shared.group.into(), shared.filter.into());
            if owner == self.id {
                self.groups.insert(shared.group, shared.filter, key, MemberGrant { grant, away });
            } else {
                self.post.control(owner, Control::Away { group, filter, member: key, grant, away });
            }
        }
    }
}

/// Takes a member if it is reachable, or whoever it is in the second round.
fn pick(member: &Entry<Member, MemberGrant>, anyone: bool, picks: &mut Vec<(Member, Grant)>) -> bool {
    let taken = anyone || !member.options.away;
    if taken {
        picks.push((member.subscriber, member.options.grant));
    }
    taken
}
