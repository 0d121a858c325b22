//! CONNECT: the first packet of a client.

use crate::owner::CONNECT;
use crate::property::*;
use crate::read::Reader;
use crate::write::{Body, Section, Sink};
use crate::{EncodeError, Limits, ProtocolError, QoS, ReasonCode, UserProperties, Version, Will};

const RESERVED: u8 = 1;
const CLEAN_START: u8 = 1 << 1;
const WILL: u8 = 1 << 2;
const WILL_QOS_SHIFT: u8 = 3;
const WILL_QOS: u8 = 0b11 << WILL_QOS_SHIFT;
const WILL_RETAIN: u8 = 1 << 5;
const PASSWORD: u8 = 1 << 6;
const USERNAME: u8 = 1 << 7;

/// A CONNECT packet. Its version is its own, whatever the connection's was thought to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
    /// The version the client speaks from here on.
    pub version: Version,
    /// It comes from another broker, which says so by bit 7 of the level (3.1 and 3.1.1; 5.0 has subscription options for it):
    /// it is sent nothing that it published itself, and RETAIN as it was published.
    pub is_bridge: bool,
    /// Clean Start (5.0) or Clean Session (3.1.1).
    pub clean_start: bool,
    /// Keep Alive, in seconds; 0 = off.
    pub keep_alive_s: u16,
    /// Client Identifier; may be empty (the server then assigns one, or refuses).
    pub client_id: &'a str,
    /// The will.
    pub will: Option<Will<'a>>,
    /// User Name.
    pub username: Option<&'a str>,
    /// Password; in 3.1.1 only together with a user name.
    pub password: Option<&'a [u8]>,
    /// Properties (5.0).
    pub properties: ConnectProperties<'a>,
}

/// Properties of a CONNECT; an absent one has the value that the specification gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectProperties<'a> {
    /// Session Expiry Interval, in seconds; absent = 0 (ends with the connection), `u32::MAX` = never.
    pub session_expiry_s: u32,
    /// Receive Maximum, 1..=65535 unacknowledged QoS 1/2 messages towards the client; absent = 65535.
    pub receive_max: u16,
    /// Maximum Packet Size the client accepts, in bytes, at least 1; absent = no limit.
    pub packet_bytes_max: Option<u32>,
    /// Topic Alias Maximum towards the client; absent = 0.
    pub topic_alias_max: u16,
    /// Request Response Information; absent = false.
    pub request_response_information: bool,
    /// Request Problem Information; absent = true. When false, reason strings and user properties only on PUBLISH,
    /// CONNACK and DISCONNECT.
    pub request_problem_information: bool,
    /// User Properties.
    pub user: UserProperties<'a>,
    /// Authentication Method.
    pub auth_method: Option<&'a str>,
    /// Authentication Data; only with a method.
    pub auth_data: Option<&'a [u8]>,
}

impl Default for ConnectProperties<'_> {
    fn default() -> Self {
        ConnectProperties {
            session_expiry_s: 0,
            receive_max: u16::MAX,
            packet_bytes_max: None,
            topic_alias_max: 0,
            request_response_information: false,
            request_problem_information: true,
            user: UserProperties::EMPTY,
            auth_method: None,
            auth_data: None,
        }
    }
}

impl<'a> Connect<'a> {
    /// Reads the body; an error says in which version to refuse, as soon as that is known.
    pub(crate) fn decode(mut reader: Reader<'a>, limits: &Limits) -> Result<Self, ProtocolError> {
        let Level { version, is_bridge } = decode_level(&mut reader)?;
        let connect = Connect::decode_rest(reader, version, limits);
        connect
            .map(|connect| Connect { is_bridge, ..connect })
            .map_err(|error| ProtocolError { connect: Some(version), ..error })
    }

    fn decode_rest(mut reader: Reader<'a>, version: Version, limits: &Limits) -> Result<Self, ProtocolError> {
        let flags_at = reader.at();
        let flags = reader.u8()?;
        let will_qos = check_flags(flags, version, flags_at)?;
        let keep_alive_s = reader.u16()?;
        let mut properties = ConnectProperties::default();
        if version.has_properties() {
            properties = ConnectProperties::decode(&mut reader, limits)?;
        }
        let client_id = reader.string()?;
        let will = if flags & WILL != 0 {
            Some(Will::decode(&mut reader, version, will_qos, flags & WILL_RETAIN != 0, limits)?)
        } else {
            None
        };
        // 3.1: the length of the packet says more than the flags do.
        let is_there = |flag, reader: &Reader<'_>| flags & flag != 0 && !(version == Version::V31 && reader.is_empty());
        let username = if is_there(USERNAME, &reader) { Some(reader.string()?) } else { None };
        let password = if is_there(PASSWORD, &reader) { Some(reader.binary()?) } else { None };
        reader.finish()?;
        let clean_start = flags & CLEAN_START != 0;
        Ok(Connect {
            version,
            is_bridge: false,
            clean_start,
            keep_alive_s,
            client_id,
            will,
            username,
            password,
            properties,
        })
    }

