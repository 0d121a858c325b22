//! Which other shards a message goes to, and what for.

use lapwing_codec::Publish;

use super::Target;
use crate::mail::{RouteFlags, RouteHeader};
use crate::shard::Shard;
use crate::shard_set::ShardSet;
use crate::slot::ShardId;

/// The other shards that have to do with one message: for each reason a set of them. Made from what the filter
/// tree says of its topic, and of where its retained message lives; [`Shard::post_route`] carries it out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::shard) struct RoutePlan {
    /// Their sessions want it.
    sessions: ShardSet,
    /// Groups that they own want it.
    groups: ShardSet,
    /// Of these, those that may have it to keep on disk.
    keepers: ShardSet,
    /// The one that owns the retained message of its topic.
    retained: ShardSet,
}

impl RoutePlan {
    /// Adds a subscriber of the filter tree; false: it is one of this shard.
    #[inline]
    pub(in crate::shard) fn add(&mut self, target: Target) -> bool {
        let (set, shard) = match target {
            Target::Shard(shard) => (&mut self.sessions, shard),
            Target::Keeper(shard) => (&mut self.keepers, shard),
            Target::Groups(shard) => (&mut self.groups, shard),
            Target::Session(_) | Target::Stream(_) => return false,
        };
        set.insert(shard);
        true
    }

    /// The same, and the shard that owns the retained message, if that is another one.
    #[inline]
    pub(super) fn with_retained(self, owner: Option<ShardId>) -> Self {
        RoutePlan { retained: owner.map_or(ShardSet::EMPTY, ShardSet::of), ..self }
    }

    /// Whether it goes nowhere, and nobody elsewhere keeps it.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.all().with(self.keepers).is_empty()
    }

    /// Whether it goes to sessions, and nowhere else.
    pub(super) fn is_for_sessions_alone(self) -> bool {
        self.groups.with(self.retained).is_empty()
    }

    /// The same for a message for which nobody waits until it is on disk.
    fn without_keepers(self) -> Self {
        RoutePlan { keepers: ShardSet::EMPTY, ..self }
    }

    /// The same for one whose publisher waits for that: whoever retains it keeps it on disk too.
    fn with_keepers(self) -> Self {
        RoutePlan { keepers: self.keepers.with(self.retained), ..self }
    }

    /// The shards that it goes to.
    fn all(self) -> ShardSet {
        self.sessions.with(self.groups).with(self.retained)
    }

    /// How many shards it goes to.
    pub(in crate::shard) fn count(self) -> u32 {
        self.all().len()
    }

    /// Each shard that it goes to, and what for.
    fn shards(self) -> impl Iterator<Item = (ShardId, RouteFlags)> {
        self.all().iter().map(move |shard| (shard, self.reasons(shard)))
    }

    fn reasons(self, shard: ShardId) -> RouteFlags {
        let reasons = [
            (self.sessions, RouteFlags::SESSIONS),
            (self.groups, RouteFlags::GROUPS),
            (self.retained, RouteFlags::RETAIN),
            (self.keepers, RouteFlags::KEEP),
        ];
        let those = reasons.into_iter().filter(|(set, _)| set.contains(shard));
        those.fold(RouteFlags::default(), |flags, (_, flag)| flags.with(flag))
    }
}

impl Shard {
    /// Posts one copy of a message to each shard of its plan; true when one of them has to keep it, and its publisher waits for
    /// that.
    pub(in crate::shard) fn post_route(
        &mut self,
        plan: RoutePlan,
        header: &RouteHeader,
        publish: &Publish<'_>,
    ) -> bool {
        let is_kept = self.clients.keeping.is_some() && !header.flags.has(RouteFlags::IN_MEMORY);
        let is_awaited = is_kept && publish.qos.is_acknowledged();
        let plan = if is_awaited { plan.with_keepers() } else { plan.without_keepers() };
        for (shard, reasons) in plan.shards() {
            self.post_message(shard, RouteHeader { flags: header.flags.with(reasons), ..*header }, publish);
        }
        !plan.keepers.is_empty()
    }

    /// Posts a message to one shard. If that is to keep it, what this turn's commit token stands for waits for it.
    pub(in crate::shard) fn post_message(&mut self, to: ShardId, header: RouteHeader, publish: &Publish<'_>) {
        self.counters.forwarded.add(1);
        self.retained.sequences.post(to);
        if header.flags.has(RouteFlags::KEEP) {
            self.clients.commit_tokens.posted(to.index());
        }
        self.mail.post.publish(to, header, publish, &mut self.durable.log);
    }
}

#[cfg(test)]
mod tests {
    use lapwing_session::SessionKey;

    use super::*;

    fn plan(targets: &[Target]) -> RoutePlan {
        let mut plan = RoutePlan::default();
        targets.iter().for_each(|target| assert!(plan.add(*target)));
        plan
    }

    /// Does each shard get one copy, with every reason that it has?
    #[test]
    fn a_shard_gets_one_copy_for_all_that_it_wants_it_for() {
        let (one, two, last) = (ShardId(1), ShardId(2), ShardId(63));
        let plan = plan(&[Target::Shard(one), Target::Keeper(one), Target::Groups(one), Target::Groups(last)]);
        let plan = plan.with_retained(Some(two));
        let (sessions, groups) = (RouteFlags::SESSIONS, RouteFlags::GROUPS);
        let (keep, retain) = (RouteFlags::KEEP, RouteFlags::RETAIN);
        assert_eq!(plan.count(), 3);
        let shards: Vec<_> = plan.with_keepers().shards().collect();
        assert_eq!(shards, [(one, sessions.with(groups).with(keep)), (two, retain.with(keep)), (last, groups)]);
        let shards: Vec<_> = plan.without_keepers().shards().collect();
        assert_eq!(shards, [(one, sessions.with(groups)), (two, retain), (last, groups)]);
    }

    /// Is what is here no reason to go anywhere?
    #[test]
    fn who_is_here_is_not_in_it() {
        let mut plan = RoutePlan::default();
        assert!(!plan.add(Target::Session(SessionKey(7))) && !plan.add(Target::Stream(0)));
        assert_eq!((plan, plan.count(), plan.shards().count()), (RoutePlan::default(), 0, 0));
        assert!(plan.is_empty() && !plan.with_retained(Some(ShardId(0))).is_empty());
    }
}
