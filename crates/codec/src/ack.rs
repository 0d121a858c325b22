//! PUBACK, PUBREC, PUBREL, PUBCOMP: four packets of one shape.

use crate::legality::is_legal;
use crate::owner::Owners;
use crate::property::{Properties, REASON_STRING, Value};
use crate::read::Reader;
use crate::write::{Body, Section, Sink};
use crate::{EncodeError, Limits, PacketId, ProtocolError, ReasonCode, UserProperties, Version};

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

impl<'a> Ack<'a> {
    /// Reads the body; `owner` is the one packet type it is.
    pub(crate) fn decode(
        mut reader: Reader<'a>,
        version: Version,
        owner: Owners,
        limits: &Limits,
    ) -> Result<Self, ProtocolError> {
        let packet_id = reader.packet_id()?;
        let mut ack = Ack::success(packet_id);
        // In 5.0 a reason code of success may be left out, and so may properties when there are none.
        if version.has_properties() && !reader.is_empty() {
            ack.reason = decode_reason(&mut reader, owner)?;
            if !reader.is_empty() {
                ack.properties = ReasonProperties::decode(&mut reader, owner, limits)?;
            }
        }
        reader.finish()?;
        Ok(ack)
    }

    /// Appends the packet of type `kind`.
    #[inline]
    pub(crate) fn encode(&self, kind: u8, version: Version, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let flags = if kind == crate::header::kind::PUBREL { 0b0010 } else { 0 };
        self.check(kind, version)?;
        crate::write::packet(kind << 4 | flags, self, version, out)
    }

    pub(crate) fn check(&self, kind: u8, version: Version) -> Result<(), EncodeError> {
        check_reason(self.reason, 1 << kind, version)
    }
}

impl Body for Ack<'_> {
    #[inline]
    fn write(&self, version: Version, sink: &mut impl Sink) {
        sink.u16(self.packet_id.get());
        let plain = self.properties == ReasonProperties::EMPTY;
        if !version.has_properties() || (plain && self.reason == ReasonCode::Success) {
            return;
        }
        sink.u8(self.reason.value());
        if !plain {
            sink.section(&self.properties);
        }
    }
}

impl<'a> ReasonProperties<'a> {
    /// Reads a property section that may hold these and no others.
    pub(crate) fn decode(reader: &mut Reader<'a>, owner: Owners, limits: &Limits) -> Result<Self, ProtocolError> {
        let mut section = Properties::open(reader, owner, limits)?;
        let mut properties = ReasonProperties::EMPTY;
        while let Some(property) = section.next()? {
            if let (REASON_STRING, Value::Text(text)) = (property.id, property.value) {
                properties.reason_string = Some(text);
            }
        }
        properties.user = section.user();
        Ok(properties)
    }
}

impl Section for ReasonProperties<'_> {
    fn write(&self, sink: &mut impl Sink) {
        sink.text_property(REASON_STRING, "reason string", self.reason_string);
        sink.user_properties(&self.user);
    }
}

/// Reads one reason code that may stand in `owner`.
pub(crate) fn decode_reason(reader: &mut Reader<'_>, owner: Owners) -> Result<ReasonCode, ProtocolError> {
    let at = reader.at();
    match ReasonCode::from_u8(reader.u8()?) {
        Some(code) if is_legal(code, owner) => Ok(code),
        Some(_) => Err(ProtocolError::protocol("a reason code that does not belong in this packet", at)),
        None => Err(ProtocolError::malformed("a reason code that does not exist", at)),
    }
}

/// Refuses to write a reason code where [`decode_reason`] would not accept it.
pub(crate) fn check_reason(code: ReasonCode, owner: Owners, version: Version) -> Result<(), EncodeError> {
    if is_legal(code, owner) {
        return Ok(());
    }
    Err(EncodeError::NotRepresentable { what: "this reason code in this packet", version })
}
