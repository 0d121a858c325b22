//! A shard begins: what the log has comes back, every other shard hears of it, and only then clients may come.

use std::sync::Arc;

use lapwing_codec::topic::SharedFilter;
use lapwing_session::{Fact, Grant, SessionKey, Settings};

use crate::error::NodeError;
use crate::holder::Holder;
use crate::identity_shares::HeldPlace;
use crate::mail::{Interest, Source};
use crate::shard::connections::session_row::Away;
use crate::shard::durable::keeping::restore::{RestoreSink, RestoredGroup, RestoredMessage, RestoredSession};
use crate::shard::durable::keeping::{Keeping, KeptAs};
use crate::shard::durable::owed_wills::LoggedWill;
use crate::shard::durable::windows::Windows;
use crate::shard::groups::Membership;
use crate::shard::publish::route::Target;
use crate::shard::rights::standing::Standing;
use crate::shard::{ClientSettings, Shard};
use crate::timers::NEVER;
use crate::words::{Join, JoinRequest, Word};

impl Shard {
    /// Brings back what this shard's data groups have.
    ///
    /// # Errors
    /// `Store`, `Entry`: the log cannot be read; the node must not start.
    pub(in crate::shard) fn restore(&mut self) -> Result<(), NodeError> {
        let Some(recovered) = self.durable.recovered.clone() else { return Ok(()) };
        let mut keeping = Keeping::new(recovered.next_index);
        keeping.set_clock(self.now_ms);
        self.clients.keeping = Some(Box::new(keeping));
        let shards = u64::from(self.mail.post.shards());
        self.clients.windows = Some(Windows::new(self.shared.config.limits.queue_memory_bytes / shards));
        let settings = self
            .connections
            .settings
            .first()
            .map_or_else(Arc::<Settings>::default, |first: &ClientSettings| first.settings.clone());
        for data_group in self.shared.placement.data_groups_of(self.id) {
            recovered.restore(data_group, &settings, self.now_ms, self)?;
        }
        self.keep_groups();
        self.settle_silent();
        self.count_sessions();
        self.count_retained();
        Ok(())
    }

    /// Starts to listen once every shard has brought back its own and all know of it.
    ///
    /// # Errors
    /// The kernel refuses to watch a listener.
    pub(in crate::shard) fn begin_to_listen(&mut self) -> Result<(), NodeError> {
        if !self.durable.is_restored && self.subscriptions.announcer.is_settled() {
            self.durable.is_restored = true;
            self.shared.restored();
        }
        if !self.connections.is_listening && self.shared.is_restored() {
            self.connections.is_listening = true;
            self.begin_owed_replays();
            self.wanted_from_holds("#");
            self.connections.doors.open(self.event_loop.registry())?;
        }
        Ok(())
    }

    /// True when `begin_to_listen` would get something done.
    pub(in crate::shard) fn may_begin_to_listen(&self) -> bool {
        (!self.durable.is_restored && self.subscriptions.announcer.is_settled())
            || (!self.connections.is_listening && self.shared.is_restored())
    }

    fn restore_subscription(&mut self, key: SessionKey, filter: &str, grant: Grant) {
        self.counters.subscriptions.add(1);
        self.clients.holdings.subscribed(filter);
        match SharedFilter::parse(filter).ok().flatten() {
            Some(shared) => {
                self.counters.traffic.shared_subscriptions.add(1);
                self.rejoin(key, &shared, grant);
            }
            None => {
                self.subscriptions.tree.insert(filter, Target::Session(key), grant);
                self.subscriptions.announcer.want(Interest::Sessions, filter, true, &mut self.mail.post);
                self.subscriptions.announcer.want(Interest::Kept, filter, true, &mut self.mail.post);
            }
        }
    }

    /// The session is a member of its group as before: one that is not there now.
    fn rejoin(&mut self, key: SessionKey, shared: &SharedFilter<'_>, grant: Grant) {
        let owner = self.owner_of_group(shared);
        let Some(row) = self.clients.row(key) else { return };
        let request = JoinRequest::NOBODY_WAITS;
        row.membership.joined(shared.group, shared.filter, owner, request);
        let (client_id, epoch) = (row.session.shared_client_id().clone(), row.membership.epoch);
        let profile = row.membership.profile(&client_id);
        let (group, filter) = (shared.group.into(), shared.filter.into());
        let is_kept = true;
        let identity = row.standing.identity.clone();
        let join = Join { request, group, filter, member: key, client_id, epoch, grant, profile, is_kept, identity };
        self.tell(owner, Word::Join(Box::new(join)));
    }
}

impl RestoreSink for Shard {
    fn next_key(&mut self) -> SessionKey {
        self.clients.next_key()
    }

    fn session(&mut self, restored: RestoredSession) {
        let RestoredSession { session, kept, will, mut standing, away_since_ms, doubts, owed } = restored;
        let is_watched = self.verdicts.hooks.is_some() || self.operators.happenings.is_on();
        if is_watched && session.will().is_some() {
            // Hooks judge its will as that of any other.
            let who = Standing::from_before(session.shared_client_id(), &standing.identity);
            standing.who = Some(Arc::new(who));
        }
        let (key, expiry_s) = (session.key(), session.expiry_s());
        let will = will.filter(|_| session.will().is_some()).map(|entry| LoggedWill { entry, is_restored: true });
        let subscriptions: Vec<(Box<str>, Grant)> =
            session.subscriptions().map(|(filter, grant)| (filter.into(), grant)).collect();
        let holder = Holder::of(&standing.identity);
        self.shared.shares.sessions.take_anyway(holder);
        // From where who has no name came is not known any more: such sessions are nobody's.
        let place = Some(HeldPlace::take_anyway(&self.shared.shares.away, holder));
        self.clients.insert_session(session, None, NEVER, standing, Membership::default());
        let now_ms = self.now_ms;
        if let Some(row) = self.clients.row(key) {
            row.kept_as.set(KeptAs { kept: Some(kept), expiry_s, will, is_keeper: true, ..KeptAs::default() });
            row.away = Some(Box::new(Away { since_ms: away_since_ms.unwrap_or(now_ms), place }));
        }
        if away_since_ms.is_none() {
            // Its time is counted from this start on, over the next ones too. What is older may have been sent, what comes was not.
            self.keep_away(key);
        }
        // Written once, in front of everything that this life says of the session.
        let doubted = doubts.into_iter().map(|(packet_id, use_number)| Fact::Doubted { packet_id, use_number });
        self.clients.facts.extend(doubted.map(|fact| (kept, fact)));
        for (filter, grant) in &subscriptions {
            self.restore_subscription(key, filter, *grant);
        }
        for filter in &owed {
            self.retained.replays.owed.owe(key, filter);
        }
        // Each was offline or lost its connection with the node; none is refused for want of room now.
        self.shared.session_went_offline(true);
        self.counters.sessions_offline.add(1);
        self.tell_lost(key);
        self.clients.note_waiting(key);
        self.set_timer(key);
    }

    fn group(&mut self, restored: RestoredGroup) {
        self.restore_group(restored);
    }

    fn retained(&mut self, restored: &RestoredMessage) {
        let RestoredMessage { message, publisher, holder } = restored;
        self.retained
            .table
            .restore(message, Source { publisher: *publisher, origin: self.id, seq: 0, holder: *holder });
        self.watch_retained();
    }
}
