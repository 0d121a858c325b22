//! What one shard counts; written by its thread alone.

use lapwing_codec::ReasonCode;
use lapwing_session::{Counters as SessionCounters, DropReason as SessionDrop};
use lapwing_transport::Refusal;

use super::{
    AccessCounters, Counter, DropReason, EndedGroups, Gauge, HookCounters, LimitCounters, Metric, TrafficCounters,
};
use crate::shared::Crowded;

/// Counters of one shard.
#[derive(Debug)]
pub(crate) struct ShardCounters {
    pub(crate) accepted: Counter,
    pub(crate) accept_failures: Counter,
    pub(crate) refused_connections_max: Counter,
    /// There are `connections_max` of one listener.
    pub(crate) refused_listener_max: Counter,
    /// By what the transport found wrong.
    refusals: [Counter; Refusal::COUNT],
    pub(crate) moved: Counter,
    pub(crate) connections: Gauge,
    pub(crate) sessions: Gauge,
    pub(crate) sessions_offline: Gauge,
    /// Sessions ended with their connection because there are `sessions_offline_max`.
    pub(crate) sessions_not_kept: Counter,
    pub(crate) subscriptions: Gauge,
    pub(crate) retained_messages: Gauge,
    pub(crate) retained_bytes: Gauge,
    pub(crate) bytes_in: Counter,
    pub(crate) bytes_out: Counter,
    pub(crate) packets_in: Counter,
    pub(crate) publishes_in: [Counter; 3],
    pub(crate) deliveries: Counter,
    pub(crate) forwarded: Counter,
    pub(crate) stream_records: Counter,
    /// Messages that a rule about their topic keeps in memory alone.
    pub(crate) in_memory: Counter,
    pub(crate) wills: Counter,
    pub(crate) reads_held: Counter,
    pub(crate) turns: Counter,
    pub(crate) wakes: Counter,
    pub(crate) drops: [Counter; DropReason::COUNT],
    /// Of all groups, those that are over among them, for any reason: their own counters end with them.
    pub(crate) group_drops: Counter,
    /// Of groups that are over.
    pub(crate) ended_groups: EndedGroups,
    pub(crate) hooks: HookCounters,
    /// By the session's own reasons.
    session_drops: [Gauge; SessionDrop::ALL.len()],
    retransmitted: Gauge,
    duplicates: Gauge,
    /// By reason code: why connections ended.
    pub(crate) closes: Box<[Counter]>,
    /// Connections that ended without a word from either side.
    pub(crate) closes_network: Counter,
    /// Connections that sent no complete CONNECT in time.
    pub(crate) closes_connect_timeout: Counter,
    /// Connections closed because their output buffer was full or stalled.
    pub(crate) closes_slow_reader: Counter,
    /// What was refused for want of a right.
    pub(crate) access: AccessCounters,
    /// Where limits act.
    pub(crate) limits: LimitCounters,
    /// What went out.
    pub(crate) traffic: TrafficCounters,
}

impl Default for ShardCounters {
    fn default() -> Self {
        ShardCounters {
            accepted: Counter::default(),
            accept_failures: Counter::default(),
            refused_connections_max: Counter::default(),
            refused_listener_max: Counter::default(),
            refusals: Default::default(),
            moved: Counter::default(),
            connections: Gauge::default(),
            sessions: Gauge::default(),
            sessions_offline: Gauge::default(),
            sessions_not_kept: Counter::default(),
            subscriptions: Gauge::default(),
            retained_messages: Gauge::default(),
            retained_bytes: Gauge::default(),
            bytes_in: Counter::default(),
            bytes_out: Counter::default(),
            packets_in: Counter::default(),
            publishes_in: Default::default(),
            deliveries: Counter::default(),
            forwarded: Counter::default(),
            stream_records: Counter::default(),
            in_memory: Counter::default(),
            wills: Counter::default(),
            reads_held: Counter::default(),
            turns: Counter::default(),
            wakes: Counter::default(),
            drops: Default::default(),
            group_drops: Counter::default(),
            ended_groups: EndedGroups::default(),
            hooks: HookCounters::default(),
            session_drops: Default::default(),
            retransmitted: Gauge::default(),
            duplicates: Gauge::default(),
            closes: (0..256).map(|_| Counter::default()).collect(),
            closes_network: Counter::default(),
            closes_connect_timeout: Counter::default(),
            closes_slow_reader: Counter::default(),
            access: AccessCounters::default(),
            limits: LimitCounters::default(),
            traffic: TrafficCounters::default(),
        }
    }
}

