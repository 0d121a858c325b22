//! The filters of a SUBSCRIBE: read in place, one by one.

use std::fmt;

use crate::read::Reader;
use crate::subscription_options::{SubscriptionOptions, decode_options};
use crate::topic;
use crate::{EncodeError, Limits, ProtocolError, ReasonCode, Version};

/// One filter of a SUBSCRIBE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubscribeFilter<'a> {
    /// A valid topic filter, perhaps shared (`$share/GROUP/FILTER`).
    pub filter: &'a str,
    /// How it is asked for.
    pub options: SubscriptionOptions,
}

/// The filters of a SUBSCRIBE: a view of the validated payload.
#[derive(Clone, Copy, Default)]
pub struct SubscribeFilters<'a> {
    raw: &'a [u8],
    count: u16,
}

impl<'a> SubscribeFilters<'a> {
    /// `raw` holds `count` validated filters, each with its options byte, and nothing else.
    pub(crate) const fn from_validated(raw: &'a [u8], count: u16) -> Self {
        SubscribeFilters { raw, count }
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
    pub fn iter(&self) -> SubscribeFiltersIter<'a> {
        SubscribeFiltersIter { raw: self.raw, left: self.count }
    }

    /// Reads filters to the end of the packet; at least one.
    pub(crate) fn decode(reader: &mut Reader<'a>, version: Version, limits: &Limits) -> Result<Self, ProtocolError> {
        let from = reader.at();
        let mut count = 0;
        while !reader.is_empty() {
            check_count(count, limits, reader.at())?;
            let at = reader.at();
            let filter = topic::filter_from_bytes(reader.binary()?, limits).map_err(|error| error.at_filter(at))?;
            let options = decode_options(reader.u8()?, version, reader.at() - 1)?;
            if options.no_local && filter.starts_with("$share/") {
                return Err(ProtocolError::protocol("No Local on a shared subscription", at));
            }
            count += 1;
        }
        if count == 0 {
            return Err(ProtocolError::protocol("a SUBSCRIBE without filters", from));
        }
        Ok(SubscribeFilters { raw: reader.passed(from, reader.at()), count })
    }

    /// The encoded payload.
    pub(crate) const fn raw(&self) -> &'a [u8] {
        self.raw
    }
}

impl PartialEq for SubscribeFilters<'_> {
    fn eq(&self, other: &SubscribeFilters<'_>) -> bool {
        self.raw == other.raw
    }
}

impl Eq for SubscribeFilters<'_> {}

impl fmt::Debug for SubscribeFilters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterates over [`SubscribeFilters`].
#[derive(Clone, Debug)]
pub struct SubscribeFiltersIter<'a> {
    raw: &'a [u8],
    left: u16,
}

impl<'a> Iterator for SubscribeFiltersIter<'a> {
    type Item = SubscribeFilter<'a>;

    fn next(&mut self) -> Option<SubscribeFilter<'a>> {
        let (len, rest) = self.raw.split_first_chunk::<2>()?;
        let (filter, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
        let (&options, rest) = rest.split_first()?;
        self.raw = rest;
        self.left = self.left.saturating_sub(1);
        let filter = std::str::from_utf8(filter).ok()?;
        Some(SubscribeFilter { filter, options: SubscriptionOptions::from_byte(options)? })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

impl ExactSizeIterator for SubscribeFiltersIter<'_> {}

/// Owned filters of a SUBSCRIBE, kept in their encoded form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscribeFiltersBuf {
    raw: Vec<u8>,
    count: u16,
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
        let len = filter.len();
        let Ok(prefix) = u16::try_from(len) else {
            return Err(EncodeError::FieldTooLong { field: "topic filter", len });
        };
        let Some(count) = self.count.checked_add(1) else {
            return Err(EncodeError::PacketTooLarge { len: self.raw.len() + len });
        };
        self.raw.extend_from_slice(&prefix.to_be_bytes());
        self.raw.extend_from_slice(filter.as_bytes());
        self.raw.push(options.to_byte());
        self.count = count;
        Ok(())
    }

    /// The view that a [`crate::Subscribe`] carries.
    pub fn as_ref(&self) -> SubscribeFilters<'_> {
        SubscribeFilters::from_validated(&self.raw, self.count)
    }
}

/// One more filter must still be within the limit.
pub(crate) fn check_count(count: u16, limits: &Limits, at: usize) -> Result<(), ProtocolError> {
    if count < limits.filters_per_packet_max {
        return Ok(());
    }
    Err(ProtocolError::new(ReasonCode::QuotaExceeded, "more filters in one packet than the limit", at))
}
