//! Properties of MQTT 5.0, section 2.2.2: identifiers, where each may stand, and the reader of a section.

use crate::owner::{self, *};
use crate::read::Reader;
use crate::{Limits, ProtocolError, ReasonCode, SubscriptionId, UserProperties};

pub(crate) const PAYLOAD_FORMAT_INDICATOR: u8 = 0x01;
pub(crate) const MESSAGE_EXPIRY_INTERVAL: u8 = 0x02;
pub(crate) const CONTENT_TYPE: u8 = 0x03;
pub(crate) const RESPONSE_TOPIC: u8 = 0x08;
pub(crate) const CORRELATION_DATA: u8 = 0x09;
pub(crate) const SUBSCRIPTION_IDENTIFIER: u8 = 0x0B;
pub(crate) const SESSION_EXPIRY_INTERVAL: u8 = 0x11;
pub(crate) const ASSIGNED_CLIENT_IDENTIFIER: u8 = 0x12;
pub(crate) const SERVER_KEEP_ALIVE: u8 = 0x13;
pub(crate) const AUTHENTICATION_METHOD: u8 = 0x15;
pub(crate) const AUTHENTICATION_DATA: u8 = 0x16;
pub(crate) const REQUEST_PROBLEM_INFORMATION: u8 = 0x17;
pub(crate) const WILL_DELAY_INTERVAL: u8 = 0x18;
pub(crate) const REQUEST_RESPONSE_INFORMATION: u8 = 0x19;
pub(crate) const RESPONSE_INFORMATION: u8 = 0x1A;
pub(crate) const SERVER_REFERENCE: u8 = 0x1C;
pub(crate) const REASON_STRING: u8 = 0x1F;
pub(crate) const RECEIVE_MAXIMUM: u8 = 0x21;
pub(crate) const TOPIC_ALIAS_MAXIMUM: u8 = 0x22;
pub(crate) const TOPIC_ALIAS: u8 = 0x23;
pub(crate) const MAXIMUM_QOS: u8 = 0x24;
pub(crate) const RETAIN_AVAILABLE: u8 = 0x25;
pub(crate) const USER_PROPERTY: u8 = 0x26;
pub(crate) const MAXIMUM_PACKET_SIZE: u8 = 0x27;
pub(crate) const WILDCARD_SUBSCRIPTION_AVAILABLE: u8 = 0x28;
pub(crate) const SUBSCRIPTION_IDENTIFIERS_AVAILABLE: u8 = 0x29;
pub(crate) const SHARED_SUBSCRIPTION_AVAILABLE: u8 = 0x2A;

/// The packets in which a property may stand; empty for an identifier that does not exist.
const fn owners(id: u8) -> Owners {
    match id {
        PAYLOAD_FORMAT_INDICATOR | MESSAGE_EXPIRY_INTERVAL | CONTENT_TYPE => PUBLISH | WILL,
        RESPONSE_TOPIC | CORRELATION_DATA => PUBLISH | WILL,
        SUBSCRIPTION_IDENTIFIER => PUBLISH | SUBSCRIBE,
        SESSION_EXPIRY_INTERVAL => CONNECT | CONNACK | DISCONNECT,
        ASSIGNED_CLIENT_IDENTIFIER | SERVER_KEEP_ALIVE | RESPONSE_INFORMATION => CONNACK,
        AUTHENTICATION_METHOD | AUTHENTICATION_DATA => CONNECT | CONNACK | AUTH,
        REQUEST_PROBLEM_INFORMATION | REQUEST_RESPONSE_INFORMATION => CONNECT,
        WILL_DELAY_INTERVAL => WILL,
        SERVER_REFERENCE => CONNACK | DISCONNECT,
        REASON_STRING => CONNACK | owner::ACKS | SUBACK | UNSUBACK | DISCONNECT | AUTH,
        RECEIVE_MAXIMUM | TOPIC_ALIAS_MAXIMUM | MAXIMUM_PACKET_SIZE => CONNECT | CONNACK,
        TOPIC_ALIAS => PUBLISH,
        MAXIMUM_QOS | RETAIN_AVAILABLE | WILDCARD_SUBSCRIPTION_AVAILABLE => CONNACK,
        SUBSCRIPTION_IDENTIFIERS_AVAILABLE | SHARED_SUBSCRIPTION_AVAILABLE => CONNACK,
        USER_PROPERTY => Owners::MAX,
        _ => 0,
    }
}

