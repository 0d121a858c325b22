//! Why bytes of a peer are no frame, or a frame that may not be there.

use std::fmt;

use thiserror::Error;

/// What to count it under, as few words as there are counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// A length beyond its bound.
    TooLong,
    /// A field that runs past the end of its frame.
    CutShort,
    /// Bytes behind the last field.
    TrailingBytes,
    /// The first frame is nobody's that we know.
    Magic,
    /// A frame of a kind that this program does not have.
    UnknownKind,
    /// A frame of a version that this program does not read.
    Version,
    /// A frame that has no business on this connection, or not yet.
    OutOfPlace,
    /// A field that says what no encoder writes.
    Malformed,
    /// A number that no log comes to.
    Number,
    /// Parts or chunks that do not follow each other.
    Gap,
    /// More was sent than there was room for, or more is done than was sent.
    Window,
    /// An entry whose batch has not come.
    MissingBatch,
    /// A checksum that does not fit.
    Checksum,
}

impl FaultKind {
    /// All kinds, in the order of their counters.
    pub const ALL: [FaultKind; 13] = [
        FaultKind::TooLong,
        FaultKind::CutShort,
        FaultKind::TrailingBytes,
        FaultKind::Magic,
        FaultKind::UnknownKind,
        FaultKind::Version,
        FaultKind::OutOfPlace,
        FaultKind::Malformed,
        FaultKind::Number,
        FaultKind::Gap,
        FaultKind::Window,
        FaultKind::MissingBatch,
        FaultKind::Checksum,
    ];

    /// A short name, for labels of counters; it is the same for ever.
    pub const fn name(self) -> &'static str {
        match self {
            FaultKind::TooLong => "too_long",
            FaultKind::CutShort => "cut_short",
            FaultKind::TrailingBytes => "trailing_bytes",
            FaultKind::Magic => "magic",
            FaultKind::UnknownKind => "unknown_kind",
            FaultKind::Version => "version",
            FaultKind::OutOfPlace => "out_of_place",
            FaultKind::Malformed => "malformed",
            FaultKind::Number => "number",
            FaultKind::Gap => "gap",
            FaultKind::Window => "window",
            FaultKind::MissingBatch => "missing_batch",
            FaultKind::Checksum => "checksum",
        }
    }
}

/// What is wrong with what a peer sent: the connection is cut, and nothing else is felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub struct Fault {
    /// What to count it under.
    pub kind: FaultKind,
    /// What was wrong, in words.
    pub what: &'static str,
    /// Offset from the first byte of the frame, or of the run of records, in bytes.
    pub at: usize,
    /// What was found there, where that is a number.
    pub found: Option<u64>,
}

impl Fault {
    #[cold]
    pub(crate) const fn new(kind: FaultKind, what: &'static str, at: usize) -> Self {
        Fault { kind, what, at, found: None }
    }

    /// The same with the number that was found.
    #[cold]
    pub(crate) const fn with(self, found: u64) -> Self {
        Fault { found: Some(found), ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.what)?;
        if let Some(found) = self.found {
            write!(f, " ({found})")?;
        }
        write!(f, ", at byte {}", self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_what_and_where() {
        let fault = Fault::new(FaultKind::Malformed, "a node id of zero", 21);
        assert_eq!(fault.to_string(), "malformed: a node id of zero, at byte 21");
        let fault = Fault::new(FaultKind::Version, "a frame of another version", 5).with(2);
        assert_eq!(fault.to_string(), "version: a frame of another version (2), at byte 5");
    }

    #[test]
    fn every_kind_has_a_counter_of_its_own() {
        for (index, kind) in FaultKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert!(FaultKind::ALL[..index].iter().all(|other| other.name() != kind.name()), "{kind:?}");
        }
    }
}
