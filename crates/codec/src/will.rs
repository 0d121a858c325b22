//! The will: a message the server publishes when the connection ends without DISCONNECT.

use crate::{QoS, UserProperties};

/// The will of a CONNECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Will<'a> {
    /// Topic name, validated.
    pub topic: &'a str,
    /// The message; at most 65,535 bytes.
    pub payload: &'a [u8],
    /// Quality of service.
    pub qos: QoS,
    /// To be retained.
    pub retain: bool,
    /// Properties (5.0).
    pub properties: WillProperties<'a>,
}

/// Properties of a will; an absent one has the value that the specification gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WillProperties<'a> {
    /// Will Delay Interval, in seconds; absent = 0.
    pub delay_s: u32,
    /// Payload Format Indicator.
    pub payload_is_utf8: Option<bool>,
    /// Message Expiry Interval, in seconds.
    pub message_expiry_s: Option<u32>,
    /// Content Type.
    pub content_type: Option<&'a str>,
    /// Response Topic.
    pub response_topic: Option<&'a str>,
    /// Correlation Data.
    pub correlation_data: Option<&'a [u8]>,
    /// User Properties.
    pub user: UserProperties<'a>,
}
