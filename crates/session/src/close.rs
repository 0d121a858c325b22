//! The end of a connection, with its reason.

use lapwing_codec::{Disconnect, DisconnectProperties, Packet, ReasonCode};
use thiserror::Error;

use crate::link::Link;

/// Which end decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The client sent a DISCONNECT.
    Client,
    /// We end it: a violation, a limit, or an order from outside.
    Server,
}

/// The connection must be closed; what had to be said before is in the output buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{reason}: {what}")]
pub struct Close {
    /// The code of the DISCONNECT, whether one was sent (5.0) or not (3.1.1).
    pub reason: ReasonCode,
    /// What was wrong, in words, for people and logs.
    pub what: &'static str,
    /// Who decided.
    pub side: Side,
}

impl Close {
    #[cold]
    pub(crate) const fn server(reason: ReasonCode, what: &'static str) -> Self {
        Close { reason, what, side: Side::Server }
    }

    pub(crate) const fn client(reason: ReasonCode) -> Self {
        Close { reason, what: "the client left", side: Side::Client }
    }

    /// Writes the DISCONNECT of a 5.0 server; 3.1.1 knows none and just closes.
    ///
    /// The Reason String stays away when it would exceed the client's Maximum Packet Size [MQTT-3.14.2-3], then the Server
    /// Reference, and the packet stays away when even the code does not fit [MQTT-3.1.2-24].
    pub(crate) fn announce(&self, link: &Link, server_reference: Option<&str>, out: &mut Vec<u8>) {
        let (version, packet_bytes_max) = (link.version, link.packet_bytes_max);
        if self.side == Side::Client || !version.has_properties() {
            return;
        }
        let sends_away = matches!(self.reason, ReasonCode::UseAnotherServer | ReasonCode::ServerMoved);
        let server_reference = server_reference.filter(|_| sends_away);
        let start = out.len();
        for (reason_string, server_reference) in
            [(Some(self.what), server_reference), (None, server_reference), (None, None)]
        {
            let properties =
                DisconnectProperties { reason_string, server_reference, ..DisconnectProperties::default() };
            let packet = Packet::Disconnect(Disconnect { reason: self.reason, properties });
            if packet.encode(version, out).is_ok() && out.len() - start <= packet_bytes_max as usize {
                return;
            }
            out.truncate(start);
        }
    }
}
