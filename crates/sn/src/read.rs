//! A cursor over one whole message; every read is checked, every error knows its offset.

use lapwing_codec::PacketId;

use crate::{DecodeError, Reason, ReturnCode};

/// Reads fields from `bytes[at..]`, where `bytes` is the datagram from its first byte.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// `at` is at most `datagram.len()`.
    #[inline]
    pub(crate) fn new(datagram: &'a [u8], at: usize) -> Self {
        debug_assert!(at <= datagram.len());
        Reader { bytes: datagram, at }
    }

    /// Offset of the next byte from the start of the datagram.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Everything that is left.
    #[inline]
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at = self.bytes.len();
        rest
    }

    /// Nothing may be left.
    #[inline]
    pub(crate) fn finish(&self) -> Result<(), DecodeError> {
        if self.is_empty() {
            return Ok(());
        }
        Err(DecodeError::new(Reason::TrailingBytes, "bytes after the last field of the message", self.at))
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, DecodeError> {
        let Some(&byte) = self.bytes.get(self.at) else { return Err(self.cut_short()) };
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Result<u16, DecodeError> {
        let field = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<2>());
        let Some(&bytes) = field else { return Err(self.cut_short()) };
        self.at += 2;
        Ok(u16::from_be_bytes(bytes))
    }

    /// A message id that something is answered by.
    #[inline]
    pub(crate) fn msg_id(&mut self) -> Result<PacketId, DecodeError> {
        let at = self.at;
        PacketId::new(self.u16()?).ok_or(DecodeError::malformed("a message id of zero", at))
    }

    #[inline]
    pub(crate) fn return_code(&mut self) -> Result<ReturnCode, DecodeError> {
        self.u8().map(ReturnCode::from_u8)
    }

    #[cold]
    fn cut_short(&self) -> DecodeError {
        DecodeError::new(Reason::CutShort, "a field that runs past the end of its message", self.bytes.len())
    }
}
