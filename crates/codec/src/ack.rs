//! PUBACK, PUBREC, PUBREL, PUBCOMP: four packets of one shape.

use crate::{PacketId, ReasonCode, UserProperties};

/// A PUBACK, PUBREC, PUBREL or PUBCOMP; which one says the [`crate::Packet`] around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack<'a> {
    /// The exchange it belongs to.
    pub packet_id: PacketId,
    /// Success unless the 5.0 packet says otherwise.
    pub reason: ReasonCode,
    /// Properties (5.0).
    pub properties: ReasonProperties<'a>,
}

impl Ack<'_> {
    /// An acknowledgement with `reason` and without properties.
    pub const fn new(packet_id: PacketId, reason: ReasonCode) -> Self {
        Ack { packet_id, reason, properties: ReasonProperties::EMPTY }
    }

    /// The plain acknowledgement.
    pub const fn success(packet_id: PacketId) -> Self {
        Self::new(packet_id, ReasonCode::Success)
    }
}

/// The properties that explain a reason code; shared by the acknowledgements, SUBACK and UNSUBACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReasonProperties<'a> {
    /// Reason String, for people.
    pub reason_string: Option<&'a str>,
    /// User Properties.
    pub user: UserProperties<'a>,
}

impl ReasonProperties<'_> {
    /// No properties.
    pub const EMPTY: ReasonProperties<'static> = ReasonProperties { reason_string: None, user: UserProperties::EMPTY };
}
