//! User properties: ordered pairs of strings, repeats allowed.
//!
//! A view borrows the part of a received property section from the first to the last user property and skips what
//! lies between; nothing is copied or collected. Whoever makes properties pushes them into a [`UserPropertiesBuf`].

use std::fmt;

use crate::EncodeError;
use crate::property::{self, USER_PROPERTY};

/// Bytes that [`UserPropertiesBuf::clear`] keeps for the next packet.
const CAPACITY_KEPT: usize = 4096;

/// A borrowed view of user properties, in the order they were sent.
#[derive(Clone, Copy, Default)]
pub struct UserProperties<'a> {
    /// Validated properties, whole; those that are not user properties are skipped.
    raw: &'a [u8],
    /// Bytes of the user properties in `raw`, identifiers included. Equal to `raw.len()` when nothing lies between.
    encoded_len: u32,
    count: u16,
}

impl<'a> UserProperties<'a> {
    /// No properties.
    pub const EMPTY: UserProperties<'static> = UserProperties { raw: &[], encoded_len: 0, count: 0 };

    /// `raw` holds whole, validated properties, among them `count` user properties of `encoded_len` bytes.
    pub(crate) const fn from_validated(raw: &'a [u8], encoded_len: u32, count: u16) -> Self {
        UserProperties { raw, encoded_len, count }
    }

    /// How many pairs.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The pairs in order, as (name, value).
    pub fn iter(&self) -> UserPropertiesIter<'a> {
        UserPropertiesIter { raw: self.raw, left: self.count }
    }

    /// The value of the first pair with this name.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The first pair, and a view of the others.
    #[inline]
    pub fn split_first(&self) -> Option<((&'a str, &'a str), UserProperties<'a>)> {
        if self.count == 0 {
            return None;
        }
        let mut raw = self.raw;
        loop {
            let (id, value, rest) = property::split_validated(raw)?;
            raw = rest;
            if id == USER_PROPERTY {
                let encoded_len = self.encoded_len - (1 + value.len()) as u32;
                let others = match self.count - 1 {
                    0 => UserProperties::EMPTY,
                    count => UserProperties { raw, encoded_len, count },
                };
                return Some((property::split_pair_validated(value)?, others));
            }
        }
    }

    /// Calls `part` with the encoded pairs, in one piece when they were sent in one piece.
    pub(crate) fn for_each_encoded(&self, mut part: impl FnMut(&'a [u8])) {
        if self.raw.len() == self.encoded_len as usize {
            return part(self.raw);
        }
        let mut raw = self.raw;
        while let Some((id, value, rest)) = property::split_validated(raw) {
            if id == USER_PROPERTY {
                part(&raw[..1 + value.len()]);
            }
            raw = rest;
        }
    }
}

impl<'a> IntoIterator for &UserProperties<'a> {
    type Item = (&'a str, &'a str);
    type IntoIter = UserPropertiesIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for UserProperties<'_> {
    fn eq(&self, other: &UserProperties<'_>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for UserProperties<'_> {}

impl fmt::Debug for UserProperties<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterates over the pairs of [`UserProperties`].
#[derive(Clone, Debug)]
pub struct UserPropertiesIter<'a> {
    raw: &'a [u8],
    left: u16,
}

impl<'a> Iterator for UserPropertiesIter<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            let (id, value, rest) = property::split_validated(self.raw)?;
            self.raw = rest;
            if id == USER_PROPERTY {
                self.left -= 1;
                return property::split_pair_validated(value);
            }
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left), Some(usize::from(self.left)))
    }
}

impl ExactSizeIterator for UserPropertiesIter<'_> {}

/// Owned user properties, kept in their encoded form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserPropertiesBuf {
    raw: Vec<u8>,
    count: u16,
}

impl UserPropertiesBuf {
    /// No properties.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a pair.
    /// # Errors
    /// `FieldTooLong`: a string of more than 65,535 bytes; `PacketTooLarge`: more than any packet could hold.
    pub fn push(&mut self, name: &str, value: &str) -> Result<(), EncodeError> {
        check_len("user property name", name)?;
        check_len("user property value", value)?;
        let len = self.raw.len() + pair_len(name, value);
        if len > crate::varint::VARINT_MAX as usize || self.count == u16::MAX {
            return Err(EncodeError::PacketTooLarge { len });
        }
        push_pair(name, value, &mut self.raw);
        self.count += 1;
        Ok(())
    }

