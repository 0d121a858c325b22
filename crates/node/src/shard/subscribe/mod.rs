//! SUBSCRIBE: into the tree, to the other shards, and back to the client when all of them know.

pub(super) mod answers;
pub(super) mod endings;
pub(super) mod holdings;
pub(super) mod interest;
pub(super) mod parts;
pub(super) mod unsubscribe;

use lapwing_codec::ReasonCode;
use lapwing_codec::topic::SharedFilter;
use lapwing_session::{CommitToken, Grant, Reply, SessionKey, SubscribeRequest, Subscription};

use self::answers::{Answer, Answers};
use self::endings::Endings;
use self::interest::Announcer;
use super::Shard;
use super::publish::route::{Target, Tree};
use super::retained::replay::Before;
use crate::audit::Refusal;
use crate::events::Happened;
use crate::hooks::{HookCall, HookName};
use crate::mail::Interest;
use crate::metrics::Refused;
use crate::shard::mail::MailRoom;
use crate::slot::{ShardId, Slot};
use crate::words::{Join, JoinRequest, Word};

/// Who waits for an announcement to be in force everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiter {
    /// A SUBACK of this shard, by its place in the table.
    Reply(usize),
    /// A member on another shard that joined a group here, by the request it sent.
    Join(ShardId, JoinRequest),
}

/// A group to be joined.
struct Joining {
    /// The place of its filter in the part that was applied.
    at: usize,
    owner: ShardId,
    group: Box<str>,
    filter: Box<str>,
    grant: Grant,
}

/// What one SUBSCRIBE left to wait for.
#[derive(Default)]
pub(super) struct Waits {
    /// The last announcement.
    announcement: Option<u64>,
    /// Groups, here or on other shards.
    joins: Vec<Joining>,
    replays: Vec<(Box<str>, Before)>,
    /// Filters under which messages may wait in holds, where there are any.
    wanted: Vec<Box<str>>,
    added: u64,
    refused: u64,
    /// Of these, in groups.
    added_shared: u64,
    /// It is on disk when this is committed.
    token: Option<CommitToken>,
    /// Filters of groups that whoever watches subscriptions has not been told of, each with its place in the part that
    /// was applied.
    untold: Vec<(usize, Box<str>)>,
}

/// Who is subscribed to what, and who waits until every shard knows.
pub(super) struct SubscribeRoom {
    pub(super) tree: Tree,
    /// Subscriptions of sessions that are over, still in the tree.
    pub(super) endings: Endings,
    pub(super) announcer: Announcer<Waiter>,
    pub(super) answers: Answers,
}

impl SubscribeRoom {
    /// `tree`: with what is subscribed from the start.
    pub(super) fn new(own: ShardId, shards: u32, tree: Tree) -> Self {
        SubscribeRoom {
            tree,
            endings: Endings::default(),
            announcer: Announcer::new(own, shards),
            answers: Answers::default(),
        }
    }
}

