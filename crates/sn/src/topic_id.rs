//! TopicId (5.3.11): 1 to 65534; 0x0000 and 0xFFFF are reserved.

use std::fmt;
use std::num::NonZeroU16;

use crate::{DecodeError, Reason};

/// A registered or predefined topic id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicId(NonZeroU16);

impl TopicId {
    /// The lowest id.
    pub const MIN: TopicId = TopicId(NonZeroU16::MIN);
    /// The highest id: 65534.
    pub const MAX: TopicId = match TopicId::new(0xFFFE) {
        Some(id) => id,
        None => TopicId::MIN,
    };

    /// `None` for the two reserved values.
    pub const fn new(id: u16) -> Option<Self> {
        match NonZeroU16::new(id) {
            Some(id) if id.get() != u16::MAX => Some(TopicId(id)),
            _ => None,
        }
    }

    /// The number on the wire.
    pub const fn get(self) -> u16 {
        self.0.get()
    }

    /// The id after this one; 65534 is followed by 1.
    pub const fn next(self) -> Self {
        match TopicId::new(self.get().wrapping_add(1)) {
            Some(id) => id,
            None => TopicId::MIN,
        }
    }

    /// An id that must be one; it stands at `at`.
    pub(crate) fn required(id: u16, at: usize) -> Result<Self, DecodeError> {
        TopicId::new(id).ok_or(DecodeError::new(Reason::InvalidTopicId, "a topic id that is reserved", at))
    }

    /// An id that is 0x0000 where it says nothing; it stands at `at`.
    pub(crate) fn optional(id: u16, at: usize) -> Result<Option<Self>, DecodeError> {
        if id == 0 { Ok(None) } else { TopicId::required(id, at).map(Some) }
    }

    /// The number on the wire where there may be none.
    pub(crate) fn wire(id: Option<TopicId>) -> u16 {
        id.map_or(0, TopicId::get)
    }
}

impl fmt::Debug for TopicId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TopicId({})", self.get())
    }
}

impl fmt::Display for TopicId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_5_3_11_the_first_and_the_last_value_are_reserved() {
        assert_eq!((TopicId::new(0), TopicId::new(0xFFFF)), (None, None));
        assert_eq!((TopicId::MIN.get(), TopicId::MAX.get()), (1, 0xFFFE));
        assert_eq!((TopicId::MIN.next().get(), TopicId::MAX.next()), (2, TopicId::MIN));
        for id in [0, 0xFFFF] {
            let error = TopicId::required(id, 3).unwrap_err();
            assert_eq!((error.reason, error.at), (Reason::InvalidTopicId, 3));
        }
        assert_eq!(TopicId::optional(0, 3), Ok(None));
        assert!(TopicId::optional(0xFFFF, 3).is_err());
        assert_eq!(TopicId::wire(TopicId::new(7)), 7);
    }
}
