//! What one read of a stream asks for, checked: the bounds are those of the package.

use super::error::HttpError;
use super::query::{Query, bad_parameter, number};
use super::text::quoted;

const MESSAGES: (u64, u64) = (10_000, 1_000_000);
const BYTES: (u64, u64) = (8 << 20, 64 << 20);
const OFFSET_MAX: u64 = i64::MAX as u64;
const READER_CHARACTERS_MAX: usize = 64;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReadParameters {
    pub partition: u32,
    /// None: the oldest message kept.
    pub from: Option<u64>,
    pub messages_max: u64,
    pub bytes_max: u64,
    pub reader: Option<String>,
}

impl ReadParameters {
    /// From path and query.
    ///
    /// # Errors
    /// 400 for a wrong or unknown parameter, 404 for what cannot be a partition.
    pub(super) fn of(partition: &str, query: &Query) -> Result<Self, HttpError> {
        query.check(&["from", "limit", "bytes", "reader"])?;
        let Some(partition) = number(partition).and_then(|number| u32::try_from(number).ok()) else {
            let message = format!("no partition {}", quoted(partition));
            return Err(HttpError::new(404, "partition_unknown", message, "give a number from 0"));
        };
        let from = query.get("from").map(|_| query.number("from", 0, 0, OFFSET_MAX)).transpose()?;
        Ok(ReadParameters {
            partition,
            from,
            messages_max: query.number("limit", MESSAGES.0, 1, MESSAGES.1)?,
            bytes_max: query.number("bytes", BYTES.0, 1, BYTES.1)?,
            reader: query.get("reader").map(reader).transpose()?,
        })
    }
}

fn reader(name: &str) -> Result<String, HttpError> {
    if (1..=READER_CHARACTERS_MAX).contains(&name.chars().count()) {
        return Ok(name.to_owned());
    }
    Err(bad_parameter("reader", name, &format!("must have 1 to {READER_CHARACTERS_MAX} characters")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_without_words_begins_at_the_oldest() {
        let read = ReadParameters::of("7", &Query::parse("")).expect("it is right");
        let (messages_max, bytes_max) = (10_000, 8 << 20);
        assert_eq!(read, ReadParameters { partition: 7, from: None, messages_max, bytes_max, reader: None });
        let read = ReadParameters::of("0", &Query::parse("from=9223372036854775807&limit=1&bytes=67108864&reader=a"));
        let read = read.expect("it is right");
        assert_eq!((read.from, read.bytes_max, read.reader.as_deref()), (Some(OFFSET_MAX), 64 << 20, Some("a")));
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        for (partition, query, code) in [
            ("4294967296", "", "partition_unknown"),
            ("x", "", "partition_unknown"),
            ("0", "from=9223372036854775808", "bad_parameter"),
            ("0", "from=", "bad_parameter"),
            ("0", "limit=0", "bad_parameter"),
            ("0", "limit=1000001", "bad_parameter"),
            ("0", "bytes=67108865", "bad_parameter"),
            ("0", "reader=", "bad_parameter"),
            ("x", "wait=1", "bad_parameter"),
        ] {
            let refused = ReadParameters::of(partition, &Query::parse(query)).expect_err(query);
            assert_eq!(refused.code, code, "{partition} {query}");
        }
        let long = format!("reader={}", "r".repeat(65));
        assert!(ReadParameters::of("0", &Query::parse(&long)).is_err());
    }
}