impl Shard {
    /// Applies a SUBSCRIBE or a part of one; what came of it is to be answered. `refused`: by filter, why a hook does not
    /// want it; empty when no hook was asked. `None` when the session is gone.
    pub(super) fn apply_subscribe(
        &mut self,
        key: SessionKey,
        request: &SubscribeRequest<'_>,
        refused: &[Option<ReasonCode>],
    ) -> Option<(Reply, Waits)> {
        let mut waits = Waits::default();
        let mut granted: Vec<(Box<str>, Grant)> = Vec::new();
        let permissions = self.lend_permissions(key);
        let has_holds = self.holds.any();
        let mut verdicts = request.filters().zip(refused);
        let mut places = request.filters().enumerate();
        let Shard {
            clients,
            subscriptions: SubscribeRoom { tree, announcer, .. },
            mail: MailRoom { post, .. },
            shared,
            retained,
            now_ms,
            ..
        } = self;
        let (placement, now_ms) = (&shared.placement, *now_ms);
        clients.row(key)?;
        let mut holdings = std::mem::take(&mut clients.holdings);
        let row = clients.row(key)?;
        let (kept_as, groups) = (*row.kept_as, row.membership.groups());
        let lost = row.session.losses().messages;
        let groups_max = match shared.config.limits.groups_per_session_max {
            0 => u64::MAX,
            most => u64::from(most),
        };
        let reply = row.session.subscribe(request, |subscription| {
            // A filter that the session refuses itself does not come this way, so its verdict is left out too.
            let verdict = verdicts.find(|(filter, _)| *filter == subscription.filter);
            // Found from where the last one stood: the same filter may be there twice.
            let place = places.find(|(_, filter)| *filter == subscription.filter);
            if permissions.as_ref().is_some_and(|permissions| !permissions.may_subscribe(subscription.filter)) {
                waits.refused += 1;
                return Err(ReasonCode::NotAuthorized);
            }
            if let Some((_, Some(reason))) = verdict {
                return Err(*reason);
            }
            if subscription.is_new && subscription.shared.is_some() && groups + waits.added_shared >= groups_max {
                return Err(ReasonCode::QuotaExceeded);
            }
            if subscription.is_new {
                waits.added += 1;
                holdings.subscribed(subscription.filter);
            }
            if kept_as.kept.is_some() {
                granted.push((subscription.filter.into(), subscription.grant));
            }
            if has_holds {
                let filter = subscription.shared.as_ref().map_or(subscription.filter, |shared| shared.filter);
                waits.wanted.push(filter.into());
            }
            if let Some(shared) = &subscription.shared {
                waits.added_shared += u64::from(subscription.is_new);
                let owner = placement.owner_of(Slot::of_group(shared.group, shared.filter)).shard;
                let at = place.map_or(0, |(at, _)| at);
                let (group, filter, grant) = (shared.group.into(), shared.filter.into(), subscription.grant);
                waits.joins.push(Joining { at, owner, group, filter, grant });
                return Ok(());
            }
            tree.insert(subscription.filter, Target::Session(key), subscription.grant);
            waits.note(announcer.want(Interest::Sessions, subscription.filter, subscription.is_new, post));
            if kept_as.is_keeper {
                waits.note(announcer.want(Interest::Kept, subscription.filter, subscription.is_new, post));
            }
            if subscription.wants_retained {
                let owed = kept_as.kept.and_then(|_| retained.owe(key, subscription.filter, post.shards(), now_ms));
                let before = Before { delivered: retained.sequences.delivered.watch(), lost, owed };
                waits.replays.push((subscription.filter.into(), before));
            }
            Ok(())
        });
        self.clients.holdings = holdings;
        self.return_permissions(key, permissions);
        self.counters.access.refused(Refused::Subscribe, waits.refused);
        for (filter, reason) in request.filters().zip(reply.reasons()) {
            if *reason == ReasonCode::NotAuthorized {
                self.audit_forbidden(key, Refusal::Subscribe, filter);
            }
        }
        self.connections.filters_taken += reply.reasons().len() as u64;
        let refused = reply.reasons().iter().filter(|reason| **reason == ReasonCode::QuotaExceeded).count();
        self.counters.limits.refused_subscriptions.add(refused as u64);
        self.counters.subscriptions.add(waits.added);
        self.counters.traffic.shared_subscriptions.add(waits.added_shared);
        waits.untold = self.observe_subscribed(key, request, &reply);
        waits.token = self.keep_subscribed(key, &granted);
        Some((reply, waits))
    }

    /// Tells whoever watches subscriptions of those that were granted; returns those that their groups may still refuse.
    fn observe_subscribed(
        &mut self,
        key: SessionKey,
        request: &SubscribeRequest<'_>,
        reply: &Reply,
    ) -> Vec<(usize, Box<str>)> {
        let mut untold = Vec::new();
        let Some(who) = self.clients.row(key).and_then(|row| row.standing.who.clone()) else { return untold };
        let granted = request.filters().zip(reply.reasons()).enumerate().filter(|(_, (_, reason))| !reason.is_error());
        for (at, (filter, reason)) in granted {
            if filter.starts_with("$share/") {
                untold.push((at, filter.into()));
                continue;
            }
            let (client, filter, qos) = (who.clone(), Box::<str>::from(filter), *reason as u8);
            self.note_event(&client, &Happened::Subscribed { filter: &filter, qos });
            self.observe(HookName::Subscribed, || HookCall::Subscribed { client, filter, qos });
        }
        untold
    }

    /// The same for filters of groups, when these have answered: those that the session has now.
    fn observe_joined(&mut self, key: SessionKey, reply: &Reply, untold: Vec<(usize, Box<str>)>) {
        for (at, filter) in untold {
            let Some(reason) = reply.reasons().get(at).copied().filter(|reason| !reason.is_error()) else { continue };
            let Some(row) = self.clients.row(key).filter(|row| row.session.grant(&filter).is_some()) else {
                continue;
            };
            let Some(client) = row.standing.who.clone() else { continue };
            let qos = reason as u8;
            self.note_event(&client, &Happened::Subscribed { filter: &filter, qos });
            self.observe(HookName::Subscribed, || HookCall::Subscribed { client, filter, qos });
        }
    }

