//! An input of the fuzzer as choices, one after another.

/// What is left of it.
pub(super) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Choices(input)
    }

    /// The next byte; none: it is over.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A number of one byte where it is small, of two where not.
    pub(super) fn number(&mut self) -> usize {
        match self.byte().unwrap_or(0) {
            high @ 128.. => usize::from(high & 127) << 8 | usize::from(self.byte().unwrap_or(0)),
            low => low.into(),
        }
    }

    /// So many bytes, or what there is.
    pub(super) fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        bytes
    }
}
