//! What is a topic name and what is a topic filter.

use thiserror::Error;

use super::SharedFilter;
use crate::Limits;

/// Why a string is not a topic name or not a topic filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TopicError {
    /// Topic names and filters have at least one character [MQTT-4.7.3-1].
    #[error("it is empty")]
    Empty,
    /// Longer than the limit, or than 65,535 bytes [MQTT-4.7.3-3].
    #[error("it is too long")]
    TooLong,
    /// More levels than the limit.
    #[error("it has too many levels")]
    TooManyLevels,
    /// U+0000 [MQTT-4.7.3-2].
    #[error("it contains U+0000")]
    Null,
    /// `+` or `#` in a topic name [MQTT-3.3.2-2].
    #[error("it has a wildcard, which only a filter may have")]
    Wildcard,
    /// `#` in a filter that is not all of its last level [MQTT-4.7.1-1].
    #[error("# must be the whole last level, as in a/#")]
    HashPlace,
    /// `+` in a filter beside other characters of its level [MQTT-4.7.1-2].
    #[error("+ must be a whole level, as in a/+/b")]
    PlusPlace,
    /// `$share/` without a valid group and a filter [MQTT-4.8.2-1], [MQTT-4.8.2-2].
    #[error("it is not of the form $share/GROUP/FILTER")]
    Share,
}

impl TopicError {
    /// The same as a fixed text.
    pub const fn what(self) -> &'static str {
        match self {
            TopicError::Empty => "an empty topic",
            TopicError::TooLong => "a topic that is too long",
            TopicError::TooManyLevels => "a topic with too many levels",
            TopicError::Null => "U+0000 in a topic",
            TopicError::Wildcard | TopicError::HashPlace | TopicError::PlusPlace => "a wildcard where none may stand",
            TopicError::Share => "a shared filter that is not $share/GROUP/FILTER",
        }
    }
}

/// Whether a message may be published to `topic`.
/// # Errors
/// It is no topic name, or beyond `limits`.
pub fn validate_topic_name(topic: &str, limits: &Limits) -> Result<(), TopicError> {
    check_size(topic, limits)?;
    if topic.bytes().any(|byte| matches!(byte, b'+' | b'#')) { Err(TopicError::Wildcard) } else { Ok(()) }
}

/// Whether `filter` may be subscribed to, ordinary or shared (`$share/GROUP/FILTER`, in either version).
/// # Errors
/// It is no topic filter, or beyond `limits`.
pub fn validate_filter(filter: &str, limits: &Limits) -> Result<(), TopicError> {
    check_size(filter, limits)?;
    let filter = SharedFilter::parse(filter)?.map_or(filter, |shared| shared.filter);
    let mut levels = filter.split('/').peekable();
    while let Some(level) = levels.next() {
        match level {
            "+" => {}
            "#" if levels.peek().is_none() => {}
            _ if level.contains('#') => return Err(TopicError::HashPlace),
            _ if level.contains('+') => return Err(TopicError::PlusPlace),
            _ => {}
        }
    }
    Ok(())
}

fn check_size(text: &str, limits: &Limits) -> Result<(), TopicError> {
    let bytes = text.as_bytes();
    if bytes.is_empty() {
        return Err(TopicError::Empty);
    }
    if bytes.len() > usize::from(limits.topic_bytes_max) {
        return Err(TopicError::TooLong);
    }
    if memchr::memchr(0, bytes).is_some() {
        return Err(TopicError::Null);
    }
    let separators = bytes.iter().filter(|&&byte| byte == b'/').count();
    if separators >= usize::from(limits.topic_levels_max) { Err(TopicError::TooManyLevels) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(topic: &str) -> Result<(), TopicError> {
        validate_topic_name(topic, &Limits::default())
    }

    fn filter(filter: &str) -> Result<(), TopicError> {
        validate_filter(filter, &Limits::default())
    }

    #[test]
    fn a_name_has_a_character_and_no_wildcard() {
        for topic in ["a", "/", "//", "$SYS/x", "a b", "ö/柔"] {
            assert_eq!((name(topic), filter(topic)), (Ok(()), Ok(())), "{topic}");
        }
        assert_eq!((name(""), filter("")), (Err(TopicError::Empty), Err(TopicError::Empty)));
        assert_eq!((name("a\0"), filter("a\0")), (Err(TopicError::Null), Err(TopicError::Null)));
        for topic in ["+", "#", "a/+", "a+"] {
            assert_eq!(name(topic), Err(TopicError::Wildcard), "{topic}");
        }
    }

    #[test]
    fn a_wildcard_is_alone_in_its_level_and_a_hash_is_last() {
        for valid in ["+", "#", "+/+", "/+", "a/+/b/#", "$share/g/+/#"] {
            assert_eq!(filter(valid), Ok(()), "{valid}");
        }
        for invalid in ["a#", "#/a", "a/#/b", "##", "$share/g/a#", "+#"] {
            assert_eq!(filter(invalid), Err(TopicError::HashPlace), "{invalid}");
        }
        for invalid in ["a+", "+a/b", "++", "$share/g/a+/b"] {
            assert_eq!(filter(invalid), Err(TopicError::PlusPlace), "{invalid}");
        }
        assert_eq!(filter("$share/g"), Err(TopicError::Share));
    }

    #[test]
    fn as_long_and_as_deep_as_the_broker_takes_by_default() {
        let deepest = "/".repeat(63);
        assert_eq!((name(&"a".repeat(1024)), name(&deepest)), (Ok(()), Ok(())));
        assert_eq!(name(&"a".repeat(1025)), Err(TopicError::TooLong));
        assert_eq!(name(&format!("{deepest}/")), Err(TopicError::TooManyLevels));
    }

    #[test]
    fn limits_are_inclusive() {
        let limits = Limits { topic_bytes_max: 3, topic_levels_max: 2, ..Limits::PROTOCOL };
        assert_eq!(validate_topic_name("a/b", &limits), Ok(()));
        assert_eq!(validate_topic_name("a/bc", &limits), Err(TopicError::TooLong));
        assert_eq!(validate_filter("//#", &limits), Err(TopicError::TooManyLevels));
    }
}
