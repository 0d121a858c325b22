//! CONNECT: the first packet of a client.

use crate::{UserProperties, Version, Will};

/// A CONNECT packet. Its version is its own, whatever the connection's was thought to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
    /// The version the client speaks from here on.
    pub version: Version,
    /// Clean Start (5.0) or Clean Session (3.1.1).
    pub clean_start: bool,
    /// Keep Alive, in seconds; 0 = off.
    pub keep_alive_s: u16,
    /// Client Identifier; may be empty (the server then assigns one, or refuses).
    pub client_id: &'a str,
    /// The will.
    pub will: Option<Will<'a>>,
    /// User Name.
    pub username: Option<&'a str>,
    /// Password; in 3.1.1 only together with a user name.
    pub password: Option<&'a [u8]>,
    /// Properties (5.0).
    pub properties: ConnectProperties<'a>,
}

/// Properties of a CONNECT; an absent one has the value that the specification gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectProperties<'a> {
    /// Session Expiry Interval, in seconds; absent = 0 (ends with the connection), `u32::MAX` = never.
    pub session_expiry_s: u32,
    /// Receive Maximum, 1..=65535 unacknowledged QoS 1/2 messages towards the client; absent = 65535.
    pub receive_max: u16,
    /// Maximum Packet Size the client accepts, in bytes, at least 1; absent = no limit.
    pub packet_bytes_max: Option<u32>,
    /// Topic Alias Maximum towards the client; absent = 0.
    pub topic_alias_max: u16,
    /// Request Response Information; absent = false.
    pub request_response_information: bool,
    /// Request Problem Information; absent = true. When false, reason strings and user properties only on PUBLISH,
    /// CONNACK and DISCONNECT.
    pub request_problem_information: bool,
    /// User Properties.
    pub user: UserProperties<'a>,
    /// Authentication Method.
    pub auth_method: Option<&'a str>,
    /// Authentication Data; only with a method.
    pub auth_data: Option<&'a [u8]>,
}

impl Default for ConnectProperties<'_> {
    fn default() -> Self {
        ConnectProperties {
            session_expiry_s: 0,
            receive_max: u16::MAX,
            packet_bytes_max: None,
            topic_alias_max: 0,
            request_response_information: false,
            request_problem_information: true,
            user: UserProperties::EMPTY,
            auth_method: None,
            auth_data: None,
        }
    }
}
