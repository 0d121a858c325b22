//! Numbers and flags: what each is taken for, as pydantic takes it for the package. A whole number may be written as 10.0.

use serde_json::Value as Json;

use super::tree::Value;
use super::units;

/// Above this a floating point number is no 64-bit one.
const WHOLE_LIMIT: f64 = 9_223_372_036_854_775_808.0;

pub(super) fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Flag(flag) => Some(*flag),
        Value::Whole(0) => Some(false),
        Value::Whole(1) => Some(true),
        Value::Number(number) if *number == 0.0 => Some(false),
        Value::Number(number) if *number == 1.0 => Some(true),
        Value::Text(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "on" | "1" => Some(true),
            "false" | "f" | "no" | "n" | "off" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Whole(number) => Some(*number),
        Value::Number(number) => whole_number(*number),
        Value::Text(text) => whole_text(text.trim()),
        _ => None,
    }
}

fn whole_number(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && (-WHOLE_LIMIT..WHOLE_LIMIT).contains(&number)).then_some(number as i64)
}

fn whole_text(text: &str) -> Option<i64> {
    let whole = match text.split_once('.') {
        Some((whole, part)) => (!part.is_empty() && part.bytes().all(|digit| digit == b'0')).then_some(whole)?,
        None => text,
    };
    without_underscores(whole)?.parse().ok()
}

/// Digits may be set apart by one each.
fn without_underscores(text: &str) -> Option<String> {
    let is_wrong = text.starts_with('_') || text.ends_with('_') || text.contains("__");
    (!is_wrong).then(|| text.replace('_', ""))
}

pub(super) fn number(value: &Value) -> Option<Json> {
    let found = match value {
        Value::Whole(number) => *number as f64,
        Value::Number(number) => *number,
        Value::Text(text) => without_underscores(text.trim())?.parse().ok()?,
        _ => return None,
    };
    serde_json::Number::from_f64(found).map(Json::Number)
}

/// Bytes; the error is what it must be.
pub(super) fn size(value: &Value) -> Result<i64, String> {
    let found = match value {
        Value::Whole(bytes) if *bytes >= 0 => Some(*bytes),
        Value::Text(text) => units::size(text),
        _ => None,
    };
    found.ok_or_else(|| "a size: a number with B, KiB, MiB, GiB, kB, MB or GB, as in \"64MiB\"".into())
}

/// Milliseconds; the error is what it must be. Only 0 needs no unit.
pub(super) fn duration_ms(value: &Value) -> Result<i64, String> {
    let found = match value {
        Value::Whole(0) => Some(0),
        Value::Number(number) if *number == 0.0 => Some(0),
        Value::Text(text) => units::duration_ms(text),
        _ => None,
    };
    found.ok_or_else(|| "a duration with its unit: ms, s, m, h or d, as in \"24h\" or \"1h30m\"".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    /// Is what is a whole number one, however it is written, and nothing else?
    #[test]
    fn whole_numbers() {
        for (value, wanted) in [
            (Value::Number(10.0), Some(10)),
            (Value::Number(-0.0), Some(0)),
            (Value::Number(10.5), None),
            (Value::Number(1e30), None),
            (Value::Number(f64::NAN), None),
            (Value::Number(WHOLE_LIMIT), None),
            (Value::Flag(true), None),
            (text(" +10 "), Some(10)),
            (text("1_000"), Some(1_000)),
            (text("10.00"), Some(10)),
            (text("10."), None),
            (text("10.5"), None),
            (text("1__0"), None),
            (text("_1"), None),
            (text("0x10"), None),
            (text("9223372036854775808"), None),
        ] {
            assert_eq!(whole(&value), wanted, "{value:?}");
        }
    }

    #[test]
    fn flags_and_numbers() {
        for (value, wanted) in [
            (text("T"), Some(true)),
            (text("no"), Some(false)),
            (Value::Whole(1), Some(true)),
            (Value::Whole(2), None),
            (Value::Number(0.0), Some(false)),
            (text(" true"), None),
        ] {
            assert_eq!(flag(&value), wanted, "{value:?}");
        }
        for (value, wanted) in [(text(" 1_0.5 "), Some(10.5)), (text("nan"), None), (Value::Whole(3), Some(3.0))] {
            assert_eq!(number(&value).and_then(|found| found.as_f64()), wanted, "{value:?}");
        }
        assert_eq!((duration_ms(&Value::Number(0.0)), size(&Value::Whole(5))), (Ok(0), Ok(5)));
        assert!(duration_ms(&Value::Number(30.0)).is_err() && size(&Value::Number(5.0)).is_err());
    }
}
