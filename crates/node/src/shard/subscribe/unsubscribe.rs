//! UNSUBSCRIBE, and whatever else takes subscriptions back: out of the tree, from the other shards, from groups.

use lapwing_codec::topic::SharedFilter;
use lapwing_router::Removal;
use lapwing_session::{CommitToken, Grant, Reply, SessionKey, Subscription, UnsubscribeRequest};

use crate::events::Happened;
use crate::hooks::{HookCall, HookName};
use crate::mail::Interest;
use crate::shard::Shard;
use crate::shard::publish::route::Target;
use crate::shard::subscribe::Waits;
use crate::words::{Word, share_name};

impl Shard {
    /// Applies an UNSUBSCRIBE or a part of one; what other shards still send meanwhile finds no subscription here.
    pub(in crate::shard) fn apply_unsubscribe(
        &mut self,
        key: SessionKey,
        request: &UnsubscribeRequest<'_>,
    ) -> Option<(Reply, Waits)> {
        let mut removed: Vec<String> = Vec::new();
        let row = self.clients.row(key)?;
        let reply = row.session.unsubscribe(request, |subscription| removed.push(subscription.filter.to_owned()));
        self.connections.filters_taken += reply.reasons().len() as u64;
        let who = self.clients.row(key).and_then(|row| row.standing.who.clone());
        for filter in &removed {
            if let Some(client) = who.clone() {
                self.note_event(&client, &Happened::Unsubscribed { filter });
                self.observe(HookName::Unsubscribed, || HookCall::Unsubscribed { client, filter: (**filter).into() });
            }
        }
        let token = self.withdraw_filters(key, &removed);
        Some((reply, Waits::for_token(token)))
    }

    /// Takes subscriptions back that their session has no more; returns the token with which that is on disk, if it is written down.
    pub(in crate::shard) fn withdraw_filters(&mut self, key: SessionKey, filters: &[String]) -> Option<CommitToken> {
        let is_keeper = self.clients.row(key).is_some_and(|row| row.kept_as.is_keeper);
        for filter in filters {
            self.withdraw_filter(key, filter, is_keeper);
        }
        self.keep_unsubscribed(key, filters)
    }

    /// Takes the subscription to one filter back. `is_keeper`: the other shards know the session as one that is kept.
    pub(in crate::shard) fn withdraw_filter(&mut self, key: SessionKey, filter: &str, is_keeper: bool) {
        self.retained.replays.cancel(key, filter);
        let shared = SharedFilter::parse(filter).ok().flatten();
        let grant = Grant::default();
        let subscription = Subscription { filter, shared, grant, is_new: false, wants_retained: false };
        self.withdraw(key, &subscription, is_keeper);
    }

    /// Takes one subscription back, here and at the other shards.
    fn withdraw(&mut self, key: SessionKey, subscription: &Subscription<'_>, is_keeper: bool) {
        self.uncount(subscription);
        match &subscription.shared {
            Some(shared) => self.leave_group(key, shared),
            None => {
                if self.subscriptions.tree.remove(subscription.filter, Target::Session(key)) != Removal::NotFound {
                    self.subscriptions.announcer.unwant(Interest::Sessions, subscription.filter, &mut self.mail.post);
                    if is_keeper {
                        self.subscriptions.announcer.unwant(Interest::Kept, subscription.filter, &mut self.mail.post);
                    }
                }
            }
        }
    }

    /// A session here has unsubscribed from a group.
    fn leave_group(&mut self, key: SessionKey, shared: &SharedFilter<'_>) {
        let owner = self.owner_of_group(shared);
        let Some(row) = self.clients.row(key) else { return };
        row.membership.left(shared.group, shared.filter);
        let epoch = row.membership.epoch;
        let share = share_name(shared.group, shared.filter);
        self.tell(owner, Word::Unsubscribe { share, member: key, epoch });
    }

    /// A session has one subscription less.
    pub(in crate::shard) fn uncount(&mut self, subscription: &Subscription<'_>) {
        self.counters.subscriptions.sub(1);
        self.clients.holdings.unsubscribed(subscription.filter);
        if subscription.shared.is_some() {
            self.counters.traffic.shared_subscriptions.sub(1);
        }
    }
}
