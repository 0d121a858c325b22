//! The filters of an UNSUBSCRIBE: read in place, one by one.

use std::fmt;

use crate::filter_section::{FilterSection, FilterSectionBuf};
use crate::read::Reader;
use crate::{EncodeError, Limits, ProtocolError};

/// The filters of an UNSUBSCRIBE: a view of the validated payload.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct UnsubscribeFilters<'a> {
    section: FilterSection<'a>,
}

impl<'a> UnsubscribeFilters<'a> {
    /// How many.
    pub const fn len(&self) -> usize {
        self.section.len()
    }

    /// Whether there is none; never true in a decoded packet.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The filters in order.
    pub const fn iter(&self) -> UnsubscribeFiltersIter<'a> {
        UnsubscribeFiltersIter { left: self.section }
    }

    /// Reads filters to the end of the packet; at least one.
    pub(crate) fn decode(reader: &mut Reader<'a>, limits: &Limits) -> Result<Self, ProtocolError> {
        let section = FilterSection::decode(reader, limits, "an UNSUBSCRIBE without filters", |_, _, _| Ok(()))?;
        Ok(UnsubscribeFilters { section })
    }

    /// The encoded payload.
    pub(crate) const fn raw(&self) -> &'a [u8] {
        self.section.raw()
    }
}

impl fmt::Debug for UnsubscribeFilters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterates over [`UnsubscribeFilters`].
#[derive(Clone, Debug)]
pub struct UnsubscribeFiltersIter<'a> {
    left: FilterSection<'a>,
}

impl<'a> Iterator for UnsubscribeFiltersIter<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (filter, []) = self.left.take()?;
        Some(filter)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.len(), Some(self.left.len()))
    }
}

impl ExactSizeIterator for UnsubscribeFiltersIter<'_> {}

/// Owned filters of an UNSUBSCRIBE, kept in their encoded form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnsubscribeFiltersBuf {
    section: FilterSectionBuf,
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
        self.section.push(filter, &[])
    }

    /// The view that an [`crate::Unsubscribe`] carries.
    pub fn as_ref(&self) -> UnsubscribeFilters<'_> {
        UnsubscribeFilters { section: self.section.as_ref() }
    }
}
