//! SUBACK: one reason code per filter of the SUBSCRIBE.

use crate::ack::check_reason;
use crate::legality::is_legal;
use crate::owner::{Owners, SUBACK};
use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{EncodeError, Limits, PacketId, ProtocolError, ReasonCode, ReasonProperties, Version};

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

impl<'a> SubAck<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>, version: Version, limits: &Limits) -> Result<Self, ProtocolError> {
        let packet_id = reader.packet_id()?;
        let mut properties = ReasonProperties::EMPTY;
        if version.has_properties() {
            properties = ReasonProperties::decode(&mut reader, SUBACK, limits)?;
        }
        let at = reader.at();
        let reasons = decode_reasons(&mut reader, SUBACK)?;
        if !version.has_properties() && reasons.iter().any(|&reason| to_v311(reason) != reason) {
            return Err(ProtocolError::malformed("a return code that 3.1.1 does not have", at));
        }
        Ok(SubAck { packet_id, properties, reasons })
    }

    pub(crate) fn check(&self, version: Version) -> Result<(), EncodeError> {
        check_reasons(self.reasons, SUBACK, version)
    }
}

impl Body for SubAck<'_> {
    fn write(&self, version: Version, sink: &mut impl Sink) {
        sink.u16(self.packet_id.get());
        if version.has_properties() {
            sink.section(&self.properties);
            self.reasons.iter().for_each(|reason| sink.u8(reason.value()));
        } else {
            self.reasons.iter().for_each(|&reason| sink.u8(to_v311(reason).value()));
        }
    }
}

/// 3.1.1 has one code for every failure.
const fn to_v311(reason: ReasonCode) -> ReasonCode {
    if reason.is_error() { ReasonCode::UnspecifiedError } else { reason }
}

/// Reads reason codes to the end of the packet; at least one.
pub(crate) fn decode_reasons<'a>(reader: &mut Reader<'a>, owner: Owners) -> Result<&'a [ReasonCode], ProtocolError> {
    let at = reader.at();
    let bytes = reader.rest();
    if bytes.is_empty() {
        return Err(ProtocolError::protocol("an acknowledgement without reason codes", at));
    }
    let reasons = ReasonCode::slice_from_bytes(bytes)
        .map_err(|index| ProtocolError::malformed("a reason code that does not exist", at + index))?;
    match reasons.iter().position(|&reason| !is_legal(reason, owner)) {
        Some(index) => Err(ProtocolError::protocol("a reason code that does not belong in this packet", at + index)),
        None => Ok(reasons),
    }
}

/// Refuses to write what [`decode_reasons`] would not accept.
pub(crate) fn check_reasons(reasons: &[ReasonCode], owner: Owners, version: Version) -> Result<(), EncodeError> {
    if reasons.is_empty() {
        return Err(EncodeError::NotRepresentable { what: "an acknowledgement without reason codes", version });
    }
    reasons.iter().try_for_each(|&reason| check_reason(reason, owner, version))
}
