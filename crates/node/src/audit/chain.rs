//! The number and the hash that bind each line to the one before it; pure.
//!
//! `hash` is SHA-256 of the line's bytes up to the comma before it, and `prev`, which those bytes end with, is the hash of the
//! line before: 64 zeros for the first. So any tool checks a trail: `lapwing audit verify` is one of twenty lines.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::AuditEvent;

/// What stands before a line's own hash.
const HASH: &str = r#","hash":""#;

/// Where a trail stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    /// The next line's number.
    seq: u64,
    /// Of the line before, where lines have one.
    last: Option<String>,
}

impl Chain {
    /// A trail that begins. `chained`: its lines have hashes.
    pub(super) fn begin(chained: bool) -> Self {
        Chain { seq: 1, last: chained.then(|| "0".repeat(64)) }
    }

    /// The trail behind its `line`, which is whole; `Err`: what is wrong with it.
    pub(super) fn behind(line: &str, chained: bool) -> Result<Self, String> {
        let fields: Value = serde_json::from_str(line).map_err(|error| format!("its last line is no JSON: {error}"))?;
        let seq = fields["seq"].as_u64().ok_or("its last line has no number \"seq\"")?;
        let mut chain = Chain { seq: seq.saturating_add(1), ..Chain::begin(chained) };
        if let (true, Some(hash)) = (chained, fields["hash"].as_str()) {
            let (hashed, _) = line.rsplit_once(HASH).ok_or("its last line does not end with its hash")?;
            if hex_digest(hashed) != hash {
                return Err("its last line has another hash than it says: it was changed".into());
            }
            chain.last = Some(hash.to_owned());
        }
        Ok(chain)
    }

    /// The next line, with its line feed.
    pub(super) fn seal(&mut self, event: AuditEvent) -> String {
        let mut line = event.opened(self.seq);
        self.seq += 1;
        if let Some(last) = &mut self.last {
            // Writing to a String cannot fail.
            let _ = write!(line, r#","prev":"{last}""#);
            *last = hex_digest(&line);
            let _ = write!(line, "{HASH}{last}\"");
        }
        line.push_str("}\n");
        line
    }
}

fn hex_digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(chained: bool, count: usize) -> Vec<String> {
        let mut chain = Chain::begin(chained);
        (0..count).map(|n| chain.seal(AuditEvent::now("connected", json!({"client_id": n})))).collect()
    }

    /// Does each line name the hash of the one before, and is it the hash of what stands there?
    #[test]
    fn each_line_is_bound_to_the_one_before() {
        let lines = lines(true, 3);
        let mut before = "0".repeat(64);
        for (n, line) in lines.iter().enumerate() {
            let value: Value = serde_json::from_str(line).unwrap();
            assert_eq!((value["seq"].as_u64(), value["prev"].as_str()), (Some(n as u64 + 1), Some(&*before)));
            let (hashed, _) = line.split_once(HASH).unwrap();
            before = hex_digest(hashed);
            assert_eq!(value["hash"].as_str(), Some(&*before));
            assert_eq!(Chain::behind(line.trim_end(), true).unwrap().last.as_ref(), Some(&before));
        }
    }

    /// Does a trail go on with the next number and hash, and is a last line that was touched refused?
    #[test]
    fn a_trail_goes_on_behind_its_last_line() {
        let mut whole = Chain::begin(true);
        let first = whole.seal(AuditEvent::now("started", json!({})));
        assert_eq!(Chain::behind(first.trim_end(), true), Ok(whole));
        let changed = first.replace("started", "stopped");
        for line in [changed.trim_end(), "{", "{}", r#"{"seq":1,"hash":"0"}"#] {
            assert!(Chain::behind(line, true).is_err(), "{line}");
        }
    }

    /// Are lines without a chain numbered all the same?
    #[test]
    fn without_a_chain_lines_have_numbers_only() {
        let lines = lines(false, 2);
        assert!(lines[1].starts_with(r#"{"seq":2,"at":""#) && lines[1].ends_with("\"client_id\":1}\n"), "{lines:?}");
        assert_eq!(Chain::behind(lines[1].trim_end(), false).unwrap().seq, 3);
    }

    /// Is an event whose fields end with objects of their own still one JSON object?
    #[test]
    fn nested_fields_stay_whole() {
        let line = Chain::begin(true).seal(AuditEvent::now("x\"y", json!({"a": {"b": {"c": 1}}})));
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&value["a"]["b"]["c"], &value["event"]), (&json!(1), &json!("xy")));
    }
}
