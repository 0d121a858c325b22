//! Up to 64 references, packed.
//!
//! ```text
//! per reference: number: steps from the entry before it, times two, plus one if its options or its size differ from those before;
//!                [options; size: number]
//! ```
//!
//! The first one has both; its entry is in `head`, so its steps are 0.

use super::Reference;
use crate::wire::{Input, Pack, put_number};
use crate::{DeliveryOptions, Fault};

/// As many as `gone` has bits.
const REFERENCES_MAX: u8 = 64;
/// Bytes after which a chunk is full before its time: options can be long.
const BYTES_FULL: usize = 4096;

#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    bytes: Vec<u8>,
    /// Bit n: the n-th reference has left.
    gone: u64,
    /// The first reference that has not left, if there is one.
    head: Cursor,
    /// The entry that was added last.
    last: u64,
    /// Where the options and size that were added last lie in `bytes`.
    last_options: u32,
    /// References that were added.
    added: u8,
}

/// A reference, and where the next one begins.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    entry: u64,
    /// Where its options and size lie in `bytes`.
    options: u32,
    behind: u32,
    nth: u8,
}

impl Chunk {
    pub(super) const fn is_empty(&self) -> bool {
        self.gone.count_ones() == self.added as u32
    }

    pub(super) const fn is_full(&self) -> bool {
        self.added == REFERENCES_MAX || self.bytes.len() >= BYTES_FULL
    }

    pub(super) const fn last(&self) -> Option<u64> {
        if self.added == 0 { None } else { Some(self.last) }
    }

    pub(super) const fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Begins anew, with the memory that it has and knowing what came last.
    pub(super) fn reset(&mut self) {
        self.bytes.clear();
        (self.gone, self.added) = (0, 0);
    }

    /// Nothing more is added: gives back memory that is not needed.
    pub(super) fn shrink(&mut self) {
        if self.is_empty() {
            self.bytes = Vec::new();
        }
        self.bytes.shrink_to_fit();
    }

    /// Adds a reference; the chunk is not full, and `entry` is behind all that it has.
    #[inline]
    pub(super) fn push(&mut self, reference: &Reference<'_>) {
        let Reference { entry, options, units } = *reference;
        let is_first = self.added == 0;
        let steps = if is_first { 0 } else { entry - self.last };
        let differs = is_first || self.options_at(self.last_options) != Some((options, units));
        put_number(steps << 1 | u64::from(differs), &mut self.bytes);
        if differs {
            self.last_options = self.bytes.len() as u32;
            options.write(&mut self.bytes);
            put_number(units, &mut self.bytes);
        }
        let behind = self.bytes.len() as u32;
        if self.is_empty() {
            self.head = Cursor { entry, options: self.last_options, behind, nth: self.added };
        }
        self.last = entry;
        self.added += 1;
    }

    /// Takes a reference out; false when it is not there.
    #[inline]
    pub(super) fn remove(&mut self, entry: u64) -> bool {
        let Some(found) = self.find(entry) else { return false };
        self.gone |= 1 << found.nth;
        if found.nth == self.head.nth {
            let next = self.walk(found).next();
            self.head = next.unwrap_or(found);
        }
        true
    }

    pub(super) fn contains(&self, entry: u64) -> bool {
        self.find(entry).is_some()
    }