    /// The SUBACK (or UNSUBACK) leaves now, or when every shard has applied what it answers. `more` parts: it waits for
    /// those too. `place`: it is that answer's next part. Returns the answer's place.
    pub(super) fn wait_or_reply(
        &mut self,
        key: SessionKey,
        (reply, waits): (Reply, Waits),
        place: Option<usize>,
        more: bool,
    ) -> usize {
        let outstanding = waits.joins.len() + usize::from(waits.announcement.is_some()) + usize::from(more);
        let begins_at = place.map_or(0, |place| self.subscriptions.answers.len_of(place));
        let untold = waits.untold.into_iter().map(|(at, filter)| (begins_at + at, filter)).collect();
        let Waits { replays, wanted, token, .. } = waits;
        let answer = Answer { to: key, reply, replays, wanted, token, untold };
        let place = match place {
            Some(place) => {
                self.subscriptions.answers.extend(place, answer, outstanding);
                place
            }
            None => self.subscriptions.answers.add(answer, outstanding),
        };
        if let Some(seq) = waits.announcement {
            self.subscriptions.announcer.wait(seq, Waiter::Reply(place));
        }
        for Joining { at, owner, group, filter, grant } in waits.joins {
            let request = JoinRequest { place, at: begins_at + at };
            let Some(row) = self.clients.row(key) else { break };
            row.membership.joined(&group, &filter, owner, request);
            let (client_id, epoch) = (row.session.shared_client_id().clone(), row.membership.epoch);
            let (profile, is_kept) = (row.membership.profile(&client_id), row.kept_as.kept.is_some());
            let identity = row.standing.identity.clone();
            let join =
                Join { request, group, filter, member: key, client_id, epoch, grant, profile, is_kept, identity };
            self.tell(owner, Word::Join(Box::new(join)));
            self.introduce(key, owner);
        }
        self.send_answers(key);
        place
    }

    /// One of the things that a SUBACK waited for has come.
    pub(super) fn confirmed(&mut self, place: usize) {
        if let Some(to) = self.subscriptions.answers.confirm(place) {
            self.send_answers(to);
        }
    }

    /// A group has no room for a session here, which has been granted its filter meanwhile.
    pub(super) fn refused_join(&mut self, request: JoinRequest, filter: &str) {
        let Some(to) = self.subscriptions.answers.refuse(request.place, request.at, ReasonCode::QuotaExceeded) else {
            return;
        };
        self.counters.limits.refused_subscriptions.add(1);
        let shared = SharedFilter::parse(filter).ok().flatten();
        let mut revoked = false;
        if let Some(row) = self.clients.row(to)
            && let Some(shared) = &shared
            && row.membership.was_refused(shared.group, shared.filter, request)
        {
            row.session.revoke(|kept| kept != filter, |_| revoked = true);
        }
        if revoked {
            self.keep_unsubscribed(to, &[filter.to_owned()]);
            let grant = Grant::default();
            self.uncount(&Subscription { filter, shared, grant, is_new: false, wants_retained: false });
        }
        self.confirmed(request.place);
    }

    /// Sends a session the answers that wait for nothing any more.
    fn send_answers(&mut self, to: SessionKey) {
        while let Some(answer) = self.subscriptions.answers.next(to) {
            self.answer(answer);
        }
    }

    fn answer(&mut self, answer: Answer) {
        let Answer { to, reply, replays, wanted, token, untold } = answer;
        self.observe_joined(to, &reply, untold);
        match self.clients.with_fence(to, token, |session, io| session.reply(reply, io)) {
            Some(Ok(())) => {}
            Some(Err(close)) => {
                if let Some(index) = self.clients.row(to).and_then(|row| row.connection()) {
                    self.close(index, &close);
                }
                return self.start_replays(to, replays);
            }
            None => return,
        }
        wanted.iter().for_each(|filter| self.tell_holds(filter));
        self.start_replays(to, replays);
    }

    /// What is retained goes to a session whose subscriptions are in force, its client being there or not.
    fn start_replays(&mut self, to: SessionKey, replays: Vec<(Box<str>, Before)>) {
        for (filter, before) in replays {
            // It may have been cancelled before it was in force.
            if self.clients.row(to).is_some_and(|row| row.session.grant(&filter).is_some()) {
                self.start_replay(&filter, before, to);
            }
        }
    }
}

impl Waits {
    /// Of an UNSUBSCRIBE: for this token alone, if there is one.
    pub(super) fn for_token(token: Option<CommitToken>) -> Self {
        Waits { token, ..Waits::default() }
    }

    fn note(&mut self, announcement: Option<u64>) {
        self.announcement = self.announcement.max(announcement);
    }
}
