//! A reader of bytes from a peer.

use crate::bounds::NUMBER_MAX;
use crate::{Fault, FaultKind};

/// A frame or a run of records, and where the next field of it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Reads `bytes` from `at` on, which is at most their length.
    pub(crate) const fn new(bytes: &'a [u8], at: usize) -> Self {
        Input { bytes, at }
    }

    /// Bytes not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// What was read since `start`, which is an earlier state of this reader.
    pub(crate) fn since(&self, start: &Self) -> &'a [u8] {
        &self.bytes[start.at..self.at]
    }

    /// A fault at the next byte.
    #[cold]
    pub(crate) const fn fault(&self, kind: FaultKind, what: &'static str) -> Fault {
        Fault::new(kind, what, self.at)
    }

    /// The next field says what no encoder writes.
    #[cold]
    pub(crate) const fn malformed(&self, what: &'static str) -> Fault {
        self.fault(FaultKind::Malformed, what)
    }

    /// The next `count` bytes; `what` names the field.
    #[inline]
    pub(crate) fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], Fault> {
        let taken = self.rest().get(..count).ok_or(self.fault(FaultKind::CutShort, what))?;
        self.at += count;
        Ok(taken)
    }

    /// The same as an array.
    #[inline]
    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Fault> {
        let taken = *self.rest().first_chunk().ok_or(self.fault(FaultKind::CutShort, what))?;
        self.at += N;
        Ok(taken)
    }

    /// All that is left.
    pub(crate) fn all(&mut self) -> &'a [u8] {
        let rest = self.rest();
        self.at = self.bytes.len();
        rest
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, Fault> {
        self.array(what).map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, Fault> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, Fault> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// Any 64 bits.
    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, Fault> {
        self.array(what).map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self, what: &'static str) -> Result<i64, Fault> {
        self.array(what).map(i64::from_le_bytes)
    }

    /// A term, an index, a sequence, an amount: nothing that a log does not come to.
    pub(crate) fn number(&mut self, what: &'static str) -> Result<u64, Fault> {
        let here = *self;
        match self.u64(what)? {
            number if number <= NUMBER_MAX => Ok(number),
            number => Err(here.fault(FaultKind::Number, what).with(number)),
        }
    }

    /// Bytes that nobody uses yet.
    pub(crate) fn zeros<const N: usize>(&mut self) -> Result<(), Fault> {
        let here = *self;
        match self.array::<N>("bytes that are zero")? {
            bytes if bytes == [0; N] => Ok(()),
            _ => Err(here.malformed("bytes that are not zero")),
        }
    }

    /// A length of two bytes, `max` at most.
    pub(crate) fn len(&mut self, max: usize, what: &'static str) -> Result<usize, Fault> {
        let here = *self;
        match usize::from(self.u16(what)?) {
            len if len <= max => Ok(len),
            len => Err(here.fault(FaultKind::TooLong, what).with(len as u64)),
        }
    }

    /// A length of two bytes, `bytes_max` at most, and a text of visible ASCII, without spaces: it is shown as it is.
    pub(crate) fn text(&mut self, bytes_max: usize, what: &'static str) -> Result<&'a str, Fault> {
        let len = self.len(bytes_max, what)?;
        self.ascii(len, what, u8::is_ascii_graphic)
    }

    /// The same with spaces.
    pub(crate) fn words(&mut self, bytes_max: usize, what: &'static str) -> Result<&'a str, Fault> {
        let len = self.len(bytes_max, what)?;
        self.ascii(len, what, |byte| byte.is_ascii_graphic() || *byte == b' ')
    }

    fn ascii(&mut self, len: usize, what: &'static str, is_good: impl Fn(&u8) -> bool) -> Result<&'a str, Fault> {
        let here = *self;
        let bytes = self.bytes(len, what)?;
        let text = std::str::from_utf8(bytes).ok().filter(|_| bytes.iter().all(is_good));
        text.ok_or(here.malformed(what))
    }

    /// Nothing may follow.
    pub(crate) fn end(&self) -> Result<(), Fault> {
        if self.rest().is_empty() {
            return Ok(());
        }
        Err(self.fault(FaultKind::TrailingBytes, "bytes behind the last field"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Result<&str, (FaultKind, usize)> {
        Input::new(bytes, 0).text(3, "x").map_err(|fault| (fault.kind, fault.at))
    }

    /// Is a length believed only when it is within its bound and the bytes are there?
    #[test]
    fn lengths_are_checked_before_they_are_used() {
        assert_eq!(text(b"\x03\x00abcd"), Ok("abc"));
        assert_eq!(text(b"\x04\x00abcd"), Err((FaultKind::TooLong, 0)));
        assert_eq!(text(b"\x03\x00ab"), Err((FaultKind::CutShort, 2)));
        assert_eq!(text(b"\x03"), Err((FaultKind::CutShort, 0)));
        for byte in [b' ', 0, 0x1B, 0x7F, 0x80, 0xFF] {
            assert_eq!(text(&[1, 0, byte]), Err((FaultKind::Malformed, 2)), "{byte:#x}");
        }
    }

    #[test]
    fn numbers_have_an_end() {
        let number = |value: u64| Input::new(&value.to_le_bytes(), 0).number("x");
        assert_eq!(number(NUMBER_MAX), Ok(NUMBER_MAX));
        let fault = number(NUMBER_MAX + 1).unwrap_err();
        assert_eq!((fault.kind, fault.found), (FaultKind::Number, Some(NUMBER_MAX + 1)));
    }
}
