//! DISCONNECT: the last packet of a connection; in 3.1.1 only from the client.

use crate::ack::{check_reason, decode_reason};
use crate::owner::DISCONNECT;
use crate::property::{Properties, REASON_STRING, SERVER_REFERENCE, SESSION_EXPIRY_INTERVAL, Value};
use crate::read::Reader;
use crate::write::{Body, Section, Sink};
use crate::{EncodeError, Limits, ProtocolError, ReasonCode, UserProperties, Version};

/// A DISCONNECT packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disconnect<'a> {
    /// Success is "normal disconnection".
    pub reason: ReasonCode,
    /// Properties (5.0).
    pub properties: DisconnectProperties<'a>,
}

impl Disconnect<'_> {
    /// A DISCONNECT with `reason` and without properties.
    pub fn new(reason: ReasonCode) -> Self {
        Disconnect { reason, ..Disconnect::default() }
    }
}

/// Properties of a DISCONNECT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DisconnectProperties<'a> {
    /// Session Expiry Interval from here on, in seconds; only from the client.
    pub session_expiry_s: Option<u32>,
    /// Reason String, for people.
    pub reason_string: Option<&'a str>,
    /// User Properties.
    pub user: UserProperties<'a>,
    /// Server Reference: where to go instead; only from the server.
    pub server_reference: Option<&'a str>,
}

impl<'a> Disconnect<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>, version: Version, limits: &Limits) -> Result<Self, ProtocolError> {
        let mut disconnect = Disconnect::default();
        // In 5.0 a reason code of success may be left out, and so may properties when there are none.
        if version.has_properties() && !reader.is_empty() {
            disconnect.reason = decode_reason(&mut reader, DISCONNECT)?;
            if !reader.is_empty() {
                disconnect.properties = DisconnectProperties::decode(&mut reader, limits)?;
            }
        }
        reader.finish()?;
        Ok(disconnect)
    }

    /// In 3.1.1 the reason and the properties are left out silently: the packet says only that it ends here.
    pub(crate) fn check(&self, version: Version) -> Result<(), EncodeError> {
        check_reason(self.reason, DISCONNECT, version)
    }
}

impl<'a> DisconnectProperties<'a> {
    fn decode(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, ProtocolError> {
        let mut section = Properties::open(reader, DISCONNECT, limits)?;
        let mut properties = DisconnectProperties::default();
        while let Some(property) = section.next()? {
            match (property.id, property.value) {
                (SESSION_EXPIRY_INTERVAL, Value::U32(seconds)) => properties.session_expiry_s = Some(seconds),
                (REASON_STRING, Value::Text(text)) => properties.reason_string = Some(text),
                (SERVER_REFERENCE, Value::Text(reference)) => properties.server_reference = Some(reference),
                _ => {}
            }
        }
        properties.user = section.user();
        Ok(properties)
    }
}

impl Body for Disconnect<'_> {
    fn write(&self, version: Version, sink: &mut impl Sink) {
        let plain = self.properties == DisconnectProperties::default();
        if !version.has_properties() || (plain && self.reason == ReasonCode::Success) {
            return;
        }
        sink.u8(self.reason.value());
        if !plain {
            sink.section(&self.properties);
        }
    }
}

impl Section for DisconnectProperties<'_> {
    fn write(&self, sink: &mut impl Sink) {
        sink.u32_property(SESSION_EXPIRY_INTERVAL, self.session_expiry_s);
        sink.text_property(REASON_STRING, "reason string", self.reason_string);
        sink.user_properties(&self.user);
        sink.text_property(SERVER_REFERENCE, "server reference", self.server_reference);
    }
}
