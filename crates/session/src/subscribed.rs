//! The subscriptions of one session, and whether a client could ask for all of them again at once.

use std::collections::BTreeMap;

use crate::Grant;

/// Bytes of a filter in a SUBSCRIBE besides its text: its length, and its options.
const AROUND_FILTER_BYTES: usize = 2 + 1;
/// Bytes of a SUBSCRIBE besides its filters: header, packet id, and a Subscription Identifier, the largest one.
const AROUND_FILTERS_BYTES: usize = 5 + 2 + 1 + 5;

/// By filter as the client wrote it (with `$share/...`).
#[derive(Debug, Default)]
pub(crate) struct Subscribed {
    by_filter: BTreeMap<Box<str>, Grant>,
    /// What the filters take in a packet.
    filters_bytes: usize,
}

impl Subscribed {
    /// Whether one more filter leaves all of them in one SUBSCRIBE of `packet_bytes_max`: a client may have to ask for all
    /// again, and some do so in one packet, for ever.
    pub(crate) fn has_room(&self, filter: &str, packet_bytes_max: u32) -> bool {
        AROUND_FILTERS_BYTES + self.filters_bytes + filter_bytes(filter) <= packet_bytes_max as usize
    }

    pub(crate) fn len(&self) -> usize {
        self.by_filter.len()
    }

    pub(crate) fn get(&self, filter: &str) -> Option<Grant> {
        self.by_filter.get(filter).copied()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, Grant)> {
        self.by_filter.iter().map(|(filter, grant)| (&**filter, *grant))
    }

    pub(crate) fn insert(&mut self, filter: &str, grant: Grant) {
        if let Some(known) = self.by_filter.get_mut(filter) {
            *known = grant;
            return;
        }
        self.filters_bytes += filter_bytes(filter);
        self.by_filter.insert(filter.into(), grant);
    }

    pub(crate) fn remove(&mut self, filter: &str) -> Option<Grant> {
        let grant = self.by_filter.remove(filter)?;
        self.filters_bytes -= filter_bytes(filter);
        Some(grant)
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&str, Grant) -> bool) {
        let filters_bytes = &mut self.filters_bytes;
        self.by_filter.retain(|filter, grant| {
            let is_kept = keep(filter, *grant);
            if !is_kept {
                *filters_bytes -= filter_bytes(filter);
            }
            is_kept
        });
    }

    pub(crate) fn into_filters(self) -> impl ExactSizeIterator<Item = Box<str>> + use<> {
        self.by_filter.into_keys()
    }
}

fn filter_bytes(filter: &str) -> usize {
    AROUND_FILTER_BYTES + filter.len()
}
