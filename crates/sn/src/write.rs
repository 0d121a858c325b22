//! Writing a message: its body is described once and visited twice, first to measure, then to write.

use crate::header::header_len;
use crate::{EncodeError, Kind};

/// Where fields go.
pub(crate) trait Sink {
    fn raw(&mut self, bytes: &[u8]);

    #[inline]
    fn u8(&mut self, value: u8) {
        self.raw(&[value]);
    }

    #[inline]
    fn u16(&mut self, value: u16) {
        self.raw(&value.to_be_bytes());
    }
}

/// What follows the header.
pub(crate) trait Body {
    /// Refuses what MQTT-SN cannot say, and what would be read as something else.
    fn check(&self) -> Result<(), EncodeError> {
        Ok(())
    }

    fn write(&self, sink: &mut impl Sink);
}

/// Nothing follows the header.
impl Body for () {
    fn write(&self, _sink: &mut impl Sink) {}
}

/// Counts.
#[derive(Default)]
struct Measure(usize);

impl Sink for Measure {
    #[inline]
    fn raw(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

impl Sink for Vec<u8> {
    #[inline]
    fn raw(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Length of the whole message, in bytes.
pub(crate) fn message_len(body: &impl Body) -> usize {
    let mut measure = Measure::default();
    body.write(&mut measure);
    header_len(measure.0) + measure.0
}

/// Appends the message when it has at most `len_max` bytes; on an error nothing is appended. Returns its length.
pub(crate) fn message(kind: Kind, body: &impl Body, len_max: usize, out: &mut Vec<u8>) -> Result<usize, EncodeError> {
    body.check()?;
    let len = message_len(body);
    if len > len_max {
        return Err(EncodeError::TooLarge { len, max: len_max });
    }
    out.reserve(len);
    let start = out.len();
    crate::header::write(kind, len, out);
    body.write(out);
    debug_assert_eq!(out.len() - start, len, "both visits see the same fields");
    Ok(len)
}
