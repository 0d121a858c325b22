//! CONNACK: the server's answer to CONNECT.

use crate::ack::{check_reason, decode_reason};
use crate::owner::CONNACK;
use crate::property::*;
use crate::read::Reader;
use crate::write::{Body, Section, Sink};
use crate::{EncodeError, Limits, ProtocolError, QoS, ReasonCode, UserProperties, Version};

/// A CONNACK packet. In 3.1.1 `reason` travels as a return code ([`ReasonCode::return_code_v311`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnAck<'a> {
    /// The server had a session of this client and goes on with it; false with any error.
    pub session_present: bool,
    /// Success, or why not.
    pub reason: ReasonCode,
    /// Properties (5.0).
    pub properties: ConnAckProperties<'a>,
}

/// Properties of a CONNACK; an absent one has the value that the specification gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnAckProperties<'a> {
    /// Session Expiry Interval in use, in seconds; absent = what the client asked for.
    pub session_expiry_s: Option<u32>,
    /// Receive Maximum towards the server, 1..=65535; absent = 65535.
    pub receive_max: u16,
    /// Maximum QoS that the server supports, 0 or 1 on the wire; absent = 2.
    pub qos_max: QoS,
    /// Retain Available; absent = true.
    pub retain_available: bool,
    /// Maximum Packet Size the server accepts, in bytes, at least 1; absent = no limit.
    pub packet_bytes_max: Option<u32>,
    /// Assigned Client Identifier.
    pub assigned_client_id: Option<&'a str>,
    /// Topic Alias Maximum towards the server; absent = 0.
    pub topic_alias_max: u16,
    /// Reason String.
    pub reason_string: Option<&'a str>,
    /// User Properties.
    pub user: UserProperties<'a>,
    /// Wildcard Subscription Available; absent = true.
    pub wildcard_available: bool,
    /// Subscription Identifiers Available; absent = true.
    pub subscription_ids_available: bool,
    /// Shared Subscription Available; absent = true.
    pub shared_available: bool,
    /// Server Keep Alive, in seconds; overrides the client's.
    pub server_keep_alive_s: Option<u16>,
    /// Response Information.
    pub response_information: Option<&'a str>,
    /// Server Reference: where to go instead.
    pub server_reference: Option<&'a str>,
    /// Authentication Method.
    pub auth_method: Option<&'a str>,
    /// Authentication Data; only with a method.
    pub auth_data: Option<&'a [u8]>,
}

impl Default for ConnAckProperties<'_> {
    fn default() -> Self {
        ConnAckProperties {
            session_expiry_s: None,
            receive_max: u16::MAX,
            qos_max: QoS::ExactlyOnce,
            retain_available: true,
            packet_bytes_max: None,
            assigned_client_id: None,
            topic_alias_max: 0,
            reason_string: None,
            user: UserProperties::EMPTY,
            wildcard_available: true,
            subscription_ids_available: true,
            shared_available: true,
            server_keep_alive_s: None,
            response_information: None,
            server_reference: None,
            auth_method: None,
            auth_data: None,
        }
    }
}

impl<'a> ConnAck<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>, version: Version, limits: &Limits) -> Result<Self, ProtocolError> {
        // 3.1 has no Session Present; its byte is reserved.
        let flags = reader.u8()? & if version == Version::V31 { 0 } else { u8::MAX };
        if flags > 1 {
            return Err(ProtocolError::malformed("reserved flags of CONNACK that are set", reader.at() - 1));
        }
        let at = reader.at();
        let mut properties = ConnAckProperties::default();
        let reason = if version.has_properties() {
            let reason = decode_reason(&mut reader, CONNACK)?;
            properties = ConnAckProperties::decode(&mut reader, limits)?;
            reason
        } else {
            ReasonCode::from_return_code_v311(reader.u8()?)
                .ok_or(ProtocolError::malformed("a return code that 3.1.1 does not have", at))?
        };
        if flags == 1 && reason.is_error() {
            return Err(ProtocolError::protocol("a refusing CONNACK with a session present", at));
        }
        reader.finish()?;
        Ok(ConnAck { session_present: flags == 1, reason, properties })
    }

    pub(crate) fn check(&self, version: Version) -> Result<(), EncodeError> {
        if self.session_present && self.reason.is_error() {
            return Err(EncodeError::NotRepresentable { what: "a refusal with a session present", version });
        }
        if !version.has_properties() && self.reason.return_code_v311().is_none() {
            return Err(EncodeError::NotRepresentable { what: "this reason code as a return code", version });
        }
        if self.properties.receive_max == 0 || self.properties.packet_bytes_max == Some(0) {
            return Err(EncodeError::NotRepresentable { what: "a maximum of zero", version });
        }
        if self.properties.auth_data.is_some() && self.properties.auth_method.is_none() {
            return Err(EncodeError::NotRepresentable { what: "authentication data without a method", version });
        }
        if version.has_properties() { check_reason(self.reason, CONNACK, version) } else { Ok(()) }
    }
}

