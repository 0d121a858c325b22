//! What a client may do: made when its session opens, asked for each PUBLISH and each filter, made again after a reload.
//!
//! Without rules there is no licence, and nothing is asked but whether a topic is the broker's own.

use lapwing_access::{Identity, Right, Rights, is_bridge_state, is_reserved};
use lapwing_codec::{Connect, QoS, ReasonCode};
use lapwing_session::{Accepted, Inbound, SessionKey};
use lapwing_transport::PeerAddress;

use super::Shard;
use super::given_id::is_given;
use super::keeping::IDENTITY_BYTES_MAX;
use super::serve::{Client, Flow};
use crate::audit::Refusal;
use crate::holder::Holder;
use crate::identity_shares::{Beyond, HeldPlace};
use crate::metrics::{DropReason, Refused};
use crate::passwords::Source;
use crate::sn::nobody;

/// Topics longer than this are compared with the rules each time.
const REMEMBERED_BYTES_MAX: usize = 256;

/// What one open connection may do.
#[derive(Debug)]
pub(crate) struct Licence {
    rights: Rights,
    /// The topic that was permitted last: devices publish to the same one again and again.
    permitted: String,
}

impl Licence {
    fn new(rights: Rights) -> Self {
        Licence { rights, permitted: String::new() }
    }

    fn may_publish(&mut self, topic: &str) -> bool {
        if self.permitted == topic {
            return true;
        }
        let may = self.rights.may_publish(topic);
        if may && topic.len() <= REMEMBERED_BYTES_MAX {
            self.permitted.clear();
            self.permitted.push_str(topic);
        }
        may
    }

    /// Whether `filter`, as the client wrote it, may be subscribed to.
    pub(super) fn may_subscribe(&self, filter: &str) -> bool {
        self.rights.may_subscribe(filter)
    }
}

/// Whether a client with this licence, if it needs one, may publish to `topic`. `bridges`: `limits.mqtt_bridges`.
pub(super) fn permits(licence: Option<&mut Box<Licence>>, topic: &str, bridges: bool) -> bool {
    let is_free = !is_reserved(topic)
        || bridges && is_bridge_state(topic) && licence.as_ref().is_none_or(|licence| licence.rights.is_bridge());
    is_free && licence.is_none_or(|licence| licence.may_publish(topic))
}

impl Shard {
    /// Whether a CONNECT of `identity` may have the session of `client_id`, and leave its will; the licence if so, and the
    /// session is counted for its identity.
    ///
    /// A session belongs to the identity that began it: who else comes with its client id could read what is queued for
    /// it, or throw it out. Only what nobody in particular began may be taken by somebody with a name; it is then ended,
    /// see [`Shard::take_existing`].
    pub(super) fn permit_connect(
        &mut self,
        index: usize,
        connect: &Connect<'_>,
        identity: &Identity,
        client_id: &str,
    ) -> Result<Option<Box<Licence>>, ReasonCode> {
        if !self.shared.authority.still_knows(identity) {
            // Removed by a reload since it was let in.
            return Err(ReasonCode::NotAuthorized);
        }
        if identity.name().is_some_and(|name| name.len() > IDENTITY_BYTES_MAX) {
            // Its session could not be kept, and nobody would see it: neither users nor rules know such names.
            self.counters.access.refused(Refused::Identity, 1);
            return Err(ReasonCode::NotAuthorized);
        }
        let bound_to = identity.grant().and_then(|grant| grant.client_id.as_deref());
        if bound_to.is_some_and(|own| own != client_id)
            || !self.shared.authority.may_connect(identity, client_id, is_given(client_id))
            || self.has_nobodys_id(index, client_id)
        {
            self.counters.access.refused(Refused::ClientId, 1);
            return Err(ReasonCode::ClientIdentifierNotValid);
        }
        let owner =
            self.clients.find(client_id).and_then(|key| self.clients.entry(key)).map(|entry| &entry.standing.identity);
        if owner.is_some_and(|owner| owner != identity && !owner.is_anonymous()) {
            self.counters.access.refused(Refused::ClientId, 1);
            return Err(ReasonCode::ClientIdentifierNotValid);
        }
        let is_its_own = owner.is_some_and(|owner| owner == identity);
        let bridges = self.shared.config.limits.mqtt_bridges;
        if connect.is_bridge && !(bridges && self.shared.authority.may(identity, Right::Bridge, "")) {
            // The answer to a level that is not known: the other broker comes again as a client like all.
            self.counters.access.refused(Refused::Bridge, 1);
            return Err(ReasonCode::UnsupportedProtocolVersion);
        }
        let rights = self.shared.authority.rights(identity, client_id);
        let mut licence = rights.map(|rights| Box::new(Licence::new(rights)));
        self.permit_will(connect, licence.as_mut())?;
        // Last: what is taken here is the session's.
        self.take_connection_place(index, identity, client_id)?;
        if !self.take_session_share(identity, is_its_own) {
            if let Some(connection) = self.clients.connection(index) {
                connection.place = None;
            }
            return Err(ReasonCode::QuotaExceeded);
        }
        if let Some(licence) = &licence {
            self.counters.access.void_patterns.add(u64::from(licence.rights.void_patterns()));
        }
        Ok(licence)
    }

