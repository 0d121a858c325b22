//! A topic as it stands in a packet: bytes that must be text, and text that must be a topic.

use super::{TopicError, plain, validate};
use crate::text::{self, TextError};
use crate::{Limits, ProtocolError, ReasonCode};

/// Why the bytes of a packet are no topic name or filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldError {
    /// Not even a string: the packet is malformed.
    Text(TextError),
    /// A string, but no topic: the reason code for topic names or filters.
    Topic(TopicError),
}

impl FieldError {
    /// The error of a topic name that stands at `at`.
    pub(crate) const fn at_name(self, at: usize) -> ProtocolError {
        self.at(ReasonCode::TopicNameInvalid, at)
    }

    /// The error of a topic filter that stands at `at`.
    pub(crate) const fn at_filter(self, at: usize) -> ProtocolError {
        self.at(ReasonCode::TopicFilterInvalid, at)
    }

    const fn at(self, reason: ReasonCode, at: usize) -> ProtocolError {
        match self {
            FieldError::Text(error) => ProtocolError::malformed(error.what(), at),
            FieldError::Topic(error) => ProtocolError::new(reason, error.what(), at),
        }
    }
}

/// Checks a topic name.
pub(crate) fn name_from_bytes<'a>(bytes: &'a [u8], limits: &Limits) -> Result<&'a str, FieldError> {
    match plain_name_from_bytes(bytes, limits) {
        Some(topic) => Ok(topic),
        None => name_from_any_bytes(bytes, limits),
    }
}

/// The topic name, when it is the usual one: short ASCII, within the limits. Otherwise `None`, right or wrong.
#[inline(always)]
pub(crate) fn plain_name_from_bytes<'a>(bytes: &'a [u8], limits: &Limits) -> Option<&'a str> {
    let (topic, separators) = plain::scan(bytes)?;
    fits(bytes.len(), separators, limits).then_some(topic)
}

#[inline]
fn fits(len: usize, separators: usize, limits: &Limits) -> bool {
    len > 0 && len <= usize::from(limits.topic_bytes_max) && separators < usize::from(limits.topic_levels_max)
}

fn name_from_any_bytes<'a>(bytes: &'a [u8], limits: &Limits) -> Result<&'a str, FieldError> {
    let topic = text::from_bytes(bytes).map_err(FieldError::Text)?;
    validate::validate_topic_name(topic, limits).map_err(FieldError::Topic)?;
    Ok(topic)
}

/// Checks a topic filter.
pub(crate) fn filter_from_bytes<'a>(bytes: &'a [u8], limits: &Limits) -> Result<&'a str, FieldError> {
    let filter = text::from_bytes(bytes).map_err(FieldError::Text)?;
    validate::validate_filter(filter, limits).map_err(FieldError::Topic)?;
    Ok(filter)
}
