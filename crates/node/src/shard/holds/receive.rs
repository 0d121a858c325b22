//! A message that the owner of a hold offers: to sessions and groups of this shard.

use std::collections::HashMap;

use lapwing_session::SessionKey;
use rustc_hash::FxBuildHasher;

use super::Shard;
use crate::mail::{HoldRoute, Offered, OfferedList, RouteFlags};
use crate::shard::publish::delivery::DeliveryContext;
use crate::shard::publish::route::Target;
use crate::slot::ShardId;

/// What of one batch nobody here took.
#[derive(Debug, Default)]
pub(super) struct Declined {
    batch: u32,
    /// By topic, as it was answered first: who subscribes in the midst of a batch must not get the second message and then the
    /// first, which comes again. Topics are chosen by clients, but one batch is short.
    topics: HashMap<Box<str>, Offered, FxBuildHasher>,
}

impl Shard {
    /// Shard `from` offers a message of one of its holds, to those here that `wanted` says.
    pub(in crate::shard) fn receive_held(
        &mut self,
        from: ShardId,
        context: &mut DeliveryContext<'_>,
        wanted: RouteFlags,
        hold_route: HoldRoute,
    ) {
        let topic = context.routed.publish().topic;
        let declined = self.holds.declined.entry((from, hold_route.hold)).or_default();
        if declined.batch != hold_route.batch {
            declined.batch = hold_route.batch;
            declined.topics.clear();
        }
        let offered = match declined.topics.get(topic) {
            Some(offered) => *offered,
            None => self.offer_here(context, wanted, hold_route.may_wait).0,
        };
        if offered != Offered::Taken
            && let Some(declined) = self.holds.declined.get_mut(&(from, hold_route.hold))
        {
            declined.topics.insert(topic.into(), offered);
        }
        self.answer_offer(from, hold_route, offered);
    }

    /// Notes an answer, in one list with those before if it can be.
    fn answer_offer(&mut self, to: ShardId, hold_route: HoldRoute, offered: Offered) {
        let HoldRoute { hold, batch, index, .. } = hold_route;
        let answers = &mut self.holds.answers;
        let last = answers.last_mut().filter(|(owner, list)| *owner == to && (list.hold, list.batch) == (hold, batch));
        match last {
            Some((_, list)) => list.answers.push((index, offered)),
            None => answers.push((to, OfferedList { hold, batch, answers: vec![(index, offered)] })),
        }
    }

    /// Gives a message to whoever here subscribes to it; also whether the log has it now. `may_wait`: who has no room need
    /// not lose it.
    pub(super) fn offer_here(
        &mut self,
        context: &mut DeliveryContext<'_>,
        wanted: RouteFlags,
        may_wait: bool,
    ) -> (Offered, bool) {
        if may_wait && !self.has_receiver_with_room(context.routed.publish().topic) {
            return (Offered::Full, false);
        }
        let found = self.deliver_here(context, wanted, None);
        let is_kept = self.keep(context, None);
        (if found.is_taken { Offered::Taken } else { Offered::Nobody }, is_kept)
    }

    /// Whether somebody here can take a message of a topic now, or nobody is there at all. Who is away has a queue for it.
    fn has_receiver_with_room(&mut self, topic: &str) -> bool {
        if self.groups.table.wants(topic) {
            return true;
        }
        let mut sessions: Vec<SessionKey> = Vec::new();
        self.subscriptions.tree.matches(topic, |entries| {
            if let Target::Session(key) = entries[0].subscriber {
                sessions.push(key);
            }
        });
        sessions.retain(|key| self.clients.row(*key).is_some());
        let is_away = |shard: &mut Shard, key| shard.clients.row(key).is_some_and(|row| row.connection().is_none());
        sessions.is_empty() || sessions.into_iter().any(|key| is_away(self, key) || self.has_room(key, 1))
    }
}
