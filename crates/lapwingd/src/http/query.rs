//! The target of a request: its path and its query, decoded; each problem names the parameter, its value and what it may be.

use serde_json::json;

use super::error::HttpError;

const SHOWN_CHARACTERS_MAX: usize = 64;
const DIGITS_MAX: usize = 19;

/// Parameters in their order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// `text`: what stands behind the question mark.
    pub(super) fn parse(text: &str) -> Self {
        let pieces = text.split('&').filter(|piece| !piece.is_empty());
        Query(
            pieces
                .map(|piece| {
                    let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
                    (decoded(&name.replace('+', " ")), decoded(&value.replace('+', " ")))
                })
                .collect(),
        )
    }

    /// The last of that name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// Whether each is known, and there once.
    ///
    /// # Errors
    /// 400, with those that are known.
    pub(super) fn check(&self, known: &[&str]) -> Result<(), HttpError> {
        if let Some((name, _)) =
            self.0.iter().filter(|(name, _)| !known.contains(&&**name)).min_by_key(|(name, _)| name)
        {
            let value = self.get(name).unwrap_or_default();
            return Err(bad_parameter(name, value, &format!("unknown; known are {}", known.join(", "))));
        }
        for name in known {
            let values: Vec<&str> =
                self.0.iter().filter(|(found, _)| found == name).map(|(_, value)| &**value).collect();
            if values.len() > 1 {
                return Err(bad_parameter(name, &values.join(", "), "given more than once"));
            }
        }
        Ok(())
    }

    /// A whole number within bounds; `default` where it is not given.
    ///
    /// # Errors
    /// 400, with the bounds.
    pub(super) fn number(&self, name: &str, default: u64, least: u64, most: u64) -> Result<u64, HttpError> {
        let Some(text) = self.get(name) else { return Ok(default) };
        number(text)
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| bad_parameter(name, text, &format!("must be a whole number from {least} to {most}")))
    }
}

/// ASCII digits, not too many for 64 bits.
pub(super) fn number(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() <= DIGITS_MAX;
    if is_number { text.parse().ok() } else { None }
}

pub(super) fn bad_parameter(name: &str, value: &str, why: &str) -> HttpError {
    let mut shown: String = value.chars().take(SHOWN_CHARACTERS_MAX).collect();
    if shown.len() < value.len() {
        shown += "...";
    }
    HttpError::new(400, "bad_parameter", format!("{name}={shown}: {why}"), "correct the query of the URL")
        .with("parameter", json!(name))
        .with("value", json!(shown))
}

/// What percent signs stand for; what is no UTF-8 is shown as such.
pub(super) fn decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let (bytes, mut found, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while at < bytes.len() {
        let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                found.push((high << 4 | low) as u8);
                at += 3;
            }
            (byte, ..) => {
                found.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&found).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_is_decoded() {
        for (text, shown) in
            [("a%2Fb", "a/b"), ("%C3%BC", "ü"), ("100%", "100%"), ("%zz%4", "%zz%4"), ("%ff", "\u{fffd}")]
        {
            assert_eq!(decoded(text), shown);
        }
        let query = Query::parse("a=1&&b&c=x+y%26=&a=2");
        assert_eq!((query.get("a"), query.get("b"), query.get("c")), (Some("2"), Some(""), Some("x y&=")));
    }

    /// Is a parameter that is unknown, given twice, no number or out of bounds named, and not at length?
    #[test]
    fn problems_name_the_parameter() {
        let query = Query::parse("from=1&from=2&x=1");
        let known = ["from", "limit"];
        let told = |error: HttpError| String::from_utf8(error.body()).expect("text");
        assert!(told(query.check(&known).expect_err("x")).contains("x=1: unknown; known are from, limit"));
        assert!(told(query.check(&["from", "x"]).expect_err("twice")).contains("from=1, 2: given more than once"));
        for text in ["", "-1", "1.0", "²", "0x1", "11", "12345678901234567890"] {
            let query = Query::parse(&format!("limit={text}"));
            assert!(
                told(query.number("limit", 5, 1, 10).expect_err(text)).contains("must be a whole number from 1 to 10")
            );
        }
        assert_eq!(Query::parse("").number("limit", 5, 1, 10), Ok(5));
        assert_eq!(Query::parse("limit=010").number("limit", 5, 1, 10), Ok(10));
        let long = told(bad_parameter("reader", &"ü".repeat(65), "x"));
        assert!(long.contains(&format!("\"value\":\"{}...\"", "ü".repeat(64))), "{long}");
    }
}
