//! A trace as text: one JSON object a line, for programs in other languages that replay the same day.

use std::fmt::Write;

use crate::trace::Trace;

impl Trace {
    /// Appends the trace to `out`, an object a line:
    ///
    /// - for each member, by its number: `{"member", "speeds": [[from_ms, messages_per_ms], ...], "rtts_ms": [[from_ms,
    ///   rtt_ms], ...]}`. A speed of 0 is a pause.
    /// - for each message, in their order: `{"at_ms", "work", "is_critical", "key"}`. `work` is in messages of average size.
    ///
    /// Numbers are written so that they read back as the same.
    pub fn write_json_lines(&self, out: &mut String) {
        for (number, member) in self.members.iter().enumerate() {
            let (speeds, rtts_ms) = (Steps(&member.speeds), Steps(&member.rtts_ms));
            // Writing to a String cannot fail.
            let _ = writeln!(out, r#"{{"member":{number},"speeds":{speeds},"rtts_ms":{rtts_ms}}}"#);
        }
        for message in &self.messages {
            let (at_ms, work, is_critical, key) = (message.at_ms, message.work, message.is_critical, message.key);
            let _ = writeln!(out, r#"{{"at_ms":{at_ms},"work":{work},"is_critical":{is_critical},"key":{key}}}"#);
        }
    }
}

/// From when on what holds. Every number is finite, and Rust writes those as JSON does.
struct Steps<'a>(&'a [(f64, f64)]);

impl std::fmt::Display for Steps<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[")?;
        for (at, (from_ms, value)) in self.0.iter().enumerate() {
            write!(f, "{}[{from_ms},{value}]", if at == 0 { "" } else { "," })?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    /// Does one seed give one text, another one another, and has every member and message its line?
    #[test]
    fn a_seed_is_a_text() {
        let scenario = Scenario { duration_ms: 2e3, members: 3, ..Scenario::hetero(0.5) };
        let text = |seed| {
            let (trace, mut out) = (Trace::new(&scenario, seed), String::new());
            trace.write_json_lines(&mut out);
            (out, trace.members.len() + trace.messages.len())
        };
        let (first, lines) = text(7);
        assert_eq!((first.lines().count(), &first), (lines, &text(7).0));
        assert_ne!(first, text(8).0);
        assert!(first.starts_with(r#"{"member":0,"speeds":[[0,0.0"#), "{}", &first[..100]);
        assert!(!first.contains("inf") && !first.contains("NaN"));
        assert!(first.lines().last().is_some_and(|line| line.starts_with(r#"{"at_ms":"#) && line.ends_with('}')));
    }
}