/// The value of a property, checked; its identifier says what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Property<'a> {
    pub(crate) id: u8,
    pub(crate) value: Value<'a>,
}

/// One of the data types of section 2.2.2.2, already in range for its identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Flag(bool),
    U16(u16),
    U32(u32),
    SubscriptionId(SubscriptionId),
    Text(&'a str),
    Binary(&'a [u8]),
}

/// Reads one property section: legality, multiplicity and ranges are checked here, user properties gathered here.
pub(crate) struct Properties<'a> {
    reader: Reader<'a>,
    owner: Owners,
    user_properties_max: u16,
    /// Bit N: identifier N was there. All identifiers are below 64.
    seen: u64,
    user_from: usize,
    user_to: usize,
    user_len: usize,
    user_count: u16,
}

impl<'a> Properties<'a> {
    /// Opens the section (its length first) at the reader and moves the reader behind it.
    #[inline]
    pub(crate) fn open(reader: &mut Reader<'a>, owner: Owners, limits: &Limits) -> Result<Self, ProtocolError> {
        let len = reader.varint()?;
        let reader = reader.section(len as usize)?;
        let user_properties_max = limits.user_properties_max;
        Ok(Properties {
            reader,
            owner,
            user_properties_max,
            seen: 0,
            user_from: 0,
            user_to: 0,
            user_len: 0,
            user_count: 0,
        })
    }

    /// The next property that is not a user property.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Property<'a>>, ProtocolError> {
        while !self.reader.is_empty() {
            let at = self.reader.at();
            let id = self.reader.u8()?;
            if owners(id) & self.owner == 0 {
                return Err(ProtocolError::malformed("a property that does not belong in this packet", at));
            }
            if id == USER_PROPERTY {
                self.gather_user_property(at)?;
            } else {
                self.count(id, at)?;
                return Ok(Some(Property { id, value: read_value(&mut self.reader, id)? }));
            }
        }
        Ok(None)
    }

    /// Offset of the section's first byte, or of the next property.
    pub(crate) fn at(&self) -> usize {
        self.reader.at()
    }

    /// The part of the section that was read since `from`.
    pub(crate) fn raw_since(&self, from: usize) -> &'a [u8] {
        self.reader.passed(from, self.reader.at())
    }

    /// Whether a property was there.
    pub(crate) fn has(&self, id: u8) -> bool {
        self.seen & (1 << id) != 0
    }

    /// The user properties that were passed.
    #[inline]
    pub(crate) fn user(&self) -> UserProperties<'a> {
        let raw = self.reader.passed(self.user_from, self.user_to);
        UserProperties::from_validated(raw, self.user_len as u32, self.user_count)
    }

    /// Authentication Data without a method is refused, in every packet that may carry it.
    pub(crate) fn check_auth(&self) -> Result<(), ProtocolError> {
        if self.has(AUTHENTICATION_DATA) && !self.has(AUTHENTICATION_METHOD) {
            return Err(ProtocolError::protocol("authentication data without a method", self.at()));
        }
        Ok(())
    }

    /// Each property stands once; only a PUBLISH may have several subscription identifiers.
    #[inline]
    fn count(&mut self, id: u8, at: usize) -> Result<(), ProtocolError> {
        let repeatable = id == SUBSCRIPTION_IDENTIFIER && self.owner == PUBLISH;
        if self.has(id) && !repeatable {
            return Err(ProtocolError::protocol("a property that stands twice", at));
        }
        self.seen |= 1 << id;
        Ok(())
    }

    #[inline]
    fn gather_user_property(&mut self, at: usize) -> Result<(), ProtocolError> {
        self.reader.string()?;
        self.reader.string()?;
        if self.user_count >= self.user_properties_max {
            return Err(ProtocolError::new(ReasonCode::QuotaExceeded, "more user properties than the limit", at));
        }
        if self.user_count == 0 {
            self.user_from = at;
        }
        self.user_to = self.reader.at();
        self.user_len += self.user_to - at;
        self.user_count += 1;
        Ok(())
    }
}

