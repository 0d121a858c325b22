//! CONNACK: the server's answer to CONNECT.

use crate::{QoS, ReasonCode, UserProperties};

/// A CONNACK packet. In 3.1.1 `reason` travels as a return code ([`ReasonCode::return_code_v311`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnAck<'a> {
    /// The server had a session of this client and goes on with it; false with any error.
    pub session_present: bool,
    /// Success, or why not.
    pub reason: ReasonCode,
    /// Properties (5.0).
    pub properties: ConnAckProperties<'a>,
}

/// Properties of a CONNACK; an absent one has the value that the specification gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnAckProperties<'a> {
    /// Session Expiry Interval in use, in seconds; absent = what the client asked for.
    pub session_expiry_s: Option<u32>,
    /// Receive Maximum towards the server, 1..=65535; absent = 65535.
    pub receive_max: u16,
    /// Maximum QoS that the server supports, 0 or 1 on the wire; absent = 2.
    pub qos_max: QoS,
    /// Retain Available; absent = true.
    pub retain_available: bool,
    /// Maximum Packet Size the server accepts, in bytes, at least 1; absent = no limit.
    pub packet_bytes_max: Option<u32>,
    /// Assigned Client Identifier.
    pub assigned_client_id: Option<&'a str>,
    /// Topic Alias Maximum towards the server; absent = 0.
    pub topic_alias_max: u16,
    /// Reason String.
    pub reason_string: Option<&'a str>,
    /// User Properties.
    pub user: UserProperties<'a>,
    /// Wildcard Subscription Available; absent = true.
    pub wildcard_available: bool,
    /// Subscription Identifiers Available; absent = true.
    pub subscription_ids_available: bool,
    /// Shared Subscription Available; absent = true.
    pub shared_available: bool,
    /// Server Keep Alive, in seconds; overrides the client's.
    pub server_keep_alive_s: Option<u16>,
    /// Response Information.
    pub response_information: Option<&'a str>,
    /// Server Reference: where to go instead.
    pub server_reference: Option<&'a str>,
    /// Authentication Method.
    pub auth_method: Option<&'a str>,
    /// Authentication Data; only with a method.
    pub auth_data: Option<&'a [u8]>,
}

impl Default for ConnAckProperties<'_> {
    fn default() -> Self {
        ConnAckProperties {
            session_expiry_s: None,
            receive_max: u16::MAX,
            qos_max: QoS::ExactlyOnce,
            retain_available: true,
            packet_bytes_max: None,
            assigned_client_id: None,
            topic_alias_max: 0,
            reason_string: None,
            user: UserProperties::EMPTY,
            wildcard_available: true,
            subscription_ids_available: true,
            shared_available: true,
            server_keep_alive_s: None,
            response_information: None,
            server_reference: None,
            auth_method: None,
            auth_data: None,
        }
    }
}
