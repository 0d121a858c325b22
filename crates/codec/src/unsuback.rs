//! UNSUBACK: one reason code per filter of the UNSUBSCRIBE; none in 3.1.1.

use crate::owner::UNSUBACK;
use crate::read::Reader;
use crate::suback::{check_reasons, decode_reasons};
use crate::write::{Body, Sink};
use crate::{EncodeError, Limits, PacketId, ProtocolError, ReasonCode, ReasonProperties, Version};

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

impl<'a> UnsubAck<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>, version: Version, limits: &Limits) -> Result<Self, ProtocolError> {
        let packet_id = reader.packet_id()?;
        if !version.has_properties() {
            reader.finish()?;
            return Ok(UnsubAck { packet_id, properties: ReasonProperties::EMPTY, reasons: &[] });
        }
        let properties = ReasonProperties::decode(&mut reader, UNSUBACK, limits)?;
        let reasons = decode_reasons(&mut reader, UNSUBACK)?;
        Ok(UnsubAck { packet_id, properties, reasons })
    }

    pub(crate) fn check(&self, version: Version) -> Result<(), EncodeError> {
        if version.has_properties() { check_reasons(self.reasons, UNSUBACK, version) } else { Ok(()) }
    }
}

impl Body for UnsubAck<'_> {
    fn write(&self, version: Version, sink: &mut impl Sink) {
        sink.u16(self.packet_id.get());
        if version.has_properties() {
            sink.section(&self.properties);
            self.reasons.iter().for_each(|reason| sink.u8(reason.value()));
        }
    }
}
