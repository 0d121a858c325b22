//! What streams have lost, for the audit trail: to retention, to damage, and what somebody has given up.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use lapwing_store::{LogReader, Notice, StreamInfo};
use serde_json::{Value, json};

use super::Handle;
use crate::audit::{AuditEvent, Refusal};

/// Between two lines of what retention took of a stream.
const PAUSE_MS: u64 = 60_000;

/// What retention has taken, as far as it was told.
#[derive(Default)]
pub(super) struct StreamLosses(Mutex<State>);

#[derive(Default)]
struct State {
    looked_ms: u64,
    segments: u64,
    /// By stream, its first offsets when it was looked at last.
    firsts: HashMap<String, Vec<u64>>,
}

impl State {
    /// What has gone of a stream since it was looked at last: how many messages, and the first offsets from now on.
    fn gone(&mut self, stream: &StreamInfo) -> Option<Value> {
        let firsts: Vec<u64> = stream.partitions.iter().map(|partition| partition.first_offset).collect();
        let before = self.firsts.insert(stream.name.clone(), firsts.clone())?;
        let messages: u64 = firsts.iter().zip(&before).map(|(now, before)| now.saturating_sub(*before)).sum();
        (messages > 0)
            .then(|| json!({"stream": stream.name, "why": "retention", "messages": messages, "first_offsets": firsts}))
    }
}

impl StreamLosses {
    /// What went since the last call, by stream; nothing until a minute is over, unless it `is_last`.
    fn take(&self, reader: &LogReader, now_ms: u64, is_last: bool) -> Vec<Value> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (segments, is_first) = (reader.counters().trimmed_segments(), state.looked_ms == 0);
        let is_due = is_last || now_ms >= state.looked_ms + PAUSE_MS;
        if !is_first && (segments == state.segments || !is_due) {
            return Vec::new();
        }
        (state.looked_ms, state.segments) = (now_ms.max(1), segments);
        reader.streams().iter().filter_map(|stream| state.gone(stream)).collect()
    }
}

impl Handle {
    /// Writes down what retention took of streams, in a minute together.
    pub(super) fn audit_trimmed(&self, is_last: bool) {
        let Some(reader) = self.streams.reader().filter(|_| self.shared.audit.is_on()) else { return };
        for fields in self.stream_losses.take(reader, self.shared.now_ms(), is_last) {
            self.audit_lost(fields);
        }
    }

    /// Writes down what a notice tells of a loss, if it does.
    pub(super) fn audit_loss(&self, notice: &Notice) {
        if let Some(fields) = fields_of(notice) {
            self.audit_lost(fields);
        }
    }

    fn audit_lost(&self, fields: Value) {
        self.shared.audit.refused(Refusal::Stream, self.shared.now_ms(), || AuditEvent::now("stream_lost", fields));
    }
}

fn fields_of(notice: &Notice) -> Option<Value> {
    match notice {
        Notice::Unread(unread) => Some(json!({
            "stream": unread.stream, "why": "unread", "partition": unread.partition, "reader": unread.reader,
            "offset": unread.from_offset, "messages": unread.until_offset - unread.from_offset,
        })),
        Notice::Damaged { stream, partition, offset, what } => Some(json!({
            "stream": stream, "why": "damaged", "partition": partition, "offset": offset, "what": what,
        })),
        Notice::GivenUp { stream, partition, offset, messages } => Some(json!({
            "stream": stream, "why": "given_up", "partition": partition, "offset": offset, "messages": messages,
        })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use lapwing_store::{Append, Log, LogConfig, ReadLimits, StreamConfig, StreamIndex, TrimmedUnread};

    use super::*;

    /// Is what retention takes told by stream, once, a minute's together, and what is left at the end too?
    #[test]
    fn what_retention_takes_is_told_a_minute_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let stream = StreamConfig { segment_bytes: 64 << 10, retain_bytes: 64 << 10, ..StreamConfig::new("s", 1) };
        let (mut log, reader) = Log::open(dir.path(), &LogConfig::default(), &[stream]).unwrap();
        let mut fill = || {
            for _ in 0..40 {
                let (partition, slot, data_group, message_id, appended_at_us) = (0, 0, 0, 1, 1);
                let record = Append { partition, slot, data_group, message_id, appended_at_us, body: &[7; 10_000] };
                log.append(StreamIndex(0), record).unwrap();
                log.commit().unwrap();
            }
            log.retain(2).unwrap();
        };
        let losses = StreamLosses::default();
        assert!(losses.take(&reader, 5, false).is_empty(), "what was there before");
        fill();
        assert!(losses.take(&reader, 6, false).is_empty(), "not before it is time");
        let told = losses.take(&reader, 5 + PAUSE_MS, false);
        let first = reader.streams()[0].partitions[0].first_offset;
        assert!(first > 0);
        assert_eq!(told, [json!({"stream": "s", "why": "retention", "messages": first, "first_offsets": [first]})]);
        assert!(losses.take(&reader, 5 + 2 * PAUSE_MS, false).is_empty());
        fill();
        assert_eq!(losses.take(&reader, 6 + 2 * PAUSE_MS, true).len(), 1);
        let limits = ReadLimits { messages_max: 1, bytes_max: 1 };
        assert!(reader.read(StreamIndex(0), 0, 0, limits, None, &mut |_| ControlFlow::Continue(())).is_err());
    }

    /// Is a notice of a loss in the trail, and no other?
    #[test]
    fn notices_of_losses_are_events() {
        let (stream, partition, offset) = ("s".to_owned(), 1, 7);
        let reader = "r".to_owned();
        let unread = TrimmedUnread { stream: stream.clone(), partition, reader, from_offset: 7, until_offset: 9 };
        let fields = fields_of(&Notice::Unread(unread)).unwrap();
        assert_eq!(
            (&fields["why"], &fields["messages"], &fields["reader"]),
            (&json!("unread"), &json!(2), &json!("r"))
        );
        let what = "no".to_owned();
        let fields = fields_of(&Notice::Damaged { stream: stream.clone(), partition, offset, what }).unwrap();
        assert_eq!((&fields["why"], &fields["offset"]), (&json!("damaged"), &json!(7)));
        let fields = fields_of(&Notice::GivenUp { stream, partition, offset, messages: 3 }).unwrap();
        assert_eq!((&fields["why"], &fields["messages"]), (&json!("given_up"), &json!(3)));
        assert_eq!(fields_of(&Notice::Unconfigured { dir: "d".into() }), None);
    }
}
