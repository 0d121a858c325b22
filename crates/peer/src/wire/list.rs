//! A list inside a frame: made from a slice, read from packed bytes.

use std::fmt;

use super::{Input, check_len};
use crate::{EncodeError, Fault};

/// Something that frames and lists hold.
pub(crate) trait Pack<'a>: Copy {
    /// Appends it. On an error something may have been written, which the caller takes back.
    /// # Errors
    /// Whoever reads it would refuse it.
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError>;

    /// Reads one.
    fn take(input: &mut Input<'a>) -> Result<Self, Fault>;
}

/// Items in their order. Reading borrows: what is packed was checked when the frame was parsed, and is read again by whoever
/// walks over it.
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
    pub fn iter(&self) -> impl Iterator<Item = T> + Clone + use<'a, T> {
        let (items, count, bytes) = match self.items {
            Items::Slice(items) => (items, 0, &[][..]),
            Items::Packed { count, bytes } => (&[][..], count, bytes),
        };
        let mut input = Input::new(bytes, 0);
        // Packed items were read once without an error, so this walk meets none.
        items.iter().copied().chain((0..count).map_while(move |_| T::take(&mut input).ok()))
    }

    /// Appends the number of items, two bytes, and the items.
    pub(crate) fn put(&self, count_max: usize, what: &'static str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_len(self.len(), count_max, what)?;
        out.extend_from_slice(&(self.len() as u16).to_le_bytes());
        self.put_items(out)
    }

    /// Reads a number of items, `count_max` at most, and the items.
    pub(crate) fn take(input: &mut Input<'a>, count_max: usize, what: &'static str) -> Result<Self, Fault> {
        let count = input.len(count_max, what)?;
        Self::take_items(count, input)
    }

    /// Appends the items.
    pub(crate) fn put_items(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self.items {
            Items::Slice(items) => items.iter().try_for_each(|item| item.put(out)),
            Items::Packed { bytes, .. } => {
                out.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Reads so many items.
    pub(crate) fn take_items(count: usize, input: &mut Input<'a>) -> Result<Self, Fault> {
        let start = *input;
        for _ in 0..count {
            T::take(input)?;
        }
        Ok(List { items: Items::Packed { count, bytes: input.since(&start) } })
    }

    /// Reads items to the end of `bytes`.
    pub(crate) fn take_all(bytes: &'a [u8]) -> Result<Self, Fault> {
        let (mut input, mut count) = (Input::new(bytes, 0), 0);
        while !input.rest().is_empty() {
            T::take(&mut input)?;
            count += 1;
        }
        Ok(List { items: Items::Packed { count, bytes } })
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
