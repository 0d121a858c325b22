//! Sessions that are kept on disk: where they begin, change and end; and what a turn has for the log.

use std::num::NonZeroU64;

use lapwing_codec::QoS;
use lapwing_ledger::{Changed, Will};
use lapwing_session::{CommitToken, Grant, Inbound, Session, SessionKey};

use crate::log::LogFeed;
use crate::mail::encode_frame;
use crate::shard::Shard;
use crate::shard::connections::session_row::SessionRow;
use crate::shard::durable::keeping::{Beginning, Keeping, Kept, KeptAs, Origin, encode_identity};
use crate::shard::durable::owed_wills::LoggedWill;
use crate::shard::publish::delivery::DeliveryContext;
use crate::shard::retained::table::Retained;

impl Shard {
    /// Sends what the turn has brought to the log: facts, sessions that are over.
    pub(in crate::shard) fn tell_log(&mut self) {
        let (Some(log), Some(keeping)) = (&mut self.durable.log, &mut self.clients.keeping) else { return };
        self.clients.facts.drain(..).for_each(|(kept, fact)| keeping.note(kept, fact));
        keeping.tell(log);
    }

    /// True when `tell_log` would have something to say.
    pub(in crate::shard) fn has_news_for_log(&self) -> bool {
        !self.clients.facts.is_empty() || self.clients.keeping.as_ref().is_some_and(|keeping| keeping.has_news())
    }

    /// A message that was given to all who want it goes to the log, if a session, a group or the retained table keeps it;
    /// true when it does.
    #[inline]
    pub(in crate::shard) fn keep(&mut self, context: &mut DeliveryContext<'_>, retained: Option<Retained>) -> bool {
        match (&mut self.durable.log, &mut self.clients.keeping) {
            (Some(log), Some(keeping)) => keeping.keep(log, context, retained),
            _ => false,
        }
    }

    /// Topics have lost their retained message: the log forgets it too. `qos`: of what made them lose it.
    pub(in crate::shard) fn clear_retained(&mut self, qos: QoS) -> bool {
        if !self.retained.table.has_cleared() {
            return false;
        }
        let cleared = self.retained.table.take_cleared();
        let (Some(log), Some(keeping)) = (&mut self.durable.log, &mut self.clients.keeping) else { return false };
        cleared.iter().for_each(|topic| keeping.clear(log, topic, qos.is_acknowledged()));
        !cleared.is_empty() && qos.is_acknowledged()
    }

    /// Whose a QoS 2 message is, if its publisher's session is kept.
    pub(in crate::shard) fn origin_of(&mut self, key: SessionKey, inbound: &Inbound<'_>) -> Option<Origin> {
        let origin = inbound.origin()?;
        let publisher = self.clients.kept(key)?;
        Some(Origin { publisher, of: origin, is_resent: inbound.is_resent() })
    }

    /// A session has been opened, by a connection whose output was `begun` bytes long before. `former`: how the log knows the
    /// session that goes on, or that made way for this one.
    pub(in crate::shard) fn keep_opened(
        &mut self,
        key: SessionKey,
        begun: usize,
        session_present: bool,
        former: KeptAs,
    ) {
        if self.durable.log.is_none() || self.clients.row(key).is_none() {
            return;
        }
        let may_begin = self.is_kept_where_it_came_in(key);
        let Some(mut keeping) = self.clients.keeping.take() else { return };
        let (Some(log), Some(row)) = (&mut self.durable.log, self.clients.row(key)) else { return };
        let goes_on = former.kept.filter(|_| session_present);
        let is_told_later = row.session.has_facts();
        let is_awaited = match goes_on {
            // One that is to end with its connection needs the log for as long as something of it is only there.
            Some(kept) if row.session.expiry_s() > 0 || row.session.is_paged() || row.session.has_doubts() => {
                go_on(&mut keeping, log, row, kept, former);
                true
            }
            Some(kept) => {
                row.session.forget();
                row.kept_as.set(KeptAs { kept: None, ..former });
                if !(may_begin && begin_will(&mut keeping, log, row, true)) {
                    keeping.ended(kept);
                }
                true
            }
            None => {
                let begins = may_begin && begin(&mut keeping, log, row);
                let was_kept = former.kept.is_some();
                let replaces = begins || (may_begin && begin_will(&mut keeping, log, row, was_kept));
                // The entry that opens a session ends the one before.
                former.logged().filter(|_| !replaces).into_iter().for_each(|kept| keeping.ended(kept));
                begins || was_kept
            }
        };
        let connection = row.connection();
        self.clients.keeping = Some(keeping);
        if is_awaited || is_told_later {
            // This connection may be told again what the one before was told: a PUBREL that is sent again, say, whose PUBREC is
            // a fact of an earlier turn and may not be on disk yet. No new fact fences that: it waits for this turn's token.
            let token = self.clients.commit_tokens.take();
            if let Some(connection) = connection.and_then(|index| self.clients.connection(index)) {
                connection.fence_output(begun, token);
            }
        }
    }

