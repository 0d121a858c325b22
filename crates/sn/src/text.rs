//! The last fields that are text: client ids, topic names, topic filters. They reach to the end of their message.

use lapwing_codec::text;
use lapwing_codec::topic::{TopicError, validate_filter, validate_topic_name};

use crate::read::Reader;
use crate::{DecodeError, Limits, Reason};

/// A client id (5.3.1): at least one character, at most so many as the limit says.
pub(crate) fn client_id<'a>(reader: &mut Reader<'a>, limits: &Limits) -> Result<&'a str, DecodeError> {
    let at = reader.at();
    let id = rest(reader)?;
    if id.is_empty() {
        return Err(DecodeError::malformed("an empty client id", at));
    }
    if id.chars().count() > usize::from(limits.client_id_chars_max) {
        return Err(DecodeError::new(Reason::NotSupported, "a client id that is too long", at));
    }
    Ok(id)
}

/// A topic name (5.3.12, 5.3.14).
pub(crate) fn topic_name<'a>(reader: &mut Reader<'a>, limits: &Limits) -> Result<&'a str, DecodeError> {
    let at = reader.at();
    let topic = rest(reader)?;
    validate_topic_name(topic, &limits.topics).map_err(|error| topic_error(error, at))?;
    Ok(topic)
}

/// A topic filter.
pub(crate) fn topic_filter<'a>(reader: &mut Reader<'a>, limits: &Limits) -> Result<&'a str, DecodeError> {
    let at = reader.at();
    let filter = rest(reader)?;
    validate_filter(filter, &limits.topics).map_err(|error| topic_error(error, at))?;
    Ok(filter)
}

fn rest<'a>(reader: &mut Reader<'a>) -> Result<&'a str, DecodeError> {
    let at = reader.at();
    text::from_bytes(reader.rest()).map_err(|error| DecodeError::malformed(error.what(), at))
}

fn topic_error(error: TopicError, at: usize) -> DecodeError {
    DecodeError::new(Reason::NotSupported, error.what(), at)
}

#[cfg(test)]
mod tests {
    use crate::check::bytes;
    use crate::{Limits, Reason, decode};

    fn reason(hex: &str, limits: &Limits) -> Option<Reason> {
        decode(&bytes(hex), limits).err().map(|error| error.reason)
    }

    /// Do characters count, not bytes?
    #[test]
    fn section_5_3_1_a_client_id_has_1_to_23_characters() {
        let limits = Limits::default();
        assert_eq!(reason(&format!("1D 04 04 01 003C '{}'", "a".repeat(23)), &limits), None);
        assert_eq!(reason(&format!("34 04 04 01 003C '{}'", "ö".repeat(23)), &limits), None);
        assert_eq!(reason(&format!("1E 04 04 01 003C '{}'", "a".repeat(24)), &limits), Some(Reason::NotSupported));
        assert_eq!(reason("06 04 04 01 003C", &limits), Some(Reason::Malformed));
    }

    #[test]
    fn section_5_3_1_longer_client_ids_are_a_setting() {
        let limits = Limits { client_id_chars_max: 24, ..Limits::default() };
        assert_eq!(reason(&format!("1E 04 04 01 003C '{}'", "a".repeat(24)), &limits), None);
        assert_eq!(reason(&format!("1A 16 '{}'", "a".repeat(24)), &limits), None);
        let limits = Limits { client_id_chars_max: 2, ..limits };
        assert_eq!(reason("05 16 'abc'", &limits), Some(Reason::NotSupported));
    }

    #[test]
    fn section_5_3_12_topic_names_are_those_of_mqtt() {
        let limits = Limits::default();
        assert_eq!(reason("08 0A 0000 0001 C3B6", &limits), None);
        for (hex, expected) in [
            ("07 0A 0000 0001 FF", Reason::Malformed),
            ("07 0A 0000 0001 00", Reason::Malformed),
            ("06 0A 0000 0001", Reason::NotSupported),
            ("07 0A 0000 0001 '+'", Reason::NotSupported),
            ("09 0A 0000 0001 'a/#'", Reason::NotSupported),
        ] {
            assert_eq!(reason(hex, &limits), Some(expected), "{hex}");
        }
        let limits = Limits { topics: lapwing_codec::Limits { topic_levels_max: 1, ..limits.topics }, ..limits };
        assert_eq!(reason("09 0A 0000 0001 'a/b'", &limits), Some(Reason::NotSupported));
    }

    #[test]
    fn section_5_3_14_a_will_topic_is_a_topic_name() {
        let limits = Limits::default();
        assert_eq!(reason("04 07 00 'a'", &limits), None);
        assert_eq!(reason("03 07 00", &limits), Some(Reason::NotSupported));
        assert_eq!(reason("05 07 00 'a+'", &limits), Some(Reason::NotSupported));
    }
}