    pub(crate) fn check(&self) -> Result<(), EncodeError> {
        let version = self.version;
        if !version.has_properties() && self.password.is_some() && self.username.is_none() {
            return Err(EncodeError::NotRepresentable { what: "a password without a user name", version });
        }
        if version.has_properties() && self.is_bridge {
            return Err(EncodeError::NotRepresentable { what: "the level of a bridge", version });
        }
        if self.properties.auth_data.is_some() && self.properties.auth_method.is_none() {
            return Err(EncodeError::NotRepresentable { what: "authentication data without a method", version });
        }
        if self.properties.receive_max == 0 || self.properties.packet_bytes_max == Some(0) {
            return Err(EncodeError::NotRepresentable { what: "a maximum of zero", version });
        }
        Ok(())
    }

    fn flags(&self) -> u8 {
        let mut flags = 0;
        if self.clean_start {
            flags |= CLEAN_START;
        }
        if let Some(will) = &self.will {
            flags |= WILL | (will.qos as u8) << WILL_QOS_SHIFT | if will.retain { WILL_RETAIN } else { 0 };
        }
        if self.username.is_some() {
            flags |= USERNAME;
        }
        if self.password.is_some() {
            flags |= PASSWORD;
        }
        flags
    }
}

/// The version in which a CONNECT that is refused unread should be answered, if its first bytes tell.
pub(crate) fn peek_version(body: &[u8]) -> Option<Version> {
    match decode_level(&mut Reader::new(body, 0)) {
        Ok(level) => Some(level.version),
        Err(error) => error.connect,
    }
}

/// Bit 7 of the level: another broker, which wants to be treated as one (see [`Connect::is_bridge`]).
const BRIDGE: u8 = 0x80;

/// What name and level say.
struct Level {
    version: Version,
    is_bridge: bool,
}

/// Reads protocol name and level.
///
/// "MQTT" with an unknown level is answered (3.1.1: return code 1, 5.0: 0x84), by the older version for levels below 5;
/// the bit of bridges is left out of that choice. "MQIsdp" is MQTT 3.1, whose level is 3. Another name is not MQTT at all:
/// closed without an answer.
fn decode_level(reader: &mut Reader<'_>) -> Result<Level, ProtocolError> {
    let at = reader.at();
    let name = reader.binary()?;
    let is_v31 = name == Version::V31.protocol_name().as_bytes();
    if !is_v31 && name != Version::V5.protocol_name().as_bytes() {
        return Err(unsupported(None, at));
    }
    level_of(reader.u8()?, is_v31, at)
}

/// What this level says under one of the two names; `at` is where the name begins.
fn level_of(level: u8, is_v31: bool, at: usize) -> Result<Level, ProtocolError> {
    let (level, is_bridge) = (level & !BRIDGE, level & BRIDGE != 0);
    let answer = match level {
        _ if is_v31 => Version::V31,
        0..5 => Version::V311,
        _ => Version::V5,
    };
    let named = Version::from_level(level).filter(|version| (*version == Version::V31) == is_v31);
    match named {
        Some(version) if !(is_bridge && version.has_properties()) => Ok(Level { version, is_bridge }),
        _ => Err(unsupported(Some(answer), at)),
    }
}

const fn unsupported(connect: Option<Version>, at: usize) -> ProtocolError {
    let what = "a protocol name or level that is not MQTT 3.1, 3.1.1 or 5.0";
    ProtocolError { connect, ..ProtocolError::new(ReasonCode::UnsupportedProtocolVersion, what, at) }
}

/// Judges what is there of a CONNECT's body, which begins at `at`: name, level and flags, byte by byte.
pub(crate) fn check_beginning(body: &[u8], at: usize) -> Result<(), ProtocolError> {
    // Each name behind its length.
    const NAMES: [(&[u8], bool); 2] = [(b"\0\x04MQTT", false), (b"\0\x06MQIsdp", true)];
    let is_possible = |(name, _): &(&[u8], bool)| body.starts_with(name) || name.starts_with(body);
    let Some((name, is_v31)) = NAMES.into_iter().find(is_possible) else { return Err(unsupported(None, at)) };
    let Some((&level, rest)) = body.get(name.len()..).and_then(<[u8]>::split_first) else { return Ok(()) };
    let Level { version, .. } = level_of(level, is_v31, at)?;
    let Some(&flags) = rest.first() else { return Ok(()) };
    match check_flags(flags, version, at + name.len() + 1) {
        Ok(_) => Ok(()),
        Err(error) => Err(ProtocolError { connect: Some(version), ..error }),
    }
}

