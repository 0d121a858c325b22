//! References to messages in the log, packed in chunks.
//!
//! ```text
//! per reference: number: steps from the entry before it, times two, plus one if its options or its size differ;
//!                [size in units of 64 bytes: number; flags u8: bit 0 QoS 2, bit 1 RETAIN, bit 2 DUP;
//!                 number of subscription identifiers, each of them: numbers]
//! ```
//!
//! The first one of a chunk steps from 0 and has its options.

use std::num::NonZeroU64;

use lapwing_codec::{QoS, SubscriptionId};

use crate::flight::{DeliveryOptions, Ids};
use crate::told::Tie;

/// References of a chunk.
const CHUNK_REFERENCES: u16 = 256;
/// Bytes after which a chunk is full before its time: options can be long.
const CHUNK_BYTES: usize = 4096;
/// Sizes are kept in steps of this: messages of one kind then have the same, and it need not be written again.
const UNIT_BYTES: u64 = 64;

const QOS2: u8 = 1;
const RETAIN: u8 = 1 << 1;
const DUP: u8 = 1 << 2;

/// A message that waits in the log.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) entry: NonZeroU64,
    /// Of the message in memory, in units.
    units: u64,
    pub(crate) options: DeliveryOptions,
}

impl Reference {
    /// `bytes`: what the message takes in memory; 0 where that is not known.
    pub(crate) const fn new(entry: NonZeroU64, bytes: u64, options: DeliveryOptions) -> Self {
        Reference { entry, units: bytes.div_ceil(UNIT_BYTES), options }
    }

    /// What it counts for in its queue.
    pub(crate) const fn bytes(&self) -> u64 {
        self.units * UNIT_BYTES
    }

    /// Whether nothing but the entry differs.
    pub(super) fn goes_as(&self, other: &Reference) -> bool {
        let (a, b) = (&self.options, &other.options);
        self.units == other.units && (a.qos, a.retain, a.dup) == (b.qos, b.retain, b.dup) && a.ids == b.ids
    }
}

#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    pub(super) len: u16,
}

impl Chunk {
    pub(super) fn is_full(&self) -> bool {
        self.len == CHUNK_REFERENCES || self.bytes.len() >= CHUNK_BYTES
    }

    /// `before`: the one added before it; `None` when the chunk is empty.
    pub(super) fn push(&mut self, before: Option<&Reference>, reference: &Reference) {
        let steps = reference.entry.get() - before.map_or(0, |before| before.entry.get());
        let differs = before.is_none_or(|before| !before.goes_as(reference));
        put(steps << 1 | u64::from(differs), &mut self.bytes);
        if differs {
            put(reference.units, &mut self.bytes);
            put_options(&reference.options, &mut self.bytes);
        }
        self.len += 1;
    }

    /// The one behind `before`, which ended at `at`; and where it ends. `None` behind the last one.
    pub(super) fn next(&self, before: Option<&Reference>, at: usize) -> Option<(Reference, usize)> {
        let mut rest = self.bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let number = take(&mut rest);
        let entry = NonZeroU64::new(before.map_or(0, |before| before.entry.get()) + (number >> 1))?;
        let (units, mut options) = match before {
            Some(before) if number & 1 == 0 => (before.units, before.options.clone()),
            _ => (take(&mut rest), take_options(&mut rest)),
        };
        options.tie = Tie { bound: None, entry: Some(entry) };
        Some((Reference { entry, units, options }, self.bytes.len() - rest.len()))
    }
}

fn put_options(options: &DeliveryOptions, out: &mut Vec<u8>) {
    let bit = |condition, bit| if condition { bit } else { 0 };
    out.push(bit(options.qos == QoS::ExactlyOnce, QOS2) | bit(options.retain, RETAIN) | bit(options.dup, DUP));
    put(options.ids.as_ref().iter().count() as u64, out);
    options.ids.as_ref().iter().for_each(|id| put(u64::from(id.get()), out));
}

fn take_options(input: &mut &[u8]) -> DeliveryOptions {
    let flags = input.split_off_first().copied().unwrap_or_default();
    let mut ids = Ids::None;
    for _ in 0..take(input) {
        u32::try_from(take(input)).ok().and_then(SubscriptionId::new).into_iter().for_each(|id| ids.add(id));
    }
    let qos = if flags & QOS2 != 0 { QoS::ExactlyOnce } else { QoS::AtLeastOnce };
    DeliveryOptions { qos, retain: flags & RETAIN != 0, dup: flags & DUP != 0, ids, tie: Tie::default() }
}

/// Seven bits a byte, the lowest first; the last byte is below 128.
fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// What [`put`] wrote.
fn take(input: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some(byte) = input.split_off_first() {
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if *byte < 0x80 {
            break;
        }
    }
    number
}
