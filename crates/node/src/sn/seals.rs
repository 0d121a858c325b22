//! What is counted of DTLS under MQTT-SN; written by its thread alone.

use crate::metrics::{Counter, Gauge, Metric};

/// Why a connection of DTLS is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// One side has said so.
    Closed,
    /// The peer has broken the protocol, or has nothing in common with us.
    Failed,
    /// Its certificate is not to be trusted, or it has shown none.
    Untrusted,
    /// It has not answered in its handshake, its first hello included.
    TimedOut,
    /// Nobody was connected in it for too long.
    Idle,
    /// Somebody has begun anew at its address, and shown to be there.
    Replaced,
    /// It went for another: too many had nobody connected in them.
    Crowded,
}

const ENDED: [(Ended, &str); 7] = [
    (Ended::Closed, "closed"),
    (Ended::Failed, "failed"),
    (Ended::Untrusted, "untrusted"),
    (Ended::TimedOut, "timed_out"),
    (Ended::Idle, "idle"),
    (Ended::Replaced, "replaced"),
    (Ended::Crowded, "crowded_out"),
];

/// Counters of DTLS.
#[derive(Debug, Default)]
pub(super) struct SealCounters {
    pub(super) open: Gauge,
    pub(super) handshakes: Counter,
    ended: [Counter; ENDED.len()],
}

impl SealCounters {
    pub(super) fn ended(&self, why: Ended) {
        self.ended[why as usize].add(1);
    }

    pub(super) fn metrics(&self) -> Vec<Metric> {
        let ended = "Connections of DTLS that are over, handshakes that were not done included, by reason.";
        let mut metrics = vec![
            Metric::gauge("lapwing_sn_dtls_connections", "Connections of DTLS, handshakes included.", self.open.get()),
            Metric::counter(
                "lapwing_sn_dtls_handshakes_total",
                "Handshakes of DTLS that were done.",
                self.handshakes.get(),
            ),
        ];
        metrics.extend(ENDED.iter().zip(&self.ended).map(|((_, name), count)| {
            Metric::counter("lapwing_sn_dtls_ended_total", ended, count.get()).with("reason", *name)
        }));
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has each reason its own place, in its order?
    #[test]
    fn each_reason_is_counted_by_itself() {
        assert!(ENDED.iter().enumerate().all(|(n, (why, _))| *why as usize == n));
        let counters = SealCounters::default();
        counters.ended(Ended::Crowded);
        let metrics = counters.metrics();
        let last = metrics.last().expect("reasons");
        assert_eq!((last.labels[0].1.as_ref(), last.value), ("crowded_out", 1.0));
    }
}
