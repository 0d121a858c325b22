//! Subscription identifiers: 1..=268,435,455; a PUBLISH to a client carries one per subscription that matched.

use std::fmt;
use std::num::NonZeroU32;

use crate::property::{self, SUBSCRIPTION_IDENTIFIER};
use crate::varint::{self, VARINT_MAX, Varint};

/// One subscription identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubscriptionId(NonZeroU32);

impl SubscriptionId {
    /// `None` for 0 and for more than 268,435,455.
    pub const fn new(id: u32) -> Option<Self> {
        match NonZeroU32::new(id) {
            Some(id) if id.get() <= VARINT_MAX => Some(SubscriptionId(id)),
            _ => None,
        }
    }

    /// The number on the wire.
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

/// A borrowed view of the subscription identifiers of a PUBLISH.
#[derive(Clone, Copy, Default)]
pub struct SubscriptionIds<'a>(Source<'a>);

#[derive(Clone, Copy, Default)]
enum Source<'a> {
    #[default]
    None,
    One(SubscriptionId),
    Slice(&'a [SubscriptionId]),
    /// Whole, validated properties, among them `count` identifiers.
    Raw {
        raw: &'a [u8],
        count: u32,
    },
}

impl<'a> SubscriptionIds<'a> {
    /// No identifiers.
    pub const EMPTY: SubscriptionIds<'static> = SubscriptionIds(Source::None);

    /// The common case: one subscription matched.
    pub const fn one(id: SubscriptionId) -> Self {
        SubscriptionIds(Source::One(id))
    }

    /// Several subscriptions matched.
    pub const fn from_slice(ids: &'a [SubscriptionId]) -> Self {
        SubscriptionIds(Source::Slice(ids))
    }

    /// `raw` holds whole, validated properties, among them `count` identifiers.
    pub(crate) const fn from_validated(raw: &'a [u8], count: u32) -> Self {
        SubscriptionIds(Source::Raw { raw, count })
    }

    /// How many.
    pub const fn len(&self) -> usize {
        match self.0 {
            Source::None => 0,
            Source::One(_) => 1,
            Source::Slice(ids) => ids.len(),
            Source::Raw { count, .. } => count as usize,
        }
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The identifiers in order.
    pub fn iter(&self) -> SubscriptionIdsIter<'a> {
        SubscriptionIdsIter(self.0)
    }
}

impl PartialEq for SubscriptionIds<'_> {
    fn eq(&self, other: &SubscriptionIds<'_>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for SubscriptionIds<'_> {}

impl fmt::Debug for SubscriptionIds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(SubscriptionId::get)).finish()
    }
}

/// Iterates over [`SubscriptionIds`].
#[derive(Clone)]
pub struct SubscriptionIdsIter<'a>(Source<'a>);

impl Iterator for SubscriptionIdsIter<'_> {
    type Item = SubscriptionId;

    fn next(&mut self) -> Option<SubscriptionId> {
        match &mut self.0 {
            Source::None => None,
            Source::One(id) => {
                let id = *id;
                self.0 = Source::None;
                Some(id)
            }
            Source::Slice(ids) => {
                let (first, rest) = ids.split_first()?;
                *ids = rest;
                Some(*first)
            }
            Source::Raw { raw, count } => next_raw(raw, count),
        }
    }
}

fn next_raw(raw: &mut &[u8], count: &mut u32) -> Option<SubscriptionId> {
    while *count > 0 {
        let (id, value, rest) = property::split_validated(raw)?;
        *raw = rest;
        if id == SUBSCRIPTION_IDENTIFIER {
            *count -= 1;
            return match varint::decode(value) {
                Varint::Value { value, .. } => SubscriptionId::new(value),
                Varint::Incomplete | Varint::TooLong => None,
            };
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_range_of_the_specification_is_an_identifier() {
        assert_eq!(SubscriptionId::new(0), None);
        assert_eq!(SubscriptionId::new(VARINT_MAX + 1), None);
        assert_eq!(SubscriptionId::new(VARINT_MAX).map(SubscriptionId::get), Some(VARINT_MAX));
    }

    #[test]
    fn one_and_a_slice_of_one_are_equal() {
        let id = SubscriptionId::new(7).unwrap();
        assert_eq!(SubscriptionIds::one(id), SubscriptionIds::from_slice(&[id]));
        assert_ne!(SubscriptionIds::one(id), SubscriptionIds::EMPTY);
        assert_eq!(SubscriptionIds::one(id).iter().count(), 1);
    }
}