    /// A session with a connection has another will, or none any more; its client hears of it behind the `begun` bytes of its
    /// output.
    pub(in crate::shard) fn keep_another_will(&mut self, key: SessionKey, begun: usize) {
        let may_begin = self.is_kept_where_it_came_in(key);
        let Some(mut keeping) = self.clients.keeping.take() else { return };
        if let (Some(log), Some(row)) = (&mut self.durable.log, self.clients.row(key)) {
            let (connection, is_awaited) = (row.connection(), change_will(&mut keeping, log, row, may_begin));
            let index = connection.filter(|_| is_awaited);
            let token = index.map(|_| self.clients.commit_tokens.take());
            if let Some((connection, token)) = index.and_then(|index| self.clients.connection(index)).zip(token) {
                connection.fence_output(begun, token);
            }
        }
        self.clients.keeping = Some(keeping);
    }

    /// Whether new sessions are kept at the listener that the client of a session has come through.
    fn is_kept_where_it_came_in(&mut self, key: SessionKey) -> bool {
        let index = self.clients.row(key).and_then(|row| row.connection());
        let connection = index.and_then(|index| self.clients.connection(index));
        connection.is_some_and(|connection| self.shared.listeners().get(connection.listener).keeps_sessions)
    }

    /// A kept session has lost its connection.
    pub(in crate::shard) fn keep_away(&mut self, key: SessionKey) {
        self.keep_changed(key, true);
    }

    /// A kept session has no will any more.
    pub(in crate::shard) fn keep_without_will(&mut self, key: SessionKey) {
        if let Some(row) = self.clients.row(key)
            && let Some(kept) = row.kept_as.will_alone
        {
            let kept_as = row.kept_as.edit();
            (kept_as.will_alone, kept_as.will) = (None, None);
            if let Some(keeping) = &mut self.clients.keeping {
                keeping.ended(kept);
            }
            return;
        }
        self.keep_changed(key, false);
    }

    fn keep_changed(&mut self, key: SessionKey, is_away: bool) {
        let Some(mut keeping) = self.clients.keeping.take() else { return };
        if let (Some(log), Some(row)) = (&mut self.durable.log, self.clients.row(key))
            && let Some(kept) = row.kept_as.kept
        {
            let (expiry_s, has_will) = (row.session.expiry_s(), row.session.will().is_some());
            let has_lost_will = row.kept_as.will.is_some() && !has_will;
            let changed = Changed {
                // Not said again later: from then on the session's time is counted.
                presence: keeping.presence(false).filter(|_| is_away),
                expiry_s: (expiry_s != row.kept_as.expiry_s).then_some(expiry_s),
                will: has_lost_will.then_some(None),
                ..Changed::of(kept.id)
            };
            let kept_as = row.kept_as.edit();
            kept_as.expiry_s = expiry_s;
            kept_as.will = kept_as.will.filter(|_| has_will);
            keeping.change(log, kept, changed, false);
        }
        self.clients.keeping = Some(keeping);
    }

    /// A kept session has subscribed; returns the token that its SUBACK waits for.
    pub(in crate::shard) fn keep_subscribed(
        &mut self,
        key: SessionKey,
        granted: &[(Box<str>, Grant)],
    ) -> Option<CommitToken> {
        let kept = self.clients.kept(key).filter(|_| !granted.is_empty())?;
        let (log, keeping) = (self.durable.log.as_mut()?, self.clients.keeping.as_mut()?);
        let owed = &self.retained.replays.owed;
        keeping.subscribe(log, kept, granted, |filter| owed.has(key, filter));
        Some(self.clients.commit_tokens.take())
    }

    /// A kept session has all the retained messages that it was owed for these subscriptions. Nobody waits for that.
    pub(in crate::shard) fn keep_replayed(&mut self, key: SessionKey, granted: &[(Box<str>, Grant)]) {
        if let Some(kept) = self.clients.kept(key).filter(|_| !granted.is_empty())
            && let (Some(log), Some(keeping)) = (&mut self.durable.log, &mut self.clients.keeping)
        {
            keeping.replayed(log, kept, granted);
        }
    }

    /// A kept session has some subscriptions no more; returns the token that its UNSUBACK waits for.
    pub(in crate::shard) fn keep_unsubscribed(&mut self, key: SessionKey, filters: &[String]) -> Option<CommitToken> {
        let kept = self.clients.kept(key).filter(|_| !filters.is_empty())?;
        let (log, keeping) = (self.durable.log.as_mut()?, self.clients.keeping.as_mut()?);
        let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
        keeping.unsubscribe(log, kept, &filters);
        Some(self.clients.commit_tokens.take())
    }

