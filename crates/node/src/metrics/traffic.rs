//! What went out, and what clients and sessions did; written by the shard's thread alone.

use super::{Counter, Gauge, Metric, ShardCounters};
use crate::shard::Sent;

/// Counters of what is written and kept.
#[derive(Debug, Default)]
pub(crate) struct TrafficCounters {
    /// Packets that sessions wrote; a refused CONNECT has none.
    pub(crate) packets_out: Gauge,
    pub(crate) publishes_out: Gauge,
    pub(crate) publish_bytes_out: Gauge,
    pub(crate) publish_bytes_in: Counter,
    pub(crate) sessions_opened: Counter,
    pub(crate) sessions_expired: Counter,
    pub(crate) sessions_ended_by_order: Counter,
    pub(crate) shared_subscriptions: Gauge,
    /// Declarations, reports and answers to probes that could not be read or were nobody's.
    pub(crate) signals_ignored: Counter,
    /// Events of clients that were published.
    pub(crate) events: Counter,
    /// Those that found no room to wait.
    pub(crate) events_dropped: Counter,
    /// Messages that left no room for a stamp.
    pub(crate) unstamped: Counter,
    /// Messages whose deadline is the node's, and not that of their publisher.
    pub(crate) expiry_set: Counter,
    /// Messages made here less those freed here, wrapping: only the sum over all shards means something.
    pub(crate) kept_messages: Gauge,
}

impl TrafficCounters {
    /// Takes over what the shard's sessions have been sent.
    pub(crate) fn take_over(&self, sent: &Sent) {
        self.packets_out.set(sent.packets);
        self.publishes_out.set(sent.publishes);
        self.publish_bytes_out.set(sent.publish_bytes);
    }

    /// Adds up `shards` and names the sums.
    pub(crate) fn collect(shards: &[&ShardCounters]) -> Vec<Metric> {
        let sum = |field: fn(&TrafficCounters) -> u64| shards.iter().map(|shard| field(&shard.traffic)).sum::<u64>();
        let kept = shards.iter().fold(0_u64, |sum, shard| sum.wrapping_add(shard.traffic.kept_messages.get()));
        vec![
            Metric::counter(
                "lapwing_packets_sent_total",
                "Packets written towards clients.",
                sum(|t| t.packets_out.get()),
            ),
            Metric::counter(
                "lapwing_signals_ignored_total",
                "Declarations, reports and answers to probes of clients that could not be read or answered nothing.",
                sum(|t| t.signals_ignored.get()),
            ),
            Metric::counter(
                "lapwing_events_total",
                "Events of clients that were published on $lapwing/events/...",
                sum(|t| t.events.get()),
            ),
            Metric::counter(
                "lapwing_events_dropped_total",
                "Events of clients that were not published because so many waited already: events.queue, events.queue_bytes.",
                sum(|t| t.events_dropped.get()),
            ),
            Metric::counter(
                "lapwing_messages_unstamped_total",
                "Messages so large, or with so many user properties, that they do not say who has published them.",
                sum(|t| t.unstamped.get()),
            ),
            Metric::counter(
                "lapwing_messages_expiry_set_total",
                "Messages that were given an expiry, or had theirs lowered: message_expiry_default, message_expiry_max.",
                sum(|t| t.expiry_set.get()),
            ),
            Metric::counter(
                "lapwing_messages_sent_total",
                "PUBLISH packets written towards clients, those sent again included.",
                sum(|t| t.publishes_out.get()),
            ),
            Metric::counter(
                "lapwing_publish_bytes_received_total",
                "Bytes of PUBLISH packets from clients.",
                sum(|t| t.publish_bytes_in.get()),
            ),
            Metric::counter(
                "lapwing_publish_bytes_sent_total",
                "Bytes of PUBLISH packets written towards clients.",
                sum(|t| t.publish_bytes_out.get()),
            ),
            Metric::counter(
                "lapwing_sessions_opened_total",
                "Connections granted, to new and old sessions.",
                sum(|t| t.sessions_opened.get()),
            ),
            Metric::counter(
                "lapwing_sessions_expired_total",
                "Sessions that ended because their expiry was over.",
                sum(|t| t.sessions_expired.get()),
            ),
            Metric::counter(
                "lapwing_sessions_ended_by_order_total",
                "Sessions that an operator has ended.",
                sum(|t| t.sessions_ended_by_order.get()),
            ),
            Metric::gauge(
                "lapwing_shared_subscriptions",
                "Subscriptions to shared groups, of all sessions.",
                sum(|t| t.shared_subscriptions.get()),
            ),
            Metric::gauge(
                "lapwing_messages_kept",
                "Messages that somebody keeps: queued, unacknowledged, retained, wills. One kept by many counts once.",
                (kept as i64).max(0) as u64,
            ),
        ]
    }
}