    /// Forgets all pairs; keeps the memory, unless it is much.
    pub fn clear(&mut self) {
        self.count = 0;
        if self.raw.capacity() > CAPACITY_KEPT {
            self.raw = Vec::new();
        }
        self.raw.clear();
    }

    /// The view that packets carry.
    pub fn as_ref(&self) -> UserProperties<'_> {
        UserProperties::from_validated(&self.raw, self.raw.len() as u32, self.count)
    }
}

impl From<UserProperties<'_>> for UserPropertiesBuf {
    /// Copies the pairs, in one piece when they were sent in one piece.
    fn from(user: UserProperties<'_>) -> Self {
        let mut raw = Vec::with_capacity(user.encoded_len as usize);
        user.for_each_encoded(|part| raw.extend_from_slice(part));
        UserPropertiesBuf { raw, count: user.count }
    }
}

fn check_len(field: &'static str, text: &str) -> Result<(), EncodeError> {
    let len = text.len();
    if len > usize::from(u16::MAX) { Err(EncodeError::FieldTooLong { field, len }) } else { Ok(()) }
}

const fn pair_len(name: &str, value: &str) -> usize {
    1 + 2 + name.len() + 2 + value.len()
}

fn push_pair(name: &str, value: &str, out: &mut Vec<u8>) {
    out.push(USER_PROPERTY);
    for text in [name, value] {
        out.extend_from_slice(&(text.len() as u16).to_be_bytes());
        out.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_back_in_order_with_repeats() {
        let mut buf = UserPropertiesBuf::new();
        for (name, value) in [("a", "1"), ("", ""), ("a", "2")] {
            buf.push(name, value).unwrap();
        }
        let view = buf.as_ref();
        assert_eq!(view.iter().collect::<Vec<_>>(), [("a", "1"), ("", ""), ("a", "2")]);
        assert_eq!(UserPropertiesBuf::from(view), buf);
        assert_eq!((view.len(), view.get("a"), view.get("b")), (3, Some("1"), None));
    }

    /// Are the first pair and the others what the packet has, also with other properties between them?
    #[test]
    fn the_first_pair_can_be_split_off() {
        let (mut buf, mut between) = (UserPropertiesBuf::new(), Vec::new());
        assert_eq!(buf.as_ref().split_first(), None);
        buf.push("a", "1").unwrap();
        assert_eq!(buf.as_ref().split_first(), Some((("a", "1"), UserProperties::EMPTY)));
        for (name, value) in [("b", ""), ("a", "2")] {
            buf.push(name, value).unwrap();
        }
        push_pair("a", "1", &mut between);
        between.extend_from_slice(&[property::PAYLOAD_FORMAT_INDICATOR, 1]);
        push_pair("b", "", &mut between);
        push_pair("a", "2", &mut between);
        let views = [buf.as_ref(), UserProperties::from_validated(&between, between.len() as u32 - 2, 3)];
        for view in views {
            let (first, others) = view.split_first().unwrap();
            assert_eq!((first, others.len()), (("a", "1"), 2));
            assert_eq!(others.iter().collect::<Vec<_>>(), [("b", ""), ("a", "2")]);
            let mut copy = UserPropertiesBuf::new();
            others.iter().for_each(|(name, value)| copy.push(name, value).unwrap());
            assert_eq!(UserPropertiesBuf::from(others), copy);
            assert_eq!(others.split_first().unwrap().0, ("b", ""));
        }
    }

    #[test]
    fn a_cleared_buffer_is_an_empty_one() {
        let mut buf = UserPropertiesBuf::new();
        buf.push("n", &"x".repeat(2 * CAPACITY_KEPT)).unwrap();
        buf.clear();
        assert!(buf.as_ref().is_empty() && buf.raw.capacity() <= CAPACITY_KEPT);
        buf.push("a", "1").unwrap();
        assert_eq!(buf.as_ref().iter().collect::<Vec<_>>(), [("a", "1")]);
    }

    #[test]
    fn a_string_that_does_not_fit_is_refused() {
        let long = "x".repeat(65_536);
        let mut buf = UserPropertiesBuf::new();
        assert_eq!(buf.push("n", &long), Err(EncodeError::FieldTooLong { field: "user property value", len: 65_536 }));
        assert!(buf.as_ref().is_empty());
    }
}
