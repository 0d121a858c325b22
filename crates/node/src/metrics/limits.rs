//! What one shard counts where a limit acts; written by its thread alone.

use super::{Counter, Gauge, Metric, ShardCounters};

/// Counters of limits and their policies.
#[derive(Debug, Default)]
pub(crate) struct LimitCounters {
    /// New connections refused while memory was above `memory_high_bytes`.
    pub(crate) refused_memory: Counter,
    /// Filters refused because their session has `subscriptions_per_session_max`.
    pub(crate) refused_subscriptions: Counter,
    /// Times that a session began to lose acknowledged messages since its client was there.
    pub(crate) sessions_losing: Counter,
    pub(crate) groups_losing: Counter,
    pub(crate) holds_losing: Counter,
    /// Messages refused because a session that wants them has no room.
    pub(crate) refused_queue_full: Counter,
    /// Filters refused because their holder has its share of groups.
    pub(crate) refused_share_groups: Counter,
    /// Clients refused because their identity has `sessions_per_identity_max`.
    pub(crate) refused_share_sessions: Counter,
    /// Clients refused because their holder has its share of connections.
    pub(crate) refused_share_connections: Counter,
    /// Sessions that ended with their connection because their holder has its share of those without.
    pub(crate) refused_share_away: Counter,
    /// Retained messages not kept because their holder has its share.
    pub(crate) refused_share_retained: Counter,
    /// Times a client had used up `messages_per_s_max`.
    pub(crate) limited_messages: Counter,
    /// Times a client had used up `bytes_per_s_max`.
    pub(crate) limited_bytes: Counter,
    /// Connections that are over and wait for their peer's end.
    pub(crate) lingering: Gauge,
    /// Of these, those whose peer did not end in time.
    pub(crate) linger_cut: Counter,
    /// Connections that ended with something of their client's unread.
    pub(crate) ended_unread: Counter,
    /// Bytes of messages of kept sessions, and of references to them, that are in memory: of `queue_memory_bytes`.
    pub(crate) queue_memory: Gauge,
    /// Messages that wait for kept sessions in the log only.
    pub(crate) paged_messages: Gauge,
}

impl LimitCounters {
    /// Adds up `shards` and names the sums.
    pub(crate) fn collect(shards: &[&ShardCounters]) -> Vec<Metric> {
        let sum = |field: fn(&LimitCounters) -> u64| shards.iter().map(|shard| field(&shard.limits)).sum::<u64>();
        let shares = "What was refused because its identity has its share of the broker's tables, or its holder more than held_times_free_max, by what it was.";
        let limited = "Times a client was not read for a while because it had used up its rate, by rate.";
        vec![
            Metric::counter(
                "lapwing_connections_refused_memory_total",
                "Connections refused (0x97) because memory was above memory_high_bytes.",
                sum(|l| l.refused_memory.get()),
            ),
            Metric::counter(
                "lapwing_subscriptions_refused_total",
                "Filters refused (0x97): their session has subscriptions_per_session_max, groups_per_session_max or what fits in packet_bytes_max, its identity groups_per_identity_max, its holder more than held_times_free_max, or there are groups_max, or members_per_group_max.",
                sum(|l| l.refused_subscriptions.get()),
            ),
            Metric::counter(
                "lapwing_publishes_refused_queue_full_total",
                "Messages refused to their publishers (0x97) because a session that wants them has no room, with queue_policy \"refuse\".",
                sum(|l| l.refused_queue_full.get()),
            ),
            Metric::counter(
                "lapwing_sessions_losing_total",
                "Times that a session lost an acknowledged message, the first since its client was there.",
                sum(|l| l.sessions_losing.get()),
            ),
            Metric::counter(
                "lapwing_groups_losing_total",
                "Times that a consumer group lost an acknowledged message for want of room, the first since half of its room was free.",
                sum(|l| l.groups_losing.get()),
            ),
            Metric::counter(
                "lapwing_holds_losing_total",
                "Times that a hold lost an acknowledged message for want of room, the first since half of its room was free.",
                sum(|l| l.holds_losing.get()),
            ),
            Metric::counter("lapwing_identity_share_refused_total", shares, sum(|l| l.refused_share_groups.get()))
                .with("what", "groups"),
            Metric::counter("lapwing_identity_share_refused_total", shares, sum(|l| l.refused_share_retained.get()))
                .with("what", "retained"),
            Metric::counter("lapwing_identity_share_refused_total", shares, sum(|l| l.refused_share_sessions.get()))
                .with("what", "sessions"),
            Metric::counter("lapwing_identity_share_refused_total", shares, sum(|l| l.refused_share_connections.get()))
                .with("what", "connections"),
            Metric::counter("lapwing_identity_share_refused_total", shares, sum(|l| l.refused_share_away.get()))
                .with("what", "sessions_offline"),
            Metric::counter("lapwing_rate_limited_total", limited, sum(|l| l.limited_messages.get()))
                .with("rate", "messages"),
            Metric::counter("lapwing_rate_limited_total", limited, sum(|l| l.limited_bytes.get()))
                .with("rate", "bytes"),
            Metric::gauge(
                "lapwing_connections_lingering",
                "Connections that are over and whose peers have not ended their side yet.",
                sum(|l| l.lingering.get()),
            ),
            Metric::counter(
                "lapwing_connections_linger_cut_total",
                "Connections closed for good because their peer did not end its side within close_linger.",
                sum(|l| l.linger_cut.get()),
            ),
            Metric::counter(
                "lapwing_connections_ended_unread_total",
                "Connections that ended with something unread that their client had sent: the broker ended them, or they were taken over and had more to say than takeover_wait allows.",
                sum(|l| l.ended_unread.get()),
            ),
            Metric::gauge(
                "lapwing_queue_memory_bytes",
                "Bytes of messages of kept sessions, and of references to those on disk, that are in memory: of queue_memory_bytes.",
                sum(|l| l.queue_memory.get()),
            ),
            Metric::gauge(
                "lapwing_queue_paged_messages",
                "Messages that wait for kept sessions in the log only.",
                sum(|l| l.paged_messages.get()),
            ),
        ]
    }
}
