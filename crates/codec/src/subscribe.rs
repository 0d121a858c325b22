//! SUBSCRIBE: a client asks for messages.

use std::fmt;

use crate::{EncodeError, PacketId, QoS, SubscriptionId, UserProperties};

/// A SUBSCRIBE packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribe<'a> {
    /// The exchange.
    pub packet_id: PacketId,
    /// Properties (5.0).
    pub properties: SubscribeProperties<'a>,
    /// What is asked for; at least one.
    pub filters: SubscribeFilters<'a>,
}

/// Properties of a SUBSCRIBE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubscribeProperties<'a> {
    /// Subscription Identifier of all filters in the packet.
    pub subscription_id: Option<SubscriptionId>,
    /// User Properties.
    pub user: UserProperties<'a>,
}

/// When retained messages are sent for a subscription.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RetainHandling {
    /// At every SUBSCRIBE (and always in 3.1.1).
    #[default]
    Send = 0,
    /// Only if the subscription did not exist.
    SendIfNew = 1,
    /// Never.
    DoNotSend = 2,
}

/// The options byte of a filter; in 3.1.1 only `qos` is not default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SubscriptionOptions {
    /// Maximum QoS of messages to the client.
    pub qos: QoS,
    /// Do not send the client its own messages; never with a shared filter.
    pub no_local: bool,
    /// Keep the RETAIN flag as the publisher set it.
    pub retain_as_published: bool,
    /// Which retained messages come at once.
    pub retain_handling: RetainHandling,
}

impl SubscriptionOptions {
    /// Only a QoS; everything else default.
    pub const fn new(qos: QoS) -> Self {
        SubscriptionOptions { qos, no_local: false, retain_as_published: false, retain_handling: RetainHandling::Send }
    }

    /// The byte on the wire (5.0; in 3.1.1 the same when only `qos` is set).
    pub const fn to_byte(self) -> u8 {
        self.qos as u8
            | (self.no_local as u8) << 2
            | (self.retain_as_published as u8) << 3
            | (self.retain_handling as u8) << 4
    }

    /// Reads the byte; `None` when QoS or retain handling is 3 or a reserved bit is set.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        let Some(qos) = QoS::from_u8(byte & 0b11) else { return None };
        let retain_handling = match byte >> 4 {
            0 => RetainHandling::Send,
            1 => RetainHandling::SendIfNew,
            2 => RetainHandling::DoNotSend,
            _ => return None,
        };
        Some(SubscriptionOptions {
            qos,
            no_local: byte & 0b100 != 0,
            retain_as_published: byte & 0b1000 != 0,
            retain_handling,
        })
    }
}

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

    /// The view that a [`Subscribe`] carries.
    pub fn as_ref(&self) -> SubscribeFilters<'_> {
        SubscribeFilters::from_validated(&self.raw, self.count)
    }
}
