//! Choices drawn from the input; an input that is used up goes on with zeros.

use arbitrary::Unstructured;

/// The input as a source of choices.
pub(crate) struct Draw<'u, 'a>(pub(crate) &'u mut Unstructured<'a>);

/// Names, filters and other strings, most of them legal in most places.
const TEXTS: [&[u8]; 16] = [
    b"a",
    b"a/b",
    b"b",
    b"a/+",
    b"#",
    b"+/b",
    b"$share/g/a",
    b"$share/h/#",
    b"",
    b"$SYS/x",
    b"a/#/b",
    b"a\0",
    b"\xFF",
    "ö/柔".as_bytes(),
    b"$share//a",
    b"c/d/e",
];

impl Draw<'_, '_> {
    pub(crate) fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub(crate) fn u16(&mut self) -> u16 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub(crate) fn u32(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// True in one of so many cases; never when the input is used up.
    pub(crate) fn one_in(&mut self, cases: u8) -> bool {
        self.byte() % cases == cases - 1
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// Up to `max` bytes of the input itself.
    pub(crate) fn bytes(&mut self, max: usize) -> Vec<u8> {
        let len = self.below(max + 1).min(self.0.len());
        self.0.bytes(len).map(<[u8]>::to_vec).unwrap_or_default()
    }

    /// A string: one of the first `known` in the table, or in rare cases any other, or any bytes.
    pub(crate) fn text(&mut self, known: usize) -> Vec<u8> {
        if !self.one_in(16) {
            return TEXTS[self.below(known)].to_vec();
        }
        if self.one_in(2) { self.bytes(40) } else { TEXTS[self.below(TEXTS.len())].to_vec() }
    }
}

/// How many strings of the table are topic names.
pub(crate) const NAMES: usize = 3;
/// How many are filters.
pub(crate) const FILTERS: usize = 8;