    /// Whether a client comes with the id under which a listener of MQTT-SN publishes what has no connection: who had it could
    /// keep all of that out, by taking its session over again and again, or for good with a name.
    fn has_nobodys_id(&mut self, index: usize, client_id: &str) -> bool {
        let Some(own) = nobody::listener_of(client_id) else { return false };
        let mut listeners = self.shared.listeners().iter();
        let is_there = listeners.nth(usize::from(own.0)).is_some_and(|listener| listener.is_inside);
        let connection = self.clients.connection(index);
        let is_it = connection.is_some_and(|c| c.listener == own && matches!(c.socket.peer(), PeerAddress::Local));
        is_there && !is_it
    }

    /// Whether a client with this licence, if it needs one, may leave the will of its CONNECT.
    pub(super) fn permit_will(
        &self,
        connect: &Connect<'_>,
        licence: Option<&mut Box<Licence>>,
    ) -> Result<(), ReasonCode> {
        let Some(will) = &connect.will else { return Ok(()) };
        if permits(licence, will.topic, self.shared.config.limits.mqtt_bridges) {
            return Ok(());
        }
        self.counters.access.refused(Refused::Will, 1);
        Err(ReasonCode::NotAuthorized)
    }

    /// Counts a connection to its holder, which may have so many. One that takes over another has its place in any case: that
    /// one goes.
    fn take_connection_place(&mut self, index: usize, identity: &Identity, client_id: &str) -> Result<(), ReasonCode> {
        let takes_over = self
            .clients
            .find(client_id)
            .and_then(|key| self.clients.entry(key))
            .is_some_and(|e| e.connection.is_some());
        let Some(connection) = self.clients.connection(index) else { return Ok(()) };
        let source = Source::of(connection.socket.peer());
        let (share, holder) = (&self.shared.shares.connections, Holder::from(identity.name(), source));
        // It may come a second time, when what it had to wait for is done.
        connection.place = None;
        let place = if takes_over {
            Ok(HeldPlace::take_anyway(share, holder))
        } else {
            HeldPlace::take(share, holder, self.shared.connections_free())
        };
        match place {
            Ok(place) => {
                connection.place = Some(place);
                Ok(())
            }
            Err(beyond) => {
                self.refused_connection(identity.name(), source, beyond);
                Err(ReasonCode::QuotaExceeded)
            }
        }
    }

    fn refused_connection(&self, name: Option<&str>, source: Source, beyond: Beyond) {
        self.counters.limits.refused_share_connections.add(1);
        if let (Beyond::Free(held), true) = (beyond, self.shared.shares.connections.may_tell(self.now_ms)) {
            let (most, times) = (self.shared.connections_max(), self.shared.config.limits.held_times_free_max);
            self.shared.notify(format!(
                "{} has {held} of all connections ({most}), more than {times} times what is free (limits.held_times_free_max): \
                 one more was refused; raise limits.connections_max if all of them are to be its",
                name.map_or_else(|| source.to_string(), str::to_owned)
            ));
        }
    }