impl Body for ConnAck<'_> {
    fn write(&self, version: Version, sink: &mut impl Sink) {
        sink.u8(u8::from(self.session_present && version != Version::V31));
        if version.has_properties() {
            sink.u8(self.reason.value());
            sink.section(&self.properties);
        } else {
            // `check` has seen that there is one; a reason without would be "server unavailable".
            sink.u8(self.reason.return_code_v311().unwrap_or(3));
        }
    }
}

impl<'a> ConnAckProperties<'a> {
    fn decode(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, ProtocolError> {
        let mut section = Properties::open(reader, CONNACK, limits)?;
        let mut properties = ConnAckProperties::default();
        while let Some(property) = section.next()? {
            properties.set(property);
        }
        section.check_auth()?;
        properties.user = section.user();
        Ok(properties)
    }

    fn set(&mut self, property: Property<'a>) {
        match (property.id, property.value) {
            (SESSION_EXPIRY_INTERVAL, Value::U32(seconds)) => self.session_expiry_s = Some(seconds),
            (RECEIVE_MAXIMUM, Value::U16(messages)) => self.receive_max = messages,
            (MAXIMUM_QOS, Value::Flag(one)) => self.qos_max = if one { QoS::AtLeastOnce } else { QoS::AtMostOnce },
            (RETAIN_AVAILABLE, Value::Flag(available)) => self.retain_available = available,
            (MAXIMUM_PACKET_SIZE, Value::U32(bytes)) => self.packet_bytes_max = Some(bytes),
            (ASSIGNED_CLIENT_IDENTIFIER, Value::Text(id)) => self.assigned_client_id = Some(id),
            (TOPIC_ALIAS_MAXIMUM, Value::U16(aliases)) => self.topic_alias_max = aliases,
            (REASON_STRING, Value::Text(text)) => self.reason_string = Some(text),
            (WILDCARD_SUBSCRIPTION_AVAILABLE, Value::Flag(available)) => self.wildcard_available = available,
            (SUBSCRIPTION_IDENTIFIERS_AVAILABLE, Value::Flag(available)) => self.subscription_ids_available = available,
            (SHARED_SUBSCRIPTION_AVAILABLE, Value::Flag(available)) => self.shared_available = available,
            (SERVER_KEEP_ALIVE, Value::U16(seconds)) => self.server_keep_alive_s = Some(seconds),
            (RESPONSE_INFORMATION, Value::Text(text)) => self.response_information = Some(text),
            (SERVER_REFERENCE, Value::Text(reference)) => self.server_reference = Some(reference),
            (AUTHENTICATION_METHOD, Value::Text(method)) => self.auth_method = Some(method),
            (AUTHENTICATION_DATA, Value::Binary(data)) => self.auth_data = Some(data),
            _ => {}
        }
    }
}

impl Section for ConnAckProperties<'_> {
    fn write(&self, sink: &mut impl Sink) {
        sink.u32_property(SESSION_EXPIRY_INTERVAL, self.session_expiry_s);
        sink.u16_property(RECEIVE_MAXIMUM, (self.receive_max != u16::MAX).then_some(self.receive_max));
        let qos_max = (self.qos_max != QoS::ExactlyOnce).then_some(self.qos_max == QoS::AtLeastOnce);
        sink.flag_property(MAXIMUM_QOS, qos_max);
        sink.flag_property(RETAIN_AVAILABLE, (!self.retain_available).then_some(false));
        sink.u32_property(MAXIMUM_PACKET_SIZE, self.packet_bytes_max);
        sink.text_property(ASSIGNED_CLIENT_IDENTIFIER, "assigned client identifier", self.assigned_client_id);
        sink.u16_property(TOPIC_ALIAS_MAXIMUM, (self.topic_alias_max != 0).then_some(self.topic_alias_max));
        sink.text_property(REASON_STRING, "reason string", self.reason_string);
        sink.user_properties(&self.user);
        sink.flag_property(WILDCARD_SUBSCRIPTION_AVAILABLE, (!self.wildcard_available).then_some(false));
        sink.flag_property(SUBSCRIPTION_IDENTIFIERS_AVAILABLE, (!self.subscription_ids_available).then_some(false));
        sink.flag_property(SHARED_SUBSCRIPTION_AVAILABLE, (!self.shared_available).then_some(false));
        sink.u16_property(SERVER_KEEP_ALIVE, self.server_keep_alive_s);
        sink.text_property(RESPONSE_INFORMATION, "response information", self.response_information);
        sink.text_property(SERVER_REFERENCE, "server reference", self.server_reference);
        sink.text_property(AUTHENTICATION_METHOD, "authentication method", self.auth_method);
        sink.binary_property(AUTHENTICATION_DATA, "authentication data", self.auth_data);
    }
}
