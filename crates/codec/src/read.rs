//! A cursor over one whole packet; every read is checked, every error knows its offset.

use crate::varint::{self, Varint};
use crate::{PacketId, ProtocolError, text};

const ENDS_EARLY: &str = "a field that runs past the end of its packet or section";

/// Reads fields from `bytes[at..]`, where `bytes` is the packet from its first byte.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// `at` is at most `packet.len()`.
    #[inline]
    pub(crate) fn new(packet: &'a [u8], at: usize) -> Self {
        debug_assert!(at <= packet.len());
        Reader { bytes: packet, at }
    }

    /// Offset of the next byte from the start of the packet.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The bytes of the packet between two offsets that the reader has passed.
    #[inline]
    pub(crate) fn passed(&self, from: usize, to: usize) -> &'a [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], ProtocolError> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..len)) {
            Some(field) => {
                self.at += len;
                Ok(field)
            }
            None => Err(self.malformed(ENDS_EARLY)),
        }
    }

    /// Everything that is left.
    #[inline]
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at = self.bytes.len();
        rest
    }

    /// Splits the next `len` bytes off as a reader of their own that keeps counting offsets from the packet's start.
    #[inline]
    pub(crate) fn section(&mut self, len: usize) -> Result<Reader<'a>, ProtocolError> {
        let start = self.at;
        self.take(len)?;
        Ok(Reader { bytes: self.passed(0, start + len), at: start })
    }

    /// Nothing may be left.
    #[inline]
    pub(crate) fn finish(&self) -> Result<(), ProtocolError> {
        if self.is_empty() { Ok(()) } else { Err(self.malformed("bytes after the end of the packet's content")) }
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, ProtocolError> {
        match self.bytes.get(self.at) {
            Some(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            None => Err(self.malformed(ENDS_EARLY)),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtocolError> {
        match self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>()) {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.malformed(ENDS_EARLY)),
        }
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Result<u16, ProtocolError> {
        self.array().map(u16::from_be_bytes)
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32, ProtocolError> {
        self.array().map(u32::from_be_bytes)
    }

    /// A variable byte integer of 5.0, which must have its shortest form [MQTT-1.5.5-1].
    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u32, ProtocolError> {
        match varint::decode(self.bytes.get(self.at..).unwrap_or_default()) {
            Varint::Value { value, len, minimal: true } => {
                self.at += len;
                Ok(value)
            }
            Varint::Value { .. } => Err(self.malformed("a variable byte integer that is longer than it needs to be")),
            Varint::Incomplete => Err(self.malformed(ENDS_EARLY)),
            Varint::TooLong => Err(self.malformed("a variable byte integer of more than four bytes")),
        }
    }

    /// Binary data: two bytes of length, then as many bytes.
    #[inline]
    pub(crate) fn binary(&mut self) -> Result<&'a [u8], ProtocolError> {
        let len = self.u16()?;
        self.take(usize::from(len))
    }

    /// A UTF-8 encoded string.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<&'a str, ProtocolError> {
        let at = self.at;
        text::from_bytes(self.binary()?).map_err(|error| ProtocolError::malformed(error.what(), at))
    }

    #[inline]
    pub(crate) fn packet_id(&mut self) -> Result<PacketId, ProtocolError> {
        let at = self.at;
        PacketId::new(self.u16()?).ok_or(ProtocolError::protocol("a packet identifier of zero", at))
    }

    #[cold]
    fn malformed(&self, what: &'static str) -> ProtocolError {
        ProtocolError::malformed(what, self.at)
    }
}
