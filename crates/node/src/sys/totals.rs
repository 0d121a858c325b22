//! The node's numbers at one moment, added up over its shards.

use std::sync::Arc;

use crate::metrics::ShardCounters;
use crate::shared::Shared;

/// What the tree shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Open connections, now and at most.
    pub(crate) connected: u64,
    pub(crate) connected_max: u64,
    /// Sessions, all and those without a connection.
    pub(crate) sessions: u64,
    pub(crate) offline: u64,
    /// Sessions that ended because their expiry was over.
    pub(crate) expired: u64,
    /// Sockets accepted, and sessions opened on them.
    pub(crate) accepted: u64,
    pub(crate) opened: u64,
    /// Packets of any type.
    pub(crate) packets_in: u64,
    pub(crate) packets_out: u64,
    /// PUBLISH packets, and the bytes of these.
    pub(crate) publishes_in: u64,
    pub(crate) publishes_out: u64,
    pub(crate) publish_bytes_in: u64,
    pub(crate) publish_bytes_out: u64,
    /// Messages dropped for one receiver, a session, group or hold, for any reason.
    pub(crate) dropped: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) subscriptions: u64,
    pub(crate) shared_subscriptions: u64,
    pub(crate) retained: u64,
    pub(crate) retained_bytes: u64,
    /// Messages that somebody keeps: queued, unacknowledged, retained, wills.
    pub(crate) kept_messages: u64,
    pub(crate) kept_bytes: u64,
    /// The node's account of memory, now and at most.
    pub(crate) memory: u64,
    pub(crate) memory_max: u64,
}

impl Totals {
    /// Adds up what all shards have counted.
    pub(crate) fn collect(shards: &[Arc<ShardCounters>], shared: &Shared) -> Self {
        let sum = |field: fn(&ShardCounters) -> u64| shards.iter().map(|shard| field(shard)).sum::<u64>();
        // Freed on another shard than made: single shards may be below zero, in the gauge's wrapping numbers.
        let kept = shards.iter().fold(0_u64, |sum, shard| sum.wrapping_add(shard.traffic.kept_messages.get()));
        Totals {
            connected: sum(|s| s.connections.get()),
            connected_max: u64::from(shared.connections_peak()),
            sessions: sum(|s| s.sessions.get()),
            offline: sum(|s| s.sessions_offline.get()),
            expired: sum(|s| s.traffic.sessions_expired.get()),
            accepted: sum(|s| s.accepted.get()),
            opened: sum(|s| s.traffic.sessions_opened.get()),
            packets_in: sum(|s| s.packets_in.get()),
            packets_out: sum(|s| s.traffic.packets_out.get()),
            publishes_in: sum(|s| s.publishes_in.iter().map(crate::metrics::Counter::get).sum()),
            publishes_out: sum(|s| s.traffic.publishes_out.get()),
            publish_bytes_in: sum(|s| s.traffic.publish_bytes_in.get()),
            publish_bytes_out: sum(|s| s.traffic.publish_bytes_out.get()),
            dropped: sum(ShardCounters::dropped_in_all)
                + shared.hold_counters.iter().map(|hold| hold.dropped_in_all()).sum::<u64>(),
            bytes_in: sum(|s| s.bytes_in.get()),
            bytes_out: sum(|s| s.bytes_out.get()),
            subscriptions: sum(|s| s.subscriptions.get()),
            shared_subscriptions: sum(|s| s.traffic.shared_subscriptions.get()),
            retained: sum(|s| s.retained_messages.get()),
            retained_bytes: sum(|s| s.retained_bytes.get()),
            kept_messages: (kept as i64).max(0) as u64,
            kept_bytes: shared.memory.message_bytes(),
            memory: shared.memory.bytes(),
            memory_max: shared.memory.bytes_peak(),
        }
    }
}