fn read_value<'a>(reader: &mut Reader<'a>, id: u8) -> Result<Value<'a>, ProtocolError> {
    let at = reader.at();
    match id {
        RESPONSE_TOPIC => response_topic(reader.string()?, at),
        CONTENT_TYPE | ASSIGNED_CLIENT_IDENTIFIER | AUTHENTICATION_METHOD | RESPONSE_INFORMATION => {
            reader.string().map(Value::Text)
        }
        SERVER_REFERENCE | REASON_STRING => reader.string().map(Value::Text),
        CORRELATION_DATA | AUTHENTICATION_DATA => reader.binary().map(Value::Binary),
        MESSAGE_EXPIRY_INTERVAL | SESSION_EXPIRY_INTERVAL | WILL_DELAY_INTERVAL => reader.u32().map(Value::U32),
        MAXIMUM_PACKET_SIZE => match reader.u32()? {
            0 => Err(ProtocolError::protocol("a maximum packet size of zero", at)),
            bytes => Ok(Value::U32(bytes)),
        },
        SERVER_KEEP_ALIVE | TOPIC_ALIAS_MAXIMUM => reader.u16().map(Value::U16),
        RECEIVE_MAXIMUM => match reader.u16()? {
            0 => Err(ProtocolError::protocol("a receive maximum of zero", at)),
            messages => Ok(Value::U16(messages)),
        },
        TOPIC_ALIAS => match reader.u16()? {
            0 => Err(ProtocolError::new(ReasonCode::TopicAliasInvalid, "a topic alias of zero", at)),
            alias => Ok(Value::U16(alias)),
        },
        SUBSCRIPTION_IDENTIFIER => match SubscriptionId::new(reader.varint()?) {
            Some(id) => Ok(Value::SubscriptionId(id)),
            None => Err(ProtocolError::protocol("a subscription identifier of zero", at)),
        },
        _ => match reader.u8()? {
            byte @ (0 | 1) => Ok(Value::Flag(byte == 1)),
            _ => Err(ProtocolError::protocol("a property that must be 0 or 1 and is neither", at)),
        },
    }
}

/// A response topic is a topic name: not empty, no wildcards [MQTT-3.3.2-14].
fn response_topic(topic: &str, at: usize) -> Result<Value<'_>, ProtocolError> {
    if topic.is_empty() || topic.contains(['+', '#']) {
        return Err(ProtocolError::protocol("a response topic that is empty or has a wildcard", at));
    }
    Ok(Value::Text(topic))
}

/// Splits the first property off validated bytes: (identifier, value, rest).
pub(crate) fn split_validated(raw: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&id, rest) = raw.split_first()?;
    let len = match id {
        USER_PROPERTY => {
            let name = string_len(rest)?;
            name + string_len(rest.get(name..)?)?
        }
        SUBSCRIPTION_IDENTIFIER => 1 + rest.iter().position(|byte| byte & 0x80 == 0)?,
        SERVER_KEEP_ALIVE | RECEIVE_MAXIMUM | TOPIC_ALIAS_MAXIMUM | TOPIC_ALIAS => 2,
        MESSAGE_EXPIRY_INTERVAL | SESSION_EXPIRY_INTERVAL | WILL_DELAY_INTERVAL | MAXIMUM_PACKET_SIZE => 4,
        CONTENT_TYPE | RESPONSE_TOPIC | CORRELATION_DATA | ASSIGNED_CLIENT_IDENTIFIER => string_len(rest)?,
        AUTHENTICATION_METHOD | AUTHENTICATION_DATA | RESPONSE_INFORMATION => string_len(rest)?,
        SERVER_REFERENCE | REASON_STRING => string_len(rest)?,
        _ => 1,
    };
    let (value, rest) = rest.split_at_checked(len)?;
    Some((id, value, rest))
}

/// Splits the value of a validated user property into name and value.
pub(crate) fn split_pair_validated(pair: &[u8]) -> Option<(&str, &str)> {
    let (name, value) = pair.split_at_checked(string_len(pair)?)?;
    Some((std::str::from_utf8(name.get(2..)?).ok()?, std::str::from_utf8(value.get(2..)?).ok()?))
}

/// Bytes of the length-prefixed field at the start, its two bytes of length included.
fn string_len(bytes: &[u8]) -> Option<usize> {
    let (len, _) = bytes.split_first_chunk::<2>()?;
    Some(2 + usize::from(u16::from_be_bytes(*len)))
}
