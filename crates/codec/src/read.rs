//! A cursor over one whole packet, or over one message of a neighbour protocol; every read is checked, every error knows its
//! offset.

use std::marker::PhantomData;

use crate::varint::{self, Varint};
use crate::{PacketId, ProtocolError, text};

/// The cursor of this room.
pub(crate) type Reader<'a> = FieldReader<'a, ProtocolError>;

/// What a protocol says of bytes that do not hold what they should. Offsets are from the first byte of the packet.
pub trait ReadError: Sized {
    /// The field at `at` runs past `end`, where the bytes end.
    fn cut_short(at: usize, end: usize) -> Self;
    /// There are bytes behind the last field, from `at` on.
    fn trailing_bytes(at: usize) -> Self;
    /// The identifier at `at` is zero.
    fn zero_id(at: usize) -> Self;
}

impl ReadError for ProtocolError {
    #[cold]
    fn cut_short(at: usize, _end: usize) -> Self {
        ProtocolError::malformed("a field that runs past the end of its packet or section", at)
    }

    #[cold]
    fn trailing_bytes(at: usize) -> Self {
        ProtocolError::malformed("bytes after the end of the packet's content", at)
    }

    #[cold]
    fn zero_id(at: usize) -> Self {
        ProtocolError::protocol("a packet identifier of zero", at)
    }
}

/// Reads fields from `bytes[at..]`, where `bytes` is the packet from its first byte.
#[derive(Clone, Debug)]
pub struct FieldReader<'a, E> {
    bytes: &'a [u8],
    at: usize,
    error: PhantomData<fn() -> E>,
}

impl<'a, E: ReadError> FieldReader<'a, E> {
    /// `at` is at most `packet.len()`.
    #[inline]
    pub fn new(packet: &'a [u8], at: usize) -> Self {
        debug_assert!(at <= packet.len());
        FieldReader { bytes: packet, at, error: PhantomData }
    }

    /// Offset of the next byte from the start of the packet.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Whether nothing is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Everything that is left.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at = self.bytes.len();
        rest
    }

    /// Nothing may be left.
    ///
    /// # Errors
    /// Something is.
    #[inline]
    pub fn finish(&self) -> Result<(), E> {
        if self.is_empty() { Ok(()) } else { Err(E::trailing_bytes(self.at)) }
    }

    /// One byte.
    ///
    /// # Errors
    /// None is left.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, E> {
        match self.bytes.get(self.at) {
            Some(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            None => Err(self.cut_short()),
        }
    }

    /// Two bytes, the higher one first.
    ///
    /// # Errors
    /// Less is left.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, E> {
        self.array().map(u16::from_be_bytes)
    }

    /// What one packet is answered by.
    ///
    /// # Errors
    /// Less is left, or it is zero.
    #[inline]
    pub fn packet_id(&mut self) -> Result<PacketId, E> {
        let at = self.at;
        PacketId::new(self.u16()?).ok_or_else(|| E::zero_id(at))
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], E> {
        match self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>()) {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.cut_short()),
        }
    }

    #[cold]
    fn cut_short(&self) -> E {
        E::cut_short(self.at, self.bytes.len())
    }
}

impl<'a> Reader<'a> {
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
            None => Err(self.cut_short()),
        }
    }

    /// Splits the next `len` bytes off as a reader of their own that keeps counting offsets from the packet's start.
    #[inline]
    pub(crate) fn section(&mut self, len: usize) -> Result<Reader<'a>, ProtocolError> {
        let start = self.at;
        self.take(len)?;
        Ok(Reader::new(self.passed(0, start + len), start))
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
            Varint::Incomplete => Err(self.cut_short()),
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

    #[cold]
    fn malformed(&self, what: &'static str) -> ProtocolError {
        ProtocolError::malformed(what, self.at)
    }
}
