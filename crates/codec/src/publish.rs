//! PUBLISH: a message, in either direction.

use crate::{PacketId, PublishProperties, QoS};

/// A PUBLISH packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publish<'a> {
    /// Sent before, perhaps; only with QoS 1 and 2.
    pub dup: bool,
    /// Quality of service.
    pub qos: QoS,
    /// To be retained (to a server), or was retained (to a client).
    pub retain: bool,
    /// Topic name; empty only in 5.0 together with a topic alias.
    pub topic: &'a str,
    /// Present exactly when `qos` is 1 or 2.
    pub packet_id: Option<PacketId>,
    /// Properties (5.0).
    pub properties: PublishProperties<'a>,
    /// The message.
    pub payload: &'a [u8],
}
