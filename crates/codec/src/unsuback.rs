//! UNSUBACK: one reason code per filter of the UNSUBSCRIBE; none in 3.1.1.

use crate::{PacketId, ReasonCode, ReasonProperties};

/// An UNSUBACK packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsubAck<'a> {
    /// The exchange.
    pub packet_id: PacketId,
    /// Properties (5.0).
    pub properties: ReasonProperties<'a>,
    /// In the order of the filters, at least one; in 3.1.1 empty when decoded and left out when encoded.
    pub reasons: &'a [ReasonCode],
}
