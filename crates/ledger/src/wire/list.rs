//! A list inside an entry: made from a slice, read from packed bytes.

use std::fmt;

use super::Input;
use crate::{Fault, KeeperId};

/// Something that lists hold.
pub(crate) trait Pack<'a>: Copy {
    /// Appends it.
    /// # Errors
    /// It is longer than it may be.
    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault>;

    /// Reads one.
    fn take(input: &mut Input<'a>) -> Result<Self, Fault>;
}

/// Items of an entry, in their order. Reading borrows: what is packed was checked when the entry was decoded, and is read
/// again by whoever walks over it.
pub struct List<'a, T> {
    items: Items<'a, T>,
}

enum Items<'a, T> {
    Slice(&'a [T]),
    Packed { count: usize, bytes: &'a [u8] },
}

impl<'a, T> List<'a, T> {
    /// No items.
    pub const EMPTY: Self = List { items: Items::Slice(&[]) };

    /// These items.
    pub const fn from_slice(items: &'a [T]) -> Self {
        List { items: Items::Slice(items) }
    }

    /// Items as [`Pack::put`] wrote them, one behind the other.
    pub(crate) const fn from_packed(count: usize, bytes: &'a [u8]) -> Self {
        List { items: Items::Packed { count, bytes } }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        match self.items {
            Items::Slice(items) => items.len(),
            Items::Packed { count, .. } => count,
        }
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[allow(private_bounds, reason = "what a list can hold is decided here")]
impl<'a, T: Pack<'a>> List<'a, T> {
    /// The items.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let (items, count, bytes) = match self.items {
            Items::Slice(items) => (items, 0, &[][..]),
            Items::Packed { count, bytes } => (&[][..], count, bytes),
        };
        let mut input = Input::new(bytes);
        // Packed items were read once without an error, so this walk meets none.
        items.iter().copied().chain((0..count).map_while(move |_| T::take(&mut input).ok()))
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        super::put_number(self.len() as u64, out);
        match self.items {
            Items::Slice(items) => items.iter().try_for_each(|item| item.put(out)),
            Items::Packed { bytes, .. } => {
                out.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    pub(crate) fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let count = input.count("the number of items is cut off or impossible")?;
        let from = *input;
        for _ in 0..count {
            T::take(input)?;
        }
        Ok(List::from_packed(count, &from.rest()[..input.at() - from.at()]))
    }
}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<'_, T> {}

impl<T> Clone for Items<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Items<'_, T> {}

impl<'a, T: Pack<'a> + PartialEq> PartialEq for List<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a, T: Pack<'a> + Eq> Eq for List<'a, T> {}

impl<'a, T: Pack<'a> + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Pack<'_> for KeeperId {
    #[inline]
    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        super::put_number(self.0, out);
        Ok(())
    }

    #[inline]
    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        input.number("the id of a session or group is cut off").map(KeeperId)
    }
}

impl<'a> Pack<'a> for &'a str {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        super::put_text(self, "a topic or filter", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        input.text("a topic or filter is cut off, too long or not UTF-8")
    }
}
