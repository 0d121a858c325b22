//! DISCONNECT: the last packet of a connection; in 3.1.1 only from the client.

use crate::{ReasonCode, UserProperties};

/// A DISCONNECT packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disconnect<'a> {
    /// Success is "normal disconnection".
    pub reason: ReasonCode,
    /// Properties (5.0).
    pub properties: DisconnectProperties<'a>,
}

impl Disconnect<'_> {
    /// A DISCONNECT with `reason` and without properties.
    pub fn new(reason: ReasonCode) -> Self {
        Disconnect { reason, ..Disconnect::default() }
    }
}

/// Properties of a DISCONNECT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DisconnectProperties<'a> {
    /// Session Expiry Interval from here on, in seconds; only from the client.
    pub session_expiry_s: Option<u32>,
    /// Reason String, for people.
    pub reason_string: Option<&'a str>,
    /// User Properties.
    pub user: UserProperties<'a>,
    /// Server Reference: where to go instead; only from the server.
    pub server_reference: Option<&'a str>,
}
