//! The fixed header: packet type, flags, Remaining Length (section 2.1).

use crate::varint::{self, Varint};
use crate::{Limits, ProtocolError, ReasonCode, Version};

/// Packet types by their numbers in the first byte.
pub(crate) mod kind {
    pub(crate) const CONNECT: u8 = 1;
    pub(crate) const CONNACK: u8 = 2;
    pub(crate) const PUBLISH: u8 = 3;
    pub(crate) const PUBACK: u8 = 4;
    pub(crate) const PUBREC: u8 = 5;
    pub(crate) const PUBREL: u8 = 6;
    pub(crate) const PUBCOMP: u8 = 7;
    pub(crate) const SUBSCRIBE: u8 = 8;
    pub(crate) const SUBACK: u8 = 9;
    pub(crate) const UNSUBSCRIBE: u8 = 10;
    pub(crate) const UNSUBACK: u8 = 11;
    pub(crate) const PINGREQ: u8 = 12;
    pub(crate) const PINGRESP: u8 = 13;
    pub(crate) const DISCONNECT: u8 = 14;
    pub(crate) const AUTH: u8 = 15;
}

/// A fixed header that is whole and within the limits; the packet itself may not be whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FixedHeader {
    /// The first byte: type in the upper half, flags in the lower.
    pub(crate) first: u8,
    /// Bytes of the header: 2..=5.
    pub(crate) header_len: usize,
    /// Bytes of the whole packet.
    pub(crate) packet_len: usize,
    /// Remaining Length has its shortest form, which 5.0 demands.
    pub(crate) minimal: bool,
}

impl FixedHeader {
    /// Reads the header at the start of `bytes`; `Ok(None)` when it is not whole.
    #[inline]
    pub(crate) fn read(bytes: &[u8], version: Version, limits: &Limits) -> Result<Option<Self>, ProtocolError> {
        let Some((&first, rest)) = bytes.split_first() else { return Ok(None) };
        check_first(first, version)?;
        let (value, header_len, minimal) = match varint::decode(rest) {
            Varint::Value { value, len, minimal } => (value, 1 + len, minimal),
            Varint::Incomplete => return Ok(None),
            Varint::TooLong => return Err(ProtocolError::malformed("a Remaining Length of more than four bytes", 1)),
        };
        let packet_len = header_len + value as usize;
        if packet_len > limits.packet_bytes_max as usize {
            return Err(ProtocolError::new(ReasonCode::PacketTooLarge, "a packet that is larger than the limit", 1));
        }
        Ok(Some(FixedHeader { first, header_len, packet_len, minimal }))
    }

    /// The packet type.
    #[inline]
    pub(crate) const fn kind(&self) -> u8 {
        self.first >> 4
    }

    /// Refuses the longer forms of Remaining Length in 5.0 [MQTT-1.5.5-1]; 3.1.1 does not forbid them.
    #[inline]
    pub(crate) fn check_minimal(&self, version: Version) -> Result<(), ProtocolError> {
        if self.minimal || !version.has_properties() {
            return Ok(());
        }
        Err(ProtocolError::malformed("a Remaining Length that is longer than it needs to be", 1))
    }
}

/// Type and flags: reserved ones must be as section 2.1.3 says [MQTT-2.1.3-1].
#[inline]
fn check_first(first: u8, version: Version) -> Result<(), ProtocolError> {
    if first >> 4 == kind::PUBLISH { check_publish_flags(first) } else { check_reserved_flags(first, version) }
}

#[inline]
fn check_publish_flags(first: u8) -> Result<(), ProtocolError> {
    match first & 0b1110 {
        0b0110 | 0b1110 => Err(ProtocolError::malformed("a PUBLISH with QoS 3", 0)),
        0b1000 => Err(ProtocolError::malformed("a PUBLISH with DUP and QoS 0", 0)),
        _ => Ok(()),
    }
}

fn check_reserved_flags(first: u8, version: Version) -> Result<(), ProtocolError> {
    let expected = match first >> 4 {
        0 => return Err(ProtocolError::malformed("a packet of the reserved type 0", 0)),
        kind::AUTH if !version.has_properties() => {
            return Err(ProtocolError::malformed("a packet of type 15, which 3.1.1 reserves", 0));
        }
        kind::PUBREL | kind::SUBSCRIBE | kind::UNSUBSCRIBE => 0b0010,
        _ => 0,
    };
    // 3.1 sets DUP on these three when they are sent again.
    let free = if version == Version::V31 && expected != 0 { 0b1000 } else { 0 };
    if first & 0x0F & !free == expected {
        return Ok(());
    }
    Err(ProtocolError::malformed("reserved flags that are wrong", 0))
}

/// Length of the packet at the start of `bytes` as its fixed header announces it, in bytes; `None` when the header is not
/// whole or not valid. Says how much to read after [`crate::decode`] answered `Ok(None)`.
pub fn announced_len(bytes: &[u8]) -> Option<usize> {
    match varint::decode(bytes.get(1..)?) {
        Varint::Value { value, len, .. } => Some(1 + len + value as usize),
        Varint::Incomplete | Varint::TooLong => None,
    }
}