    /// Takes one session more of the share of its identity; false where it has all of it. One in the place of its own has room
    /// in any case: that one gives back what it had as it is taken out of the table.
    fn take_session_share(&self, identity: &Identity, is_its_own: bool) -> bool {
        let (share, holder) = (&self.shared.shares.sessions, Holder::of(identity));
        if is_its_own {
            share.take_anyway(holder);
            return true;
        }
        if share.take(holder, u64::MAX).is_ok() {
            return true;
        }
        self.counters.limits.refused_share_sessions.add(1);
        if share.may_tell(self.now_ms) {
            let who = identity.name().unwrap_or("anonymous");
            let most = self.shared.config.limits.sessions_per_identity_max;
            self.shared
                .notify(format!("{who} has {most} sessions (limits.sessions_per_identity_max): one more was refused"));
        }
        false
    }

    /// Whether the client of a connection may publish to `topic`, its alias resolved.
    #[inline]
    pub(super) fn may_publish(&mut self, index: usize, client: &Client, topic: &str) -> bool {
        if !client.has_licence {
            return permits(None, topic, self.shared.config.limits.mqtt_bridges);
        }
        let licence = self.clients.connection(index).and_then(|connection| connection.licence.as_mut());
        licence.is_some_and(|licence| permits(Some(licence), topic, self.shared.config.limits.mqtt_bridges))
    }

    /// Drops a message that its publisher may not send; acknowledges it with the reason, which 3.1.1 does not have.
    #[cold]
    pub(super) fn forbid_publish(&mut self, index: usize, client: &Client, inbound: &Inbound<'_>) -> Flow {
        let qos = inbound.publish().qos;
        self.counters.publishes_in[qos as usize].add(1);
        self.counters.access.refused(Refused::Publish, 1);
        self.counters.dropped(DropReason::NotAuthorized, 1);
        self.audit_forbidden(client.session, Refusal::Publish, inbound.publish().topic);
        let charged = self.charge_message(index);
        if qos != QoS::AtMostOnce {
            let refused = Accepted::Refused(ReasonCode::NotAuthorized);
            self.clients.with(client.session, |session, io| session.accept(inbound.receipt, refused, io));
        }
        if charged == Flow::Held { charged } else { self.check_output(index) }
    }

    /// Takes a session's licence for a while in which its connection cannot be asked.
    pub(super) fn lend_licence(&mut self, key: SessionKey) -> Option<Box<Licence>> {
        let index = self.clients.entry(key)?.connection?;
        self.clients.connection(index)?.licence.take()
    }

    /// Gives it back.
    pub(super) fn return_licence(&mut self, key: SessionKey, licence: Option<Box<Licence>>) {
        let index = self.clients.entry(key).and_then(|entry| entry.connection);
        if let Some(connection) = index.and_then(|index| self.clients.connection(index)) {
            connection.licence = licence;
        }
    }

    /// Makes every licence again if users or rules were changed, while the node ran or while it did not; called in each turn,
    /// before anything else that a session could take part in.
    pub(super) fn renew_licences(&mut self) {
        let version = Some(self.shared.authority.version());
        if self.licences_version != version {
            self.licences_version = version;
            for key in self.clients.session_keys() {
                let Some(entry) = self.clients.entry(key) else { continue };
                let identity = entry.standing.identity.clone();
                self.renew(key, &identity);
            }
        }
        if self.owes_expulsions() {
            self.expelled_version = version;
            self.expel_unwelcome();
        }
    }

    /// Whether sessions may be there whose users are not welcome any more. At the start they go when clients may come: their
    /// wills must reach sessions of every shard, and before, their subscriptions are not known here.
    pub(super) fn owes_expulsions(&self) -> bool {
        self.is_listening && self.expelled_version != Some(self.shared.authority.version())
    }