    /// Those that have not left, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Reference<'_>> {
        // Most have the options of those before: these are read once.
        let mut read = None;
        self.cursors().filter_map(move |cursor| {
            let (options, units) = match read {
                Some((place, found)) if place == cursor.options => found,
                _ => self.options_at(cursor.options)?,
            };
            read = Some((cursor.options, (options, units)));
            Some(Reference { entry: cursor.entry, options, units })
        })
    }

    #[inline]
    fn find(&self, entry: u64) -> Option<Cursor> {
        if self.head.entry == entry && !self.is_empty() {
            return Some(self.head);
        }
        self.cursors().take_while(|cursor| cursor.entry <= entry).find(|cursor| cursor.entry == entry)
    }

    /// Those that have not left.
    fn cursors(&self) -> impl Iterator<Item = Cursor> {
        let head = (!self.is_empty()).then_some(self.head);
        head.into_iter().chain(head.into_iter().flat_map(|head| self.walk(head)))
    }

    /// Those behind `from` that have not left.
    #[inline]
    fn walk(&self, from: Cursor) -> impl Iterator<Item = Cursor> {
        std::iter::successors(Some(from), |at| self.next(*at)).skip(1).filter(|at| self.gone & (1 << at.nth) == 0)
    }

    #[inline]
    fn next(&self, at: Cursor) -> Option<Cursor> {
        let nth = at.nth + 1;
        if nth >= self.added {
            return None;
        }
        let mut input = Input::new(self.bytes.get(at.behind as usize..)?);
        let number = input.number("written by this chunk").ok()?;
        let mut options = at.options;
        if number & 1 != 0 {
            options = at.behind + input.at() as u32;
            take_options(&mut input).ok()?;
        }
        Some(Cursor { entry: at.entry + (number >> 1), options, behind: at.behind + input.at() as u32, nth })
    }

    /// The options and the size that lie there; this chunk wrote them, so they are whole.
    #[inline]
    fn options_at(&self, place: u32) -> Option<(DeliveryOptions<'_>, u64)> {
        take_options(&mut Input::new(self.bytes.get(place as usize..)?)).ok()
    }
}

#[inline]
fn take_options<'a>(input: &mut Input<'a>) -> Result<(DeliveryOptions<'a>, u64), Fault> {
    Ok((DeliveryOptions::take(input)?, input.number("written by this chunk")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SubscriptionIds;

    const fn of(entry: u64, options: DeliveryOptions<'_>) -> Reference<'_> {
        Reference { entry, options, units: 1 }
    }

    /// Does each reference keep its own options and size, and do equal ones cost nothing?
    #[test]
    fn options_are_written_when_they_change() {
        let plain = DeliveryOptions { qos: 1, retain: false, ids: SubscriptionIds::EMPTY };
        let other = DeliveryOptions { qos: 2, retain: true, ids: SubscriptionIds::from_slice(&[5, 500]) };
        let all = [plain, plain, other, other, plain];
        let mut chunk = Chunk::default();
        let mut lengths = vec![];
        for (n, options) in all.iter().enumerate() {
            chunk.push(&of(100 + n as u64, *options));
            lengths.push(chunk.bytes.len());
        }
        assert_eq!(lengths, [3, 4, 10, 11, 14]);
        assert!(chunk.iter().eq((100..).zip(all).map(|(entry, options)| of(entry, options))));
        assert!(chunk.remove(102) && chunk.remove(100) && chunk.remove(101));
        assert!(chunk.iter().eq([of(103, other), of(104, plain)]));
        let large = Reference { units: 16_384, ..of(105, plain) };
        chunk.push(&large);
        assert_eq!((chunk.iter().last(), chunk.bytes.len()), (Some(large), 14 + 5));
    }

    /// Is a chunk full at 64 references, or when its options are long?
    #[test]
    fn a_chunk_is_bounded() {
        let ids = [7; 1000];
        let (long, mut chunk) =
            (DeliveryOptions { qos: 1, retain: false, ids: SubscriptionIds::from_slice(&ids) }, Chunk::default());
        let plain = DeliveryOptions { ids: SubscriptionIds::EMPTY, ..long };
        let mut entry = 0;
        while !chunk.is_full() {
            entry += 1;
            chunk.push(&of(entry, if entry % 2 == 0 { plain } else { long }));
        }
        assert!((8..=10).contains(&entry), "{entry}");
        chunk.reset();
        (0..64).for_each(|n| {
            assert!(!chunk.is_full());
            chunk.push(&of(n, plain));
        });
        assert!(chunk.is_full() && chunk.iter().count() == 64);
    }
}
