//! A reader of bytes from outside.

use super::varint;
use crate::Fault;
use crate::bounds::TEXT_BYTES_MAX;

/// What is left to read, and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Input { bytes, at: 0 }
    }

    /// The place of the next byte.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Bytes not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// A fault at the next byte.
    pub(crate) const fn fault(&self, what: &'static str) -> Fault {
        Fault::Malformed { at: self.at, what }
    }

    #[inline]
    pub(crate) fn byte(&mut self, what: &'static str) -> Result<u8, Fault> {
        let byte = *self.bytes.get(self.at).ok_or(self.fault(what))?;
        self.at += 1;
        Ok(byte)
    }

    /// A byte of flags, of which only those in `known` may be set.
    pub(crate) fn flags(&mut self, known: u8) -> Result<u8, Fault> {
        let here = *self;
        let flags = self.byte("the flags are cut off")?;
        if flags & !known == 0 { Ok(flags) } else { Err(here.fault("flags that no encoder sets")) }
    }

    #[inline]
    pub(crate) fn number(&mut self, what: &'static str) -> Result<u64, Fault> {
        let (value, length) = varint::get(self.rest()).ok_or(self.fault(what))?;
        self.at += length;
        Ok(value)
    }

    #[inline]
    pub(crate) fn number_u32(&mut self, what: &'static str) -> Result<u32, Fault> {
        let here = *self;
        u32::try_from(self.number(what)?).map_err(|_| here.fault(what))
    }

    #[inline]
    pub(crate) fn number_u16(&mut self, what: &'static str) -> Result<u16, Fault> {
        let here = *self;
        u16::try_from(self.number(what)?).map_err(|_| here.fault(what))
    }

    /// The number of items of a list: each takes a byte at least, so that no more are claimed than there can be.
    pub(crate) fn count(&mut self, what: &'static str) -> Result<usize, Fault> {
        let here = *self;
        let count = self.number(what)?;
        usize::try_from(count).ok().filter(|count| *count <= self.rest().len()).ok_or(here.fault(what))
    }

    pub(crate) fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], Fault> {
        let taken = self.rest().get(..count).ok_or(self.fault(what))?;
        self.at += count;
        Ok(taken)
    }

    /// A length and so many bytes, `bytes_max` at most.
    pub(crate) fn bytes(&mut self, bytes_max: usize, what: &'static str) -> Result<&'a [u8], Fault> {
        let bytes = self.number(what)?;
        match usize::try_from(bytes) {
            Ok(count) if count <= bytes_max => self.take(count, what),
            _ => Err(Fault::TooLong { what, bytes, bytes_max: bytes_max as u64 }),
        }
    }

    pub(crate) fn text(&mut self, what: &'static str) -> Result<&'a str, Fault> {
        let here = *self;
        let bytes = self.bytes(TEXT_BYTES_MAX, what)?;
        std::str::from_utf8(bytes).map_err(|_| here.fault(what))
    }

    /// Nothing may follow.
    pub(crate) fn end(&self) -> Result<(), Fault> {
        if self.is_empty() { Ok(()) } else { Err(self.fault("bytes behind the end")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a length believed only when it is within its bound and the bytes are there?
    #[test]
    fn lengths_are_checked_before_they_are_used() {
        let long = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01];
        assert!(matches!(Input::new(&long).bytes(10, "x"), Err(Fault::TooLong { bytes: u64::MAX, bytes_max: 10, .. })));
        assert!(matches!(Input::new(&[3, 1, 2]).bytes(10, "x"), Err(Fault::Malformed { at: 1, .. })));
        assert!(matches!(Input::new(&[3, 1, 2]).count("x"), Err(Fault::Malformed { at: 0, .. })));
        assert!(matches!(Input::new(&[1, 0xFF]).text("x"), Err(Fault::Malformed { at: 0, .. })));
        assert!(matches!(Input::new(&[0x80, 0x80, 0x04]).number_u16("x"), Err(Fault::Malformed { at: 0, .. })));
    }
}
