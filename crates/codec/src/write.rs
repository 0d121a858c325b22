//! Writing a packet: its body is described once and visited twice, first to measure, then to write.
//!
//! Measuring first gives the lengths that stand in front, checks every field before the first byte is written, and
//! lets the output grow once. What describes a body is monomorphised for both visits, so nothing is dispatched.

use crate::varint::{self, VARINT_MAX};
use crate::{EncodeError, UserProperties, Version};

/// Where fields go.
pub(crate) trait Sink {
    fn raw(&mut self, bytes: &[u8]);

    /// A value of at most [`VARINT_MAX`].
    fn varint(&mut self, value: u32);

    /// Two bytes of length, then `bytes`; `name` is for the error when they are too many.
    fn field(&mut self, name: &'static str, bytes: &[u8]);

    #[inline]
    fn u8(&mut self, value: u8) {
        self.raw(&[value]);
    }

    #[inline]
    fn u16(&mut self, value: u16) {
        self.raw(&value.to_be_bytes());
    }

    #[inline]
    fn u32(&mut self, value: u32) {
        self.raw(&value.to_be_bytes());
    }

    /// A property that is 0 or 1, if there.
    #[inline]
    fn flag_property(&mut self, id: u8, value: Option<bool>) {
        if let Some(value) = value {
            self.raw(&[id, u8::from(value)]);
        }
    }

    #[inline]
    fn u16_property(&mut self, id: u8, value: Option<u16>) {
        if let Some(value) = value {
            self.u8(id);
            self.u16(value);
        }
    }

    #[inline]
    fn u32_property(&mut self, id: u8, value: Option<u32>) {
        if let Some(value) = value {
            self.u8(id);
            self.u32(value);
        }
    }

    #[inline]
    fn text_property(&mut self, id: u8, name: &'static str, value: Option<&str>) {
        self.binary_property(id, name, value.map(str::as_bytes));
    }

    #[inline]
    fn binary_property(&mut self, id: u8, name: &'static str, value: Option<&[u8]>) {
        if let Some(value) = value {
            self.u8(id);
            self.field(name, value);
        }
    }

    /// User properties, which were checked when they were made.
    fn user_properties(&mut self, user: &UserProperties<'_>) {
        user.for_each_encoded(|part| self.raw(part));
    }

    /// A property section: its length, then its content.
    #[inline]
    fn section(&mut self, section: &impl Section)
    where
        Self: Sized,
    {
        self.varint(section_len(section));
        section.write(self);
    }
}

/// Something that stands in a property section.
pub(crate) trait Section {
    fn write(&self, sink: &mut impl Sink);
}

/// What follows the fixed header.
pub(crate) trait Body {
    fn write(&self, version: Version, sink: &mut impl Sink);
}

/// Counts, and keeps the first field that is too long.
#[derive(Default)]
struct Measure {
    len: usize,
    error: Option<EncodeError>,
}

impl Sink for Measure {
    #[inline]
    fn raw(&mut self, bytes: &[u8]) {
        self.len += bytes.len();
    }

    #[inline]
    fn varint(&mut self, value: u32) {
        self.len += varint::len(value);
    }

    #[inline]
    fn field(&mut self, name: &'static str, bytes: &[u8]) {
        let len = bytes.len();
        if len > usize::from(u16::MAX) {
            self.error.get_or_insert(EncodeError::FieldTooLong { field: name, len });
        }
        self.len += 2 + len;
    }
}

impl Sink for Vec<u8> {
    #[inline]
    fn raw(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    #[inline]
    fn varint(&mut self, value: u32) {
        varint::encode(value, self);
    }

    #[inline]
    fn field(&mut self, _name: &'static str, bytes: &[u8]) {
        self.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
        self.extend_from_slice(bytes);
    }
}

/// Length of a section's content. More than fits is reported as a little too much, so that the packet is refused.
#[inline]
fn section_len(section: &impl Section) -> u32 {
    let mut measure = Measure::default();
    section.write(&mut measure);
    u32::try_from(measure.len).unwrap_or(VARINT_MAX).min(VARINT_MAX)
}

/// Length of the body.
#[inline]
fn body_len(body: &impl Body, version: Version) -> Result<u32, EncodeError> {
    let mut measure = Measure::default();
    body.write(version, &mut measure);
    match (measure.error, u32::try_from(measure.len)) {
        (Some(error), _) => Err(error),
        (None, Ok(len)) if len <= VARINT_MAX => Ok(len),
        _ => Err(EncodeError::PacketTooLarge { len: measure.len }),
    }
}

/// Length of the whole packet, in bytes.
/// # Errors
/// It cannot be written.
pub(crate) fn packet_len(body: &impl Body, version: Version) -> Result<usize, EncodeError> {
    let len = body_len(body, version)?;
    Ok(1 + varint::len(len) + len as usize)
}

/// Appends a packet with `first` as its first byte; on an error nothing is appended.
#[inline]
pub(crate) fn packet(first: u8, body: &impl Body, version: Version, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let len = body_len(body, version)?;
    out.reserve(5 + len as usize);
    out.push(first);
    varint::encode(len, out);
    let start = out.len();
    body.write(version, out);
    debug_assert_eq!(out.len() - start, len as usize, "both visits see the same fields");
    Ok(())
}