/// Checks the connect flags (section 3.1.2.3 and after); returns the QoS of the will.
fn check_flags(flags: u8, version: Version, at: usize) -> Result<QoS, ProtocolError> {
    let malformed = |what| Err(ProtocolError::malformed(what, at));
    if flags & RESERVED != 0 {
        return malformed("the reserved connect flag is set");
    }
    if flags & WILL == 0 && flags & (WILL_QOS | WILL_RETAIN) != 0 {
        return malformed("will flags without a will");
    }
    if !version.has_properties() && flags & PASSWORD != 0 && flags & USERNAME == 0 {
        return malformed("a password without a user name");
    }
    match QoS::from_u8((flags & WILL_QOS) >> WILL_QOS_SHIFT) {
        Some(qos) => Ok(qos),
        None => malformed("a will with QoS 3"),
    }
}

impl Body for Connect<'_> {
    fn write(&self, _version: Version, sink: &mut impl Sink) {
        sink.field("protocol name", self.version.protocol_name().as_bytes());
        sink.u8(self.version.level() | if self.is_bridge { BRIDGE } else { 0 });
        sink.u8(self.flags());
        sink.u16(self.keep_alive_s);
        if self.version.has_properties() {
            sink.section(&self.properties);
        }
        sink.field("client identifier", self.client_id.as_bytes());
        if let Some(will) = &self.will {
            will.write(self.version, sink);
        }
        if let Some(username) = self.username {
            sink.field("user name", username.as_bytes());
        }
        if let Some(password) = self.password {
            sink.field("password", password);
        }
    }
}

impl<'a> ConnectProperties<'a> {
    fn decode(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, ProtocolError> {
        let mut section = Properties::open(reader, CONNECT, limits)?;
        let mut properties = ConnectProperties::default();
        while let Some(property) = section.next()? {
            properties.set(property);
        }
        section.check_auth()?;
        properties.user = section.user();
        Ok(properties)
    }

    fn set(&mut self, property: Property<'a>) {
        match (property.id, property.value) {
            (SESSION_EXPIRY_INTERVAL, Value::U32(seconds)) => self.session_expiry_s = seconds,
            (RECEIVE_MAXIMUM, Value::U16(messages)) => self.receive_max = messages,
            (MAXIMUM_PACKET_SIZE, Value::U32(bytes)) => self.packet_bytes_max = Some(bytes),
            (TOPIC_ALIAS_MAXIMUM, Value::U16(aliases)) => self.topic_alias_max = aliases,
            (REQUEST_RESPONSE_INFORMATION, Value::Flag(wanted)) => self.request_response_information = wanted,
            (REQUEST_PROBLEM_INFORMATION, Value::Flag(wanted)) => self.request_problem_information = wanted,
            (AUTHENTICATION_METHOD, Value::Text(method)) => self.auth_method = Some(method),
            (AUTHENTICATION_DATA, Value::Binary(data)) => self.auth_data = Some(data),
            _ => {}
        }
    }
}

impl Section for ConnectProperties<'_> {
    fn write(&self, sink: &mut impl Sink) {
        sink.u32_property(SESSION_EXPIRY_INTERVAL, (self.session_expiry_s != 0).then_some(self.session_expiry_s));
        sink.u16_property(RECEIVE_MAXIMUM, (self.receive_max != u16::MAX).then_some(self.receive_max));
        sink.u32_property(MAXIMUM_PACKET_SIZE, self.packet_bytes_max);
        sink.u16_property(TOPIC_ALIAS_MAXIMUM, (self.topic_alias_max != 0).then_some(self.topic_alias_max));
        sink.flag_property(REQUEST_RESPONSE_INFORMATION, self.request_response_information.then_some(true));
        sink.flag_property(REQUEST_PROBLEM_INFORMATION, (!self.request_problem_information).then_some(false));
        sink.user_properties(&self.user);
        sink.text_property(AUTHENTICATION_METHOD, "authentication method", self.auth_method);
        sink.binary_property(AUTHENTICATION_DATA, "authentication data", self.auth_data);
    }
}
