//! What is written down, before it is a line.

use serde_json::{Map, Value};

use super::text::{ascii, cleaned};
use crate::log::now_us;
use crate::wall_time::WallTime;

/// Bytes of the fields of one line; more are not written.
const FIELDS_BYTES_MAX: usize = 16 << 10;

/// Something that has happened.
#[derive(Debug)]
pub(crate) struct AuditEvent {
    /// A word: `connected`, `refused`.
    name: Box<str>,
    /// Microseconds since the epoch.
    at_us: i64,
    fields: Map<String, Value>,
}

impl AuditEvent {
    /// It has happened now. `fields`: an object; texts in it are cut and cleaned as the line is made.
    pub(crate) fn now(name: &str, fields: Value) -> Self {
        let fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
        AuditEvent { name: name.into(), at_us: now_us(), fields }
    }

    /// The line without its end: what stands before the closing brace, in ASCII. `seq`: its number in the trail.
    pub(super) fn opened(self, seq: u64) -> String {
        let Value::Object(fields) = cleaned(Value::Object(self.fields)) else { return String::new() };
        let fields = ascii(&Value::Object(fields).to_string());
        let fields = &fields[1..fields.len() - 1];
        let at = WallTime::of_us(self.at_us).with_us();
        let mut line = format!(r#"{{"seq":{seq},"at":"{at}","event":"{}""#, word(&self.name));
        if fields.len() > FIELDS_BYTES_MAX {
            line.push_str(r#","too_long":true"#);
        } else if !fields.is_empty() {
            line.push(',');
            line.push_str(fields);
        }
        line
    }
}

/// The name of an event as it stands between quotation marks.
fn word(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(32).collect()
}
