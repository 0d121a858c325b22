//! Choices drawn from bytes; bytes that are used up go on with zeros.

/// Bytes as a source of choices.
pub(crate) struct Choices<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Choices { bytes: bytes.iter() }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.bytes.len() == 0
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or(0)
    }

    /// A number below `end`, which is from 1 to 256.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// True in one of so many cases; never when the bytes are used up.
    pub(crate) fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == cases - 1
    }

    /// One of them.
    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
