//! How much one message may carry.

use crate::bounds::MESSAGE_ENTRIES_MAX;
use crate::entry::Entry;

/// Bounds of one message to a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageBound {
    /// Bytes of the bodies that its entries refer to.
    pub(crate) bytes_max: u64,
}

impl MessageBound {
    /// How many of the first `entries` go into one message: at least one, if there is one.
    pub(crate) fn fitting<'e>(&self, entries: impl Iterator<Item = &'e Entry>) -> usize {
        let mut bytes = 0_u64;
        let fits = |entry: &&Entry| {
            bytes = bytes.saturating_add(entry.kind.body_bytes());
            bytes <= self.bytes_max
        };
        let mut entries = entries.take(MESSAGE_ENTRIES_MAX).peekable();
        let at_least = usize::from(entries.peek().is_some());
        entries.take_while(fits).count().max(at_least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{BatchHeader, EntryKind};

    /// Is a message full by bytes or by number, and never empty?
    #[test]
    fn a_message_is_full_by_bytes_or_by_number() {
        let batch = |bytes| EntryKind::Batch(BatchHeader { first_sequence: 1, count: 1, bytes });
        let entries = |many, bytes| -> Vec<Entry> {
            (1..=many).map(|index| Entry { index, term: 1, kind: batch(bytes) }).collect()
        };
        let bound = MessageBound { bytes_max: 100 };
        assert_eq!(bound.fitting(entries(10, 40).iter()), 2);
        assert_eq!(bound.fitting(entries(10, 400).iter()), 1);
        assert_eq!(bound.fitting(entries(0, 0).iter()), 0);
        assert_eq!(bound.fitting(entries(5000, 0).iter()), MESSAGE_ENTRIES_MAX);
    }
}
