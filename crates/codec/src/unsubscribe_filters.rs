//! The filters of an UNSUBSCRIBE: read in place, one by one.

use std::fmt;

use crate::read::Reader;
use crate::subscribe_filters::check_count;
use crate::topic;
use crate::{EncodeError, Limits, ProtocolError};

/// The filters of an UNSUBSCRIBE: a view of the validated payload.
#[derive(Clone, Copy, Default)]
pub struct UnsubscribeFilters<'a> {
    raw: &'a [u8],
    count: u16,
}

impl<'a> UnsubscribeFilters<'a> {
    /// `raw` holds `count` validated filters and nothing else.
    pub(crate) const fn from_validated(raw: &'a [u8], count: u16) -> Self {
        UnsubscribeFilters { raw, count }
    }

    /// How many.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is none; never true in a decoded packet.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The filters in order.
    pub fn iter(&self) -> UnsubscribeFiltersIter<'a> {
        UnsubscribeFiltersIter { raw: self.raw, left: self.count }
    }

    /// Reads filters to the end of the packet; at least one.
    pub(crate) fn decode(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, ProtocolError> {
        let from = reader.at();
        let mut count = 0;
        while !reader.is_empty() {
            check_count(count, limits, reader.at())?;
            let at = reader.at();
            topic::filter_from_bytes(reader.binary()?, limits).map_err(|error| error.at_filter(at))?;
            count += 1;
        }
        if count == 0 {
            return Err(ProtocolError::protocol("an UNSUBSCRIBE without filters", from));
        }
        Ok(UnsubscribeFilters { raw: reader.passed(from, reader.at()), count })
    }

    /// The encoded payload.
    pub(crate) const fn raw(&self) -> &'a [u8] {
        self.raw
    }
}

impl PartialEq for UnsubscribeFilters<'_> {
    fn eq(&self, other: &UnsubscribeFilters<'_>) -> bool {
        self.raw == other.raw
    }
}

impl Eq for UnsubscribeFilters<'_> {}

impl fmt::Debug for UnsubscribeFilters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterates over [`UnsubscribeFilters`].
#[derive(Clone, Debug)]
pub struct UnsubscribeFiltersIter<'a> {
    raw: &'a [u8],
    left: u16,
}

impl<'a> Iterator for UnsubscribeFiltersIter<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (len, rest) = self.raw.split_first_chunk::<2>()?;
        let (filter, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
        self.raw = rest;
        self.left = self.left.saturating_sub(1);
        std::str::from_utf8(filter).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

impl ExactSizeIterator for UnsubscribeFiltersIter<'_> {}

/// Owned filters of an UNSUBSCRIBE, kept in their encoded form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnsubscribeFiltersBuf {
    raw: Vec<u8>,
    count: u16,
}

impl UnsubscribeFiltersBuf {
    /// No filters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a filter; whether it is valid is the caller's to know ([`crate::topic::validate_filter`]).
    /// # Errors
    /// `FieldTooLong`: more than 65,535 bytes; `PacketTooLarge`: more filters than 65,535.
    pub fn push(&mut self, filter: &str) -> Result<(), EncodeError> {
        let len = filter.len();
        let Ok(prefix) = u16::try_from(len) else {
            return Err(EncodeError::FieldTooLong { field: "topic filter", len });
        };
        let Some(count) = self.count.checked_add(1) else {
            return Err(EncodeError::PacketTooLarge { len: self.raw.len() + len });
        };
        self.raw.extend_from_slice(&prefix.to_be_bytes());
        self.raw.extend_from_slice(filter.as_bytes());
        self.count = count;
        Ok(())
    }

    /// The view that an [`crate::Unsubscribe`] carries.
    pub fn as_ref(&self) -> UnsubscribeFilters<'_> {
        UnsubscribeFilters::from_validated(&self.raw, self.count)
    }
}