    /// The session of a client is over.
    pub(in crate::shard) fn keep_ended(&mut self, client_id: &str, former: KeptAs) {
        let Some(kept) = former.logged() else { return };
        if !self.ends_with_will(client_id, kept)
            && let Some(keeping) = &mut self.clients.keeping
        {
            keeping.ended(kept);
        }
    }
}

/// A kept session has a connection again. Its client hears nothing before that is written: the log would go on to say that it is
/// away, that its time is counted, and that what it is sent now has never been sent.
fn go_on(keeping: &mut Keeping, log: &mut LogFeed, row: &mut SessionRow, kept: Kept, former: KeptAs) {
    let (expiry_s, mut frame) = (row.session.expiry_s(), Vec::new());
    let will = will_of(&row.session, &mut frame);
    let has_will = will.is_some();
    let is_other = expiry_s != former.expiry_s || has_will || former.will.is_some();
    let mut changed = Changed { presence: keeping.presence(true), ..Changed::of(kept.id) };
    if is_other {
        (changed.expiry_s, changed.will) = (Some(expiry_s), Some(will));
    }
    let entered = keeping.change(log, kept, changed, true);
    row.kept_as.set(KeptAs { kept: Some(kept), expiry_s, will: logged_will(has_will, entered), ..former });
}

/// A new session, which is kept if it is to outlive its connection; true when it is.
fn begin(keeping: &mut Keeping, log: &mut LogFeed, row: &mut SessionRow) -> bool {
    let expiry_s = row.session.expiry_s();
    // One that has gone on without being kept would lack its past.
    let is_new = row.session.subscriptions().len() == 0;
    let Some(identity) = encode_identity(&row.standing.identity).filter(|_| expiry_s > 0 && is_new) else {
        return false;
    };
    let mut frame = Vec::new();
    let will = will_of(&row.session, &mut frame);
    let has_will = will.is_some();
    let client_id = row.session.shared_client_id();
    let kept = keeping.begin(log, Beginning { client_id, identity: &identity, expiry_s, will, awaited: true });
    if let Some(id) = NonZeroU64::new(kept.id.0) {
        row.session.keep(id);
    }
    let (rules_version, will) = (keeping.rules_version, logged_will(has_will, kept.id.0));
    row.kept_as.set(KeptAs { kept: Some(kept), expiry_s, will, is_keeper: true, rules_version, ..KeptAs::default() });
    true
}

/// A session that ends with its connection and has a will: should the node go first, the will goes out when it starts again, as that
/// of a session whose time is over. True when there is one. `awaited`: a kept session makes way for it.
fn begin_will(keeping: &mut Keeping, log: &mut LogFeed, row: &mut SessionRow, awaited: bool) -> bool {
    let mut frame = Vec::new();
    let will = will_of(&row.session, &mut frame);
    let Some(identity) = encode_identity(&row.standing.identity) else { return false };
    if will.is_none() || row.session.expiry_s() > 0 {
        return false;
    }
    let client_id = row.session.shared_client_id();
    let kept = keeping.begin(log, Beginning { client_id, identity: &identity, expiry_s: 0, will, awaited });
    let kept_as = row.kept_as.edit();
    (kept_as.will_alone, kept_as.will) = (Some(kept), logged_will(true, kept.id.0));
    true
}

/// The log has the will that the session has now, as it has the one of a CONNECT; true when there is something to write.
/// `may_begin`: also where it has nothing of the session yet.
fn change_will(keeping: &mut Keeping, log: &mut LogFeed, row: &mut SessionRow, may_begin: bool) -> bool {
    let Some(kept) = row.kept_as.logged() else { return may_begin && begin_will(keeping, log, row, true) };
    let mut frame = Vec::new();
    let will = will_of(&row.session, &mut frame);
    let has_will = will.is_some();
    if !has_will && row.kept_as.will.is_none() {
        return false;
    }
    let entered = keeping.change(log, kept, Changed { will: Some(will), ..Changed::of(kept.id) }, true);
    row.kept_as.edit().will = logged_will(has_will, entered);
    true
}

/// The will of a session, if it has one, that entry `entered` has brought.
fn logged_will(has_will: bool, entered: u64) -> Option<LoggedWill> {
    NonZeroU64::new(entered).filter(|_| has_will).map(|entry| LoggedWill { entry, is_restored: false })
}

fn will_of<'f>(session: &Session, frame: &'f mut Vec<u8>) -> Option<Will<'f>> {
    let will = session.will()?;
    encode_frame(&will.publish, frame);
    Some(Will { frame, delay_s: will.delay_s, message_expiry_s: will.message_expiry_s })
}
