//! Which side may send what.
//!
//! [`crate::decode`] serves servers and clients alike, so it cannot know who sent the bytes. The receiver does: one call
//! per packet refuses what is legal only in the other direction.

use crate::{Auth, Disconnect, Packet, ProtocolError, Publish, ReasonCode};

/// The side of the connection that sent a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// The side that sent CONNECT.
    Client,
    /// The side that accepted the connection.
    Server,
}

impl Packet<'_> {
    /// Refuses a packet, or a property of it, that `sender` must not send.
    /// # Errors
    /// 0x82: the other side may send it, this one may not.
    #[inline]
    pub fn check_sender(&self, sender: Sender) -> Result<(), ProtocolError> {
        match (self, sender) {
            (Packet::Publish(publish), _) => check_publish(publish, sender),
            (Packet::PubAck(_) | Packet::PubRec(_) | Packet::PubRel(_) | Packet::PubComp(_), _) => Ok(()),
            (Packet::Connect(_) | Packet::Subscribe(_) | Packet::Unsubscribe(_) | Packet::PingReq, Sender::Client) => {
                Ok(())
            }
            (Packet::ConnAck(_) | Packet::SubAck(_) | Packet::UnsubAck(_) | Packet::PingResp, Sender::Server) => Ok(()),
            (Packet::Disconnect(disconnect), _) => check_disconnect(disconnect, sender),
            (Packet::Auth(auth), _) => check_auth(auth, sender),
            _ => refuse("a packet that only the other side sends"),
        }
    }
}

/// [MQTT-3.3.4-6]
#[inline]
fn check_publish(publish: &Publish<'_>, sender: Sender) -> Result<(), ProtocolError> {
    if sender == Sender::Client && !publish.properties.subscription_ids.is_empty() {
        return refuse("a subscription identifier in a PUBLISH from a client");
    }
    Ok(())
}

/// [MQTT-3.14.2-2] and the table of section 3.14.2.2.
fn check_disconnect(disconnect: &Disconnect<'_>, sender: Sender) -> Result<(), ProtocolError> {
    let properties = &disconnect.properties;
    match sender {
        Sender::Server if properties.session_expiry_s.is_some() => {
            refuse("a session expiry interval in a DISCONNECT from a server")
        }
        Sender::Client if properties.server_reference.is_some() => {
            refuse("a server reference in a DISCONNECT from a client")
        }
        _ => Ok(()),
    }
}

/// The table of section 3.15.2.1.
fn check_auth(auth: &Auth<'_>, sender: Sender) -> Result<(), ProtocolError> {
    match (auth.reason, sender) {
        (ReasonCode::Success, Sender::Client) => refuse("an AUTH with success from a client"),
        (ReasonCode::ReAuthenticate, Sender::Server) => refuse("an AUTH that re-authenticates from a server"),
        _ => Ok(()),
    }
}

#[cold]
fn refuse(what: &'static str) -> Result<(), ProtocolError> {
    Err(ProtocolError::protocol(what, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ack, AuthProperties, DisconnectProperties, PacketId, SubscriptionId, SubscriptionIds};

    /// Who may send it: (client, server).
    fn senders(packet: Packet<'_>) -> (bool, bool) {
        (packet.check_sender(Sender::Client).is_ok(), packet.check_sender(Sender::Server).is_ok())
    }

    #[test]
    fn requests_come_from_clients_and_answers_from_servers() {
        assert_eq!(senders(Packet::PingReq), (true, false));
        assert_eq!(senders(Packet::PingResp), (false, true));
        assert_eq!(senders(Packet::PubRel(Ack::success(PacketId::MIN))), (true, true));
        assert_eq!(senders(Packet::Disconnect(Disconnect::default())), (true, true));
    }

    #[test]
    fn some_properties_and_reasons_have_a_direction() {
        let ids = [SubscriptionId::new(1).unwrap()];
        let mut publish = Publish::qos0("a", b"");
        assert_eq!(senders(Packet::Publish(publish)), (true, true));
        publish.properties.subscription_ids = SubscriptionIds::from_slice(&ids);
        assert_eq!(senders(Packet::Publish(publish)), (false, true));

        let disconnect = |properties| Packet::Disconnect(Disconnect { properties, ..Disconnect::default() });
        let expiry = DisconnectProperties { session_expiry_s: Some(0), ..DisconnectProperties::default() };
        let reference = DisconnectProperties { server_reference: Some("b"), ..DisconnectProperties::default() };
        assert_eq!(senders(disconnect(expiry)), (true, false));
        assert_eq!(senders(disconnect(reference)), (false, true));

        let auth = |reason| Packet::Auth(Auth { reason, properties: AuthProperties::default() });
        assert_eq!(senders(auth(ReasonCode::Success)), (false, true));
        assert_eq!(senders(auth(ReasonCode::ContinueAuthentication)), (true, true));
        assert_eq!(senders(auth(ReasonCode::ReAuthenticate)), (true, false));
    }
}
