//! What handshakes are counted by. Those that fail, and connections that come and go, are counted as on the shards.

use std::sync::atomic::{AtomicU64, Ordering};

use super::HandshakeRoom;
use crate::metrics::Metric;
use crate::strangers::Bound;

/// Written by all threads of the room.
#[derive(Debug, Default)]
pub(crate) struct HandshakeCounters {
    full: AtomicU64,
    resumed: AtomicU64,
    refused_all: AtomicU64,
    refused_address: AtomicU64,
}

impl HandshakeCounters {
    /// One is done.
    pub(super) fn done(&self, is_resumed: bool) {
        let counter = if is_resumed { &self.resumed } else { &self.full };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// One had to go, or found no place.
    pub(super) fn refused(&self, bound: Bound) {
        let counter = match bound {
            Bound::PerAddress => &self.refused_address,
            Bound::Count | Bound::Bytes | Bound::Connections => &self.refused_all,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl HandshakeRoom {
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        let done = "TLS handshakes done, by whether an earlier one of the client spared the signature.";
        let refused =
            "TLS connections closed in their handshake or before it, by the limit of unfinished ones that was reached.";
        vec![
            Metric::gauge("lapwing_handshakes_open", "TLS handshakes begun and not done.", self.places.taken() as u64),
            Metric::counter("lapwing_handshakes_total", done, get(&counters.full)).with("kind", "full"),
            Metric::counter("lapwing_handshakes_total", done, get(&counters.resumed)).with("kind", "resumed"),
            Metric::counter("lapwing_handshakes_refused_total", refused, get(&counters.refused_address))
                .with("limit", "handshakes_per_address_max"),
            Metric::counter("lapwing_handshakes_refused_total", refused, get(&counters.refused_all))
                .with("limit", "handshakes_max"),
        ]
    }
}
