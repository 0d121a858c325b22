//! Packets from the client: which may come, and who answers.

use lapwing_codec::{Disconnect, Packet, ProtocolError, ReasonCode};

use crate::{Close, Io, Session, Step, SubscribeRequest, UnsubscribeRequest};

impl Session {
    /// Takes one packet from the client, by reference: a packet has hundreds of bytes, and moving it costs more than
    /// handling it.
    /// # Errors
    /// The connection must be closed. What has to be said is in `io.out`: flush it, close the socket, then call
    /// [`Session::disconnected`].
    #[inline]
    pub fn handle<'p>(&mut self, packet: &'p Packet<'p>, now_ms: u64, io: &mut Io<'_>) -> Result<Step<'p>, Close> {
        if let Some(link) = &mut self.link {
            link.last_packet_ms = now_ms;
            if matches!(packet, Packet::Publish(_) | Packet::Subscribe(_) | Packet::Unsubscribe(_)) {
                link.used_ms = now_ms;
            }
        }
        match self.dispatch(packet, now_ms, io) {
            Err(close) => Err(self.announce(close, io)),
            step => step,
        }
    }

    #[inline]
    fn dispatch<'p>(&mut self, packet: &'p Packet<'p>, now_ms: u64, io: &mut Io<'_>) -> Result<Step<'p>, Close> {
        match packet {
            Packet::Publish(publish) => return self.on_publish(publish, io),
            Packet::PubAck(ack) => self.on_puback(ack, now_ms, io)?,
            Packet::PubRec(ack) => self.on_pubrec(ack, now_ms, io)?,
            Packet::PubRel(ack) => self.on_pubrel(ack.packet_id, io)?,
            Packet::PubComp(ack) => self.on_pubcomp(ack, now_ms, io)?,
            Packet::Subscribe(subscribe) => return SubscribeRequest::check(*subscribe).map(Step::Subscribe),
            Packet::Unsubscribe(unsubscribe) => return Ok(Step::Unsubscribe(UnsubscribeRequest::new(*unsubscribe))),
            Packet::PingReq => self.pong(io)?,
            Packet::Disconnect(disconnect) => return Err(self.on_disconnect(disconnect)),
            Packet::Connect(_) => return Err(violation("a second CONNECT")),
            Packet::Auth(auth) => return self.on_auth(auth),
            Packet::ConnAck(_) | Packet::SubAck(_) | Packet::UnsubAck(_) | Packet::PingResp => {
                return Err(violation("a packet that only a server may send"));
            }
        }
        Ok(Step::Done)
    }

    fn pong(&self, io: &mut Io<'_>) -> Result<(), Close> {
        let Some(link) = &self.link else { return Err(Session::no_link()) };
        Packet::PingResp.encode(link.version, io.out).expect("PINGRESP has no fields");
        Ok(())
    }

    /// DISCONNECT: the client leaves, and may say with what will and for how long its session is to live.
    fn on_disconnect(&mut self, disconnect: &Disconnect<'_>) -> Close {
        if let Some(expiry_s) = disconnect.properties.session_expiry_s {
            let may_begin = self.link.as_ref().is_some_and(|link| link.asked_expiry);
            if !may_begin && expiry_s != 0 {
                return violation("DISCONNECT gives a session expiry after CONNECT gave none");
            }
            self.expiry_s = expiry_s.min(self.settings.session_expiry_s_max);
        }
        if disconnect.reason == ReasonCode::Success {
            // [MQTT-3.14.4-3]: only a normal disconnection takes the will back.
            self.will = None;
        }
        Close::client(disconnect.reason)
    }

    /// Ends the connection because its bytes could not be decoded.
    ///
    /// A second CONNECT is a protocol error whatever is wrong with it [MQTT-3.1.0-2]: the reasons for which a first one is
    /// refused, such as its version, are none that a DISCONNECT can give.
    pub fn violated(&mut self, error: &ProtocolError, io: &mut Io<'_>) -> Close {
        let is_connect = error.connect.is_some() || error.reason == ReasonCode::UnsupportedProtocolVersion;
        let reason = if is_connect { ReasonCode::ProtocolError } else { error.reason };
        self.announce(Close::server(reason, error.what), io)
    }

    /// Ends the connection from outside: taken over, shutting down, an administrator's order.
    pub fn dismiss(&mut self, reason: ReasonCode, what: &'static str, io: &mut Io<'_>) -> Close {
        self.announce(Close::server(reason, what), io)
    }

    pub(crate) fn announce(&self, close: Close, io: &mut Io<'_>) -> Close {
        if let Some(link) = &self.link {
            close.announce(link, self.settings.server_reference.as_deref(), io.out);
        }
        close
    }
}

#[cold]
const fn violation(what: &'static str) -> Close {
    Close::server(ReasonCode::ProtocolError, what)
}
