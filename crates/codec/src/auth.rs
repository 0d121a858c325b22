//! AUTH (5.0): a step of an extended authentication, in either direction.

use crate::ack::{check_reason, decode_reason};
use crate::owner::AUTH;
use crate::property::{AUTHENTICATION_DATA, AUTHENTICATION_METHOD, Properties, REASON_STRING, Value};
use crate::read::Reader;
use crate::write::{Body, Section, Sink};
use crate::{EncodeError, Limits, ProtocolError, ReasonCode, UserProperties, Version};

/// An AUTH packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auth<'a> {
    /// Success, ContinueAuthentication or ReAuthenticate.
    pub reason: ReasonCode,
    /// Properties.
    pub properties: AuthProperties<'a>,
}

/// Properties of an AUTH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthProperties<'a> {
    /// Authentication Method; absent only in the two-byte AUTH.
    pub auth_method: Option<&'a str>,
    /// Authentication Data.
    pub auth_data: Option<&'a [u8]>,
    /// Reason String, for people.
    pub reason_string: Option<&'a str>,
    /// User Properties.
    pub user: UserProperties<'a>,
}

impl<'a> Auth<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>, limits: &Limits) -> Result<Self, ProtocolError> {
        if reader.is_empty() {
            return Ok(Auth::default());
        }
        let reason = decode_reason(&mut reader, AUTH)?;
        let properties = AuthProperties::decode(&mut reader, limits)?;
        reader.finish()?;
        Ok(Auth { reason, properties })
    }

    /// AUTH exists in 5.0 only, and without a method only in its shortest form.
    pub(crate) fn check(&self, version: Version) -> Result<(), EncodeError> {
        if !version.has_properties() {
            return Err(EncodeError::NotRepresentable { what: "AUTH", version });
        }
        if self.properties.auth_method.is_none() && *self != Auth::default() {
            return Err(EncodeError::NotRepresentable { what: "AUTH without an authentication method", version });
        }
        check_reason(self.reason, AUTH, version)
    }
}

impl<'a> AuthProperties<'a> {
    fn decode(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, ProtocolError> {
        let at = reader.at();
        let mut section = Properties::open(reader, AUTH, limits)?;
        let mut properties = AuthProperties::default();
        while let Some(property) = section.next()? {
            match (property.id, property.value) {
                (AUTHENTICATION_METHOD, Value::Text(method)) => properties.auth_method = Some(method),
                (AUTHENTICATION_DATA, Value::Binary(data)) => properties.auth_data = Some(data),
                (REASON_STRING, Value::Text(text)) => properties.reason_string = Some(text),
                _ => {}
            }
        }
        if properties.auth_method.is_none() {
            return Err(ProtocolError::protocol("an AUTH without an authentication method", at));
        }
        properties.user = section.user();
        Ok(properties)
    }
}

impl Body for Auth<'_> {
    fn write(&self, _version: Version, sink: &mut impl Sink) {
        if *self != Auth::default() {
            sink.u8(self.reason.value());
            sink.section(&self.properties);
        }
    }
}

impl Section for AuthProperties<'_> {
    fn write(&self, sink: &mut impl Sink) {
        sink.text_property(AUTHENTICATION_METHOD, "authentication method", self.auth_method);
        sink.binary_property(AUTHENTICATION_DATA, "authentication data", self.auth_data);
        sink.text_property(REASON_STRING, "reason string", self.reason_string);
        sink.user_properties(&self.user);
    }
}
