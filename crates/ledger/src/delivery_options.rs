//! How a session that keeps a message delivers it to its client.
//!
//! ```text
//! head: bits 0-1 QoS, bit 2 RETAIN, from bit 3 on the number of subscription identifiers; then those, a number each
//! ```

use std::fmt;

use crate::bounds::{SUBSCRIPTION_ID_MAX, SUBSCRIPTION_IDS_MAX};
use crate::wire::{Input, Pack, put_number};
use crate::{Fault, KeeperId};

const QOS_BITS: u64 = 0b11;
const RETAIN_BIT: u64 = 0b100;
const COUNT_SHIFT: u32 = 3;

/// How one message goes to one client: all its matching subscriptions taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryOptions<'a> {
    /// 0, 1 or 2.
    pub qos: u8,
    /// The RETAIN flag that the client will see.
    pub retain: bool,
    /// Subscription identifiers that the client will see.
    pub ids: SubscriptionIds<'a>,
}

/// One durable session that keeps a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeper<'a> {
    /// The session.
    pub id: KeeperId,
    /// Its options.
    pub options: DeliveryOptions<'a>,
}

/// Subscription identifiers of one copy of a message: usually none or one.
#[derive(Clone, Copy)]
pub struct SubscriptionIds<'a> {
    ids: Ids<'a>,
}

#[derive(Clone, Copy)]
enum Ids<'a> {
    None,
    One(u32),
    Slice(&'a [u32]),
    Packed { count: usize, bytes: &'a [u8] },
}

impl<'a> SubscriptionIds<'a> {
    /// No identifiers.
    pub const EMPTY: Self = SubscriptionIds { ids: Ids::None };

    /// This one.
    pub const fn one(id: u32) -> Self {
        SubscriptionIds { ids: Ids::One(id) }
    }

    /// These, in their order.
    pub const fn from_slice(ids: &'a [u32]) -> Self {
        SubscriptionIds { ids: Ids::Slice(ids) }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        match self.ids {
            Ids::None => 0,
            Ids::One(_) => 1,
            Ids::Slice(ids) => ids.len(),
            Ids::Packed { count, .. } => count,
        }
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The identifiers.
    pub fn iter(&self) -> impl Iterator<Item = u32> + use<'a> {
        let (one, slice, count, bytes) = match self.ids {
            Ids::None => (None, &[][..], 0, &[][..]),
            Ids::One(id) => (Some(id), &[][..], 0, &[][..]),
            Ids::Slice(ids) => (None, ids, 0, &[][..]),
            Ids::Packed { count, bytes } => (None, &[][..], count, bytes),
        };
        let mut input = Input::new(bytes);
        // Packed identifiers were read once without an error.
        let packed = (0..count).map_while(move |_| take_id(&mut input).ok());
        one.into_iter().chain(slice.iter().copied()).chain(packed)
    }
}

impl PartialEq for SubscriptionIds<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for SubscriptionIds<'_> {}

impl fmt::Debug for SubscriptionIds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

fn take_id(input: &mut Input<'_>) -> Result<u32, Fault> {
    let what = "a subscription identifier is cut off or too large";
    let here = *input;
    let id = input.number_u32(what)?;
    if id <= SUBSCRIPTION_ID_MAX { Ok(id) } else { Err(here.fault(what)) }
}

impl DeliveryOptions<'_> {
    /// Appends options that keep to the bounds: checked, or read before.
    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let retain = if self.retain { RETAIN_BIT } else { 0 };
        put_number(u64::from(self.qos.min(2)) | retain | (self.ids.len() as u64) << COUNT_SHIFT, out);
        self.ids.iter().for_each(|id| put_number(u64::from(id), out));
    }
}

impl<'a> Pack<'a> for DeliveryOptions<'a> {
    #[inline]
    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let count = self.ids.len();
        if count > SUBSCRIPTION_IDS_MAX || self.ids.iter().any(|id| id > SUBSCRIPTION_ID_MAX) {
            let (bytes, bytes_max) = (4 * count as u64, 4 * SUBSCRIPTION_IDS_MAX as u64);
            return Err(Fault::TooLong { what: "subscription identifiers", bytes, bytes_max });
        }
        self.write(out);
        Ok(())
    }

    #[inline]
    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let what = "terms that no encoder writes";
        let here = *input;
        let head = input.number(what)?;
        let (qos, retain, count) = ((head & QOS_BITS) as u8, head & RETAIN_BIT != 0, head >> COUNT_SHIFT);
        if qos > 2 || count > SUBSCRIPTION_IDS_MAX as u64 {
            return Err(here.fault(what));
        }
        if count == 0 {
            return Ok(DeliveryOptions { qos, retain, ids: SubscriptionIds::EMPTY });
        }
        let from = *input;
        for _ in 0..count {
            take_id(input)?;
        }
        let bytes = &from.rest()[..input.at() - from.at()];
        Ok(DeliveryOptions { qos, retain, ids: SubscriptionIds { ids: Ids::Packed { count: count as usize, bytes } } })
    }
}

impl<'a> Pack<'a> for Keeper<'a> {
    #[inline]
    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.id.put(out)?;
        self.options.put(out)
    }

    #[inline]
    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        Ok(Keeper { id: KeeperId::take(input)?, options: DeliveryOptions::take(input)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(options: DeliveryOptions<'_>) -> Vec<u8> {
        let mut bytes = vec![];
        options.put(&mut bytes).unwrap();
        bytes
    }

    /// Are the usual options one byte, and do all read back?
    #[test]
    fn options_read_back() {
        let ids = [1, 200, SUBSCRIPTION_ID_MAX];
        let all = [SubscriptionIds::EMPTY, SubscriptionIds::one(77), SubscriptionIds::from_slice(&ids)];
        for (qos, ids) in (0..3).flat_map(|qos| all.map(|ids| (qos, ids))) {
            for retain in [false, true] {
                let options = DeliveryOptions { qos, retain, ids };
                let bytes = packed(options);
                assert_eq!(DeliveryOptions::take(&mut Input::new(&bytes)), Ok(options));
                assert_eq!(bytes.len() == 1, ids.is_empty());
                (0..bytes.len())
                    .for_each(|cut| assert!(DeliveryOptions::take(&mut Input::new(&bytes[..cut])).is_err()));
            }
        }
    }

    /// Are too many identifiers refused, and one that is too large, in writing and reading?
    #[test]
    fn identifiers_are_bounded() {
        let of = |ids| DeliveryOptions { qos: 1, retain: false, ids };
        let many = vec![1; SUBSCRIPTION_IDS_MAX + 1];
        assert!(of(SubscriptionIds::from_slice(&many)).put(&mut vec![]).is_err());
        assert!(of(SubscriptionIds::from_slice(&many[1..])).put(&mut vec![]).is_ok());
        assert!(of(SubscriptionIds::one(SUBSCRIPTION_ID_MAX + 1)).put(&mut vec![]).is_err());
        assert!(DeliveryOptions::take(&mut Input::new(&[0b1001, 0x80, 0x80, 0x80, 0x80, 0x01])).is_err());
        assert!(DeliveryOptions::take(&mut Input::new(&[0b11])).is_err(), "QoS 3");
    }
}
