//! A short topic name: two bytes that stand where a topic id would (6.7).

use std::fmt;

use lapwing_codec::Limits;
use lapwing_codec::text;
use lapwing_codec::topic::{TopicError, validate_topic_name};

/// A topic name of exactly two bytes, without wildcards. The specification counts octets, so one character of two is one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShortTopic([u8; 2]);

impl ShortTopic {
    /// The short form of `topic`.
    /// # Errors
    /// It is no topic name, or has another length; in words.
    pub fn new(topic: &str) -> Result<Self, &'static str> {
        match *topic.as_bytes() {
            [first, second] => {
                validate_topic_name(topic, &Limits::PROTOCOL).map_err(TopicError::what)?;
                Ok(ShortTopic([first, second]))
            }
            _ => Err("a short topic name that has not two bytes"),
        }
    }

    /// What the two bytes of a topic id field say; in words when that is nothing.
    pub(crate) fn from_bytes(bytes: [u8; 2]) -> Result<Self, &'static str> {
        let topic = text::from_bytes(&bytes).map_err(text::TextError::what)?;
        ShortTopic::new(topic)
    }

    /// The bytes on the wire.
    pub const fn bytes(self) -> [u8; 2] {
        self.0
    }

    /// The topic name.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("whoever makes one has the text")
    }
}

impl fmt::Debug for ShortTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShortTopic({:?})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_6_7_a_short_name_has_two_bytes() {
        for topic in ["ab", "a/", "//", "$a", "ö", "\u{1}\u{7F}"] {
            let short = ShortTopic::new(topic).unwrap();
            assert_eq!((short.as_str(), ShortTopic::from_bytes(short.bytes())), (topic, Ok(short)));
        }
        for topic in ["", "a", "abc", "öa"] {
            assert!(ShortTopic::new(topic).is_err(), "{topic}");
        }
        assert_eq!(format!("{:?}", ShortTopic::new("ab").unwrap()), "ShortTopic(\"ab\")");
    }

    #[test]
    fn section_6_7_a_short_name_is_no_wildcard() {
        for topic in ["a#", "#a", "+/", "/+", "++"] {
            assert_eq!(ShortTopic::new(topic), Err(TopicError::Wildcard.what()), "{topic}");
        }
        for bytes in [[b'a', 0], [0, 0], [0xFF, b'a'], [b'a', 0xC3], [0xB6, 0xC3]] {
            assert!(ShortTopic::from_bytes(bytes).is_err(), "{bytes:x?}");
        }
    }
}