    fn expel_unwelcome(&mut self) {
        for key in self.clients.session_keys() {
            let Some(entry) = self.clients.entry(key) else { continue };
            let (identity, authority) = (&entry.standing.identity, &self.shared.authority);
            if !authority.still_knows(identity) {
                self.expel(key, ReasonCode::NotAuthorized, "the user was removed");
            } else if !authority.may_connect(identity, &entry.client_id, is_given(&entry.client_id)) {
                self.counters.access.revoked.add(1);
                self.expel(key, ReasonCode::NotAuthorized, "its client id is not permitted any more");
            }
        }
    }

    /// A session that goes on, under what its client may now: the rules that come with a client may be others each time.
    pub(super) fn renew_continued(&mut self, key: SessionKey, former: &Identity) {
        let Some(entry) = self.clients.entry(key) else { return };
        let identity = entry.standing.identity.clone();
        if former.own_rules().are_there() || identity.own_rules().are_there() {
            self.renew(key, &identity);
        }
    }

    /// One session under the new rules: what it may not have any more is taken back, also while it has no connection.
    fn renew(&mut self, key: SessionKey, identity: &Identity) {
        let may_be_told = self.may_be_told(identity);
        let Some(entry) = self.clients.entry(key) else { return };
        let rights = self.shared.authority.rights(identity, &entry.client_id);
        let mut removed = Vec::new();
        let mut revoked = u64::from(!may_be_told && entry.session.revoke_envelope());
        if let Some(rights) = &rights {
            let keep = |filter: &str| rights.may_subscribe(filter);
            entry.session.revoke(keep, |subscription| removed.push(subscription.filter.to_owned()));
            let bridges = self.shared.config.limits.mqtt_bridges;
            let mut licence = Box::new(Licence::new(rights.clone()));
            revoked += u64::from(entry.session.revoke_will(|topic| permits(Some(&mut licence), topic, bridges)));
        }
        let connection = entry.connection;
        if let Some(connection) = connection.and_then(|index| self.clients.connection(index)) {
            connection.licence = rights.map(|rights| Box::new(Licence::new(rights)));
        }
        self.counters.access.revoked.add(revoked + removed.len() as u64);
        self.withdraw_filters(key, &removed);
    }

    /// Ends a session, and its connection for the `reason` given; its will is published.
    pub(super) fn expel(&mut self, key: SessionKey, reason: ReasonCode, what: &'static str) {
        let connection = self.clients.entry(key).and_then(|entry| entry.connection);
        if let Some(index) = connection {
            self.dismiss(index, reason, what);
        }
        // It may have ended with its connection.
        if self.clients.entry(key).is_some() {
            self.left_offline();
            self.remove_session(key);
            self.count_sessions();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_access::{RuleConfig, Rules, Voucher};

    fn licence(topics: &str) -> Licence {
        let rule = format!(r#"{{"identity": "*", "may": ["publish", "subscribe"], "topics": [{topics}]}}"#);
        let rules = Rules::new(&[serde_json::from_str::<RuleConfig>(&rule).unwrap()]).unwrap();
        Licence::new(rules.rights(&Identity::named("a", Voucher::Users), Some("c")).unwrap())
    }

    /// What is remembered is one topic that was permitted, never one that was refused.
    #[test]
    fn only_a_permitted_topic_is_remembered() {
        let mut licence = licence(r#""a/+", "b""#);
        for _ in 0..2 {
            assert!(licence.may_publish("a/x") && licence.may_publish("b") && licence.may_publish("a/y"));
            assert!(!licence.may_publish("a") && !licence.may_publish("c") && !licence.may_publish(""));
        }
        assert_eq!(licence.permitted, "a/y");
    }

    #[test]
    fn a_long_topic_is_permitted_and_not_kept() {
        let mut licence = licence(r#""a/#""#);
        let long = format!("a/{}", "x".repeat(REMEMBERED_BYTES_MAX));
        assert!(licence.may_publish(&long) && licence.may_publish(&long));
        assert!(licence.permitted.is_empty());
    }
}
