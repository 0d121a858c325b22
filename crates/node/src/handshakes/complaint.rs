//! What the operator is told of handshakes that found no place or lost it: at once, then once a minute at most.

use std::fmt::Display;

use serde_json::json;

use crate::notices::Line;

/// From one line to the next.
const PAUSE_MS: u64 = 60_000;

/// Refusals since the last line. Without a clock of its own.
#[derive(Debug, Default)]
pub(crate) struct Complaint {
    refused: u64,
    told_at_ms: Option<u64>,
}

impl Complaint {
    /// One more was refused: the line to tell, if it is time. `bound`: the setting that was reached, with its value.
    pub(crate) fn refused(&mut self, now_ms: u64, source: &dyn Display, bound: &dyn Display) -> Option<Line> {
        self.refused += 1;
        if self.told_at_ms.is_some_and(|at_ms| now_ms < at_ms.saturating_add(PAUSE_MS)) {
            return None;
        }
        self.told_at_ms = Some(now_ms);
        let refused = std::mem::take(&mut self.refused);
        let text = format!("{refused} TLS handshakes ended, the last one of {source}: {bound} are unfinished already");
        let facts =
            json!({"event": "refused", "address": source.to_string(), "reason": "handshakes", "count": refused});
        Some((text, facts).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is the first one told at once, and a flood in one line a minute that counts them all?
    #[test]
    fn a_flood_makes_one_line_a_minute() {
        let mut complaint = Complaint::default();
        let mut told = vec![];
        for now_ms in 0..150_000_u64 {
            told.extend(complaint.refused(now_ms, &"192.0.2.1", &"handshakes_max = 7").map(|line| (now_ms, line)));
        }
        let times: Vec<u64> = told.iter().map(|(at_ms, _)| *at_ms).collect();
        assert_eq!(times, [0, 60_000, 120_000]);
        assert_eq!(
            told[1].1.text,
            "60000 TLS handshakes ended, the last one of 192.0.2.1: handshakes_max = 7 are unfinished already"
        );
        let facts = json!({"event": "refused", "address": "192.0.2.1", "reason": "handshakes", "count": 60_000});
        assert_eq!(told[1].1.facts, Some(facts));
    }
}
