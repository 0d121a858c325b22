//! SUBACK: one reason code per filter of the SUBSCRIBE.

use crate::{PacketId, ReasonCode, ReasonProperties};

/// A SUBACK packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubAck<'a> {
    /// The exchange.
    pub packet_id: PacketId,
    /// Properties (5.0).
    pub properties: ReasonProperties<'a>,
    /// In the order of the filters, at least one; 3.1.1 writes every error as 0x80.
    pub reasons: &'a [ReasonCode],
}
