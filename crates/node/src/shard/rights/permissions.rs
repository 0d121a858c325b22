//! What a client may do: made when its session opens, asked for each PUBLISH and each filter, made again after a reload.
//!
//! Without rules a connection has no permissions and needs none: only whether a topic is the broker's own is asked.

use lapwing_access::{Identity, Right, Rights, is_bridge_state, is_reserved};
use lapwing_codec::{Connect, QoS, ReasonCode};
use lapwing_session::{Accepted, Inbound, SessionKey};
use lapwing_transport::PeerAddress;

use crate::audit::Refusal;
use crate::metrics::{DropReason, Refused};
use crate::shard::Shard;
use crate::shard::connect::given_id::is_given;
use crate::shard::connections::serve::{Client, Flow};
use crate::shard::durable::keeping::IDENTITY_BYTES_MAX;
use crate::sn::nobody;

/// Topics longer than this are compared with the rules each time.
const REMEMBERED_BYTES_MAX: usize = 256;

/// What one open connection may do.
#[derive(Debug)]
pub(crate) struct Permissions {
    rights: Rights,
    /// The topic that was permitted last: devices publish to the same one again and again.
    permitted: String,
}

impl Permissions {
    pub(in crate::shard) fn new(rights: Rights) -> Self {
        Permissions { rights, permitted: String::new() }
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
    pub(in crate::shard) fn may_subscribe(&self, filter: &str) -> bool {
        self.rights.may_subscribe(filter)
    }
}

/// Whether a client with these permissions, or with none where there are no rules, may publish to `topic`. `bridges`:
/// `limits.mqtt_bridges`.
pub(in crate::shard) fn permits(permissions: Option<&mut Box<Permissions>>, topic: &str, bridges: bool) -> bool {
    let is_free = !is_reserved(topic)
        || bridges
            && is_bridge_state(topic)
            && permissions.as_ref().is_none_or(|permissions| permissions.rights.is_bridge());
    is_free && permissions.is_none_or(|permissions| permissions.may_publish(topic))
}

impl Shard {
    /// Whether a CONNECT of `identity` may have the session of `client_id`, and leave its will; its permissions if so, and the
    /// session is counted for its identity.
    ///
    /// A session belongs to the identity that began it: who else comes with its client id could read what is queued for
    /// it, or throw it out. Only what nobody in particular began, or has neither a connection nor anything in it, may be
    /// taken by somebody with a name; it is then ended, see [`Shard::take_existing`].
    pub(in crate::shard) fn permit_connect(
        &mut self,
        index: usize,
        connect: &Connect<'_>,
        identity: &Identity,
        client_id: &str,
    ) -> Result<Option<Box<Permissions>>, ReasonCode> {
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
        let session = self.clients.find(client_id).and_then(|key| self.clients.row(key));
        let is_its_own = session.as_ref().is_some_and(|row| row.standing.identity == *identity);
        if !is_its_own && session.is_some_and(|row| row.is_kept_from(identity)) {
            self.counters.access.refused(Refused::ClientId, 1);
            return Err(ReasonCode::ClientIdentifierNotValid);
        }
        let bridges = self.shared.config.limits.mqtt_bridges;
        if connect.is_bridge && !(bridges && self.shared.authority.may(identity, Right::Bridge, "")) {
            // The answer to a level that is not known: the other broker comes again as a client like all.
            self.counters.access.refused(Refused::Bridge, 1);
            return Err(ReasonCode::UnsupportedProtocolVersion);
        }
        let rights = self.shared.authority.rights(identity, client_id);
        let mut permissions = rights.map(|rights| Box::new(Permissions::new(rights)));
        self.permit_will(connect, permissions.as_mut())?;
        // Last: what is taken here is the session's.
        self.take_connection_place(index, identity, client_id)?;
        if !self.take_session_share(identity, is_its_own) {
            if let Some(connection) = self.clients.connection(index) {
                connection.place = None;
            }
            return Err(ReasonCode::QuotaExceeded);
        }
        if let Some(permissions) = &permissions {
            self.counters.access.void_patterns.add(u64::from(permissions.rights.void_patterns()));
        }
        Ok(permissions)
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

    /// Whether a client with these permissions, or with none where there are no rules, may leave the will of its CONNECT.
    pub(in crate::shard) fn permit_will(
        &self,
        connect: &Connect<'_>,
        permissions: Option<&mut Box<Permissions>>,
    ) -> Result<(), ReasonCode> {
        let Some(will) = &connect.will else { return Ok(()) };
        if permits(permissions, will.topic, self.shared.config.limits.mqtt_bridges) {
            return Ok(());
        }
        self.counters.access.refused(Refused::Will, 1);
        Err(ReasonCode::NotAuthorized)
    }

    /// Whether the client of a connection may publish to `topic`, its alias resolved.
    #[inline]
    pub(in crate::shard) fn may_publish(&mut self, index: usize, client: &Client, topic: &str) -> bool {
        if !client.has_permissions {
            return permits(None, topic, self.shared.config.limits.mqtt_bridges);
        }
        let permissions = self.clients.connection(index).and_then(|connection| connection.permissions.as_mut());
        permissions.is_some_and(|permissions| permits(Some(permissions), topic, self.shared.config.limits.mqtt_bridges))
    }

    /// Drops a message that its publisher may not send; acknowledges it with the reason, which 3.1.1 does not have.
    #[cold]
    pub(in crate::shard) fn forbid_publish(&mut self, index: usize, client: &Client, inbound: &Inbound<'_>) -> Flow {
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
        if charged == Flow::Paused { charged } else { self.check_output(index) }
    }

    /// Takes the permissions of a session's connection, for a while in which the connection itself cannot be asked.
    pub(in crate::shard) fn lend_permissions(&mut self, key: SessionKey) -> Option<Box<Permissions>> {
        let index = self.clients.row(key)?.connection()?;
        self.clients.connection(index)?.permissions.take()
    }

    /// Gives them back.
    pub(in crate::shard) fn return_permissions(&mut self, key: SessionKey, permissions: Option<Box<Permissions>>) {
        let index = self.clients.row(key).and_then(|row| row.connection());
        if let Some(connection) = index.and_then(|index| self.clients.connection(index)) {
            connection.permissions = permissions;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_access::{RuleConfig, Rules, Voucher};

    fn permissions(topics: &str) -> Permissions {
        let rule = format!(r#"{{"identity": "*", "may": ["publish", "subscribe"], "topics": [{topics}]}}"#);
        let rules = Rules::new(&[serde_json::from_str::<RuleConfig>(&rule).unwrap()]).unwrap();
        Permissions::new(rules.rights(&Identity::named("a", Voucher::Users), Some("c")).unwrap())
    }

    /// What is remembered is one topic that was permitted, never one that was refused.
    #[test]
    fn only_a_permitted_topic_is_remembered() {
        let mut permissions = permissions(r#""a/+", "b""#);
        for _ in 0..2 {
            assert!(permissions.may_publish("a/x") && permissions.may_publish("b") && permissions.may_publish("a/y"));
            assert!(!permissions.may_publish("a") && !permissions.may_publish("c") && !permissions.may_publish(""));
        }
        assert_eq!(permissions.permitted, "a/y");
    }

    #[test]
    fn a_long_topic_is_permitted_and_not_kept() {
        let mut permissions = permissions(r#""a/#""#);
        let long = format!("a/{}", "x".repeat(REMEMBERED_BYTES_MAX));
        assert!(permissions.may_publish(&long) && permissions.may_publish(&long));
        assert!(permissions.permitted.is_empty());
    }
}
