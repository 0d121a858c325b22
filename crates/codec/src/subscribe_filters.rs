//! The filters of a SUBSCRIBE: read in place, one by one.

use std::fmt;

use crate::filter_section::{FilterSection, FilterSectionBuf};
use crate::read::Reader;
use crate::subscription_options::{SubscriptionOptions, decode_options};
use crate::{EncodeError, Limits, ProtocolError, Version};

/// One filter of a SUBSCRIBE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubscribeFilter<'a> {
    /// A valid topic filter, perhaps shared (`$share/GROUP/FILTER`).
    pub filter: &'a str,
    /// How it is asked for.
    pub options: SubscriptionOptions,
}

/// The filters of a SUBSCRIBE: a view of the validated payload.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SubscribeFilters<'a> {
    section: FilterSection<'a>,
}

impl<'a> SubscribeFilters<'a> {
    /// How many.
    pub const fn len(&self) -> usize {
        self.section.len()
    }

    /// Whether there is none; never true in a decoded packet.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The filters in order.
    pub const fn iter(&self) -> SubscribeFiltersIter<'a> {
        SubscribeFiltersIter { left: self.section }
    }

    /// Reads filters to the end of the packet; at least one.
    pub(crate) fn decode(reader: &mut Reader<'a>, version: Version, limits: &Limits) -> Result<Self, ProtocolError> {
        let section = FilterSection::decode(reader, limits, "a SUBSCRIBE without filters", |reader, filter, at| {
            let options = decode_options(reader.u8()?, version, reader.at() - 1)?;
            if options.no_local && filter.starts_with("$share/") {
                return Err(ProtocolError::protocol("No Local on a shared subscription", at));
            }
            Ok(())
        })?;
        Ok(SubscribeFilters { section })
    }

    /// The encoded payload.
    pub(crate) const fn raw(&self) -> &'a [u8] {
        self.section.raw()
    }
}

impl fmt::Debug for SubscribeFilters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterates over [`SubscribeFilters`].
#[derive(Clone, Debug)]
pub struct SubscribeFiltersIter<'a> {
    left: FilterSection<'a>,
}

impl<'a> Iterator for SubscribeFiltersIter<'a> {
    type Item = SubscribeFilter<'a>;

    fn next(&mut self) -> Option<SubscribeFilter<'a>> {
        let (filter, [options]) = self.left.take()?;
        Some(SubscribeFilter { filter, options: SubscriptionOptions::from_byte(options)? })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.len(), Some(self.left.len()))
    }
}

impl ExactSizeIterator for SubscribeFiltersIter<'_> {}

/// Owned filters of a SUBSCRIBE, kept in their encoded form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscribeFiltersBuf {
    section: FilterSectionBuf,
}

impl SubscribeFiltersBuf {
    /// No filters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a filter; whether it is valid is the caller's to know ([`crate::topic::validate_filter`]).
    /// # Errors
    /// `FieldTooLong`: more than 65,535 bytes; `PacketTooLarge`: more filters than 65,535.
    pub fn push(&mut self, filter: &str, options: SubscriptionOptions) -> Result<(), EncodeError> {
        self.section.push(filter, &[options.to_byte()])
    }

    /// The view that a [`crate::Subscribe`] carries.
    pub fn as_ref(&self) -> SubscribeFilters<'_> {
        SubscribeFilters { section: self.section.as_ref() }
    }
}