impl ShardCounters {
    pub(crate) fn dropped(&self, reason: DropReason, messages: u64) {
        self.drops[reason as usize].add(messages);
    }

    /// Messages that sessions, groups and what is between them have dropped, for any reason. Holds count for themselves.
    pub(crate) fn dropped_in_all(&self) -> u64 {
        let own: u64 = self.drops.iter().map(Counter::get).sum();
        own + self.group_drops.get() + self.session_drops.iter().map(Gauge::get).sum::<u64>()
    }

    /// A connection was not taken.
    pub(crate) fn crowded(&self, crowded: Crowded) {
        match crowded {
            Crowded::Node => self.refused_connections_max.add(1),
            Crowded::Listener => self.refused_listener_max.add(1),
        }
    }

    pub(crate) fn refused(&self, refusal: Refusal) {
        self.refusals[refusal as usize].add(1);
    }

    /// Takes over what the sessions of this shard have counted.
    pub(crate) fn take_over(&self, sessions: &SessionCounters) {
        for reason in SessionDrop::ALL {
            self.session_drops[reason as usize].set(sessions.dropped(reason));
        }
        self.retransmitted.set(sessions.retransmitted);
        self.duplicates.set(sessions.duplicates);
    }

    pub(crate) fn closed(&self, reason: ReasonCode) {
        self.closes[usize::from(reason as u8)].add(1);
    }

    /// Adds up `shards` and names the sums.
    pub(crate) fn collect(shards: &[&ShardCounters]) -> Vec<Metric> {
        let sum = |field: fn(&ShardCounters) -> u64| shards.iter().map(|shard| field(shard)).sum::<u64>();
        let mut metrics = vec![
            Metric::gauge("lapwing_connections", "Open connections.", sum(|s| s.connections.get())),
            Metric::gauge("lapwing_sessions", "Sessions, with and without a connection.", sum(|s| s.sessions.get())),
            Metric::gauge(
                "lapwing_sessions_offline",
                "Sessions without a connection.",
                sum(|s| s.sessions_offline.get()),
            ),
            Metric::counter(
                "lapwing_sessions_not_kept_total",
                "Sessions ended with their connection because there are sessions_offline_max.",
                sum(|s| s.sessions_not_kept.get()),
            ),
            Metric::gauge("lapwing_subscriptions", "Subscriptions of all sessions.", sum(|s| s.subscriptions.get())),
            Metric::gauge("lapwing_retained_messages", "Retained messages.", sum(|s| s.retained_messages.get())),
            Metric::gauge("lapwing_retained_bytes", "Bytes of retained messages.", sum(|s| s.retained_bytes.get())),
            Metric::counter("lapwing_connections_accepted_total", "Connections accepted.", sum(|s| s.accepted.get())),
            Metric::counter(
                "lapwing_accept_failures_total",
                "Connections that could not be accepted.",
                sum(|s| s.accept_failures.get()),
            ),
            Metric::counter(
                "lapwing_connections_moved_total",
                "Connections moved to the shard of their client.",
                sum(|s| s.moved.get()),
            ),
            Metric::counter("lapwing_bytes_received_total", "Bytes read from clients.", sum(|s| s.bytes_in.get())),
            Metric::counter("lapwing_bytes_sent_total", "Bytes written to clients.", sum(|s| s.bytes_out.get())),
            Metric::counter("lapwing_packets_received_total", "Packets from clients.", sum(|s| s.packets_in.get())),
        ];
        for qos in 0..3 {
            let received: u64 = shards.iter().map(|s| s.publishes_in[qos].get()).sum();
            let help = "PUBLISH packets from clients, by QoS.";
            metrics
                .push(Metric::counter("lapwing_messages_received_total", help, received).with("qos", qos.to_string()));
        }
        metrics.extend([
            Metric::counter(
                "lapwing_messages_delivered_total",
                "PUBLISH packets written towards clients or queued for them.",
                sum(|s| s.deliveries.get()),
            ),
            Metric::counter(
                "lapwing_messages_forwarded_total",
                "Messages handed to another shard.",
                sum(|s| s.forwarded.get()),
            ),
            Metric::counter(
                "lapwing_stream_messages_total",
                "Messages handed to the log for a stream.",
                sum(|s| s.stream_records.get()),
            ),
            Metric::counter(
                "lapwing_messages_in_memory_total",
                "Messages that whoever keeps them has in memory alone, because a table of topics says so.",
                sum(|s| s.in_memory.get()),
            ),
            Metric::counter(
                "lapwing_messages_retransmitted_total",
                "Messages sent again after a reconnect.",
                sum(|s| s.retransmitted.get()),
            ),
            Metric::counter(
                "lapwing_messages_duplicate_total",
                "QoS 2 messages that a client sent again and that were not published again.",
                sum(|s| s.duplicates.get()),
            ),
            Metric::counter("lapwing_wills_published_total", "Wills published.", sum(|s| s.wills.get())),
            Metric::counter(
                "lapwing_reads_held_total",
                "Times a connection was not read on because a mailbox or the log had no room.",
                sum(|s| s.reads_held.get()),
            ),
            Metric::counter("lapwing_loop_turns_total", "Turns of the event loops.", sum(|s| s.turns.get())),
            Metric::counter("lapwing_loop_sleeps_total", "Times an event loop slept.", sum(|s| s.wakes.get())),
        ]);
        metrics.extend(AccessCounters::collect(shards.iter().map(|shard| &shard.access)));
        metrics.extend(TrafficCounters::collect(shards));
        metrics.extend(LimitCounters::collect(shards));
        metrics.extend(refusals(shards));
        metrics.extend(drops(shards));
        metrics.extend(EndedGroups::collect(shards));
        metrics.extend(closes(shards));
        metrics
    }
}

