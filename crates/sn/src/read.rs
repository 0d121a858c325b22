//! A cursor over one whole message: the codec's, with errors of this room.

use lapwing_codec::{FieldReader, ReadError};

use crate::{DecodeError, Reason};

/// Reads fields of a datagram, and counts offsets from its first byte.
pub(crate) type Reader<'a> = FieldReader<'a, DecodeError>;

impl ReadError for DecodeError {
    /// A datagram has no byte behind its end: that is where the field is missing.
    #[cold]
    fn cut_short(_at: usize, end: usize) -> Self {
        DecodeError::new(Reason::CutShort, "a field that runs past the end of its message", end)
    }

    #[cold]
    fn trailing_bytes(at: usize) -> Self {
        DecodeError::new(Reason::TrailingBytes, "bytes after the last field of the message", at)
    }

    #[cold]
    fn zero_id(at: usize) -> Self {
        DecodeError::malformed("a message id of zero", at)
    }
}