/// Connections that were not taken, or ended by what carries MQTT.
fn refusals<'a>(shards: &'a [&'a ShardCounters]) -> impl Iterator<Item = Metric> + 'a {
    let sum = |field: fn(&ShardCounters) -> u64| shards.iter().map(|shard| field(shard)).sum::<u64>();
    let crowded = [
        ("connections_max", sum(|s| s.refused_connections_max.get())),
        ("listener_connections_max", sum(|s| s.refused_listener_max.get())),
    ];
    let below = Refusal::ALL
        .into_iter()
        .map(|refusal| (refusal.name(), shards.iter().map(|s| s.refusals[refusal as usize].get()).sum()));
    crowded.into_iter().chain(below).map(|(label, count)| {
        let help = "Connections not taken, or ended by what carries MQTT, by reason.";
        Metric::counter("lapwing_connections_refused_total", help, count).with("reason", label)
    })
}

fn drops<'a>(shards: &'a [&'a ShardCounters]) -> impl Iterator<Item = Metric> + 'a {
    let own = DropReason::ALL
        .iter()
        .map(move |(reason, label)| (*label, shards.iter().map(|s| s.drops[*reason as usize].get()).sum()));
    let of_sessions = SessionDrop::ALL
        .iter()
        .map(move |reason| (reason.name(), shards.iter().map(|s| s.session_drops[*reason as usize].get()).sum()));
    own.chain(of_sessions).map(|(label, count)| {
        let help = "Messages not delivered to one receiver, by reason.";
        Metric::counter("lapwing_messages_dropped_total", help, count).with("reason", label)
    })
}

const CLOSED: &str = "lapwing_connections_closed_total";
const CLOSED_HELP: &str = "Connections ended, by reason.";

fn closes<'a>(shards: &'a [&'a ShardCounters]) -> impl Iterator<Item = Metric> + 'a {
    let sum = |field: fn(&ShardCounters) -> u64| shards.iter().map(|shard| field(shard)).sum::<u64>();
    let own = [
        ("network", sum(|s| s.closes_network.get())),
        ("connect_timeout", sum(|s| s.closes_connect_timeout.get())),
        ("slow_reader", sum(|s| s.closes_slow_reader.get())),
    ];
    let own = own.into_iter().map(|(label, n)| Metric::counter(CLOSED, CLOSED_HELP, n).with("reason", label));
    own.chain((0..=u8::MAX).filter_map(|code| {
        let count: u64 = shards.iter().map(|s| s.closes[usize::from(code)].get()).sum();
        let reason = ReasonCode::from_u8(code).filter(|_| count > 0)?;
        Some(Metric::counter(CLOSED, CLOSED_HELP, count).with("reason", label_of(reason)))
    }))
}

/// "Malformed Packet" becomes `malformed_packet`, as labels are written.
fn label_of(reason: ReasonCode) -> String {
    reason.name().to_ascii_lowercase().replace([' ', '-'], "_")
}
