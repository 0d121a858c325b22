//! Bounds and times, each with its default.

mod check;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(super) use self::check::PACKET_BYTES_HIGHEST;
use super::queue_policy::QueuePolicy;

/// Bounds of queues, buffers and tables, and the times to wait. Sizes in bytes, times in milliseconds or seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Connections of the whole node; one more is closed at once and counted.
    pub connections_max: u32,
    /// Time from the accepted connection to its complete CONNECT.
    pub connect_timeout_ms: u64,
    /// Largest CONNECT, its will included; never more than `packet_bytes_max`.
    pub connect_bytes_max: u32,
    /// Connections of the whole node that are no clients yet; for one more the oldest of the address with most is ended. Never
    /// more than `connections_max`.
    pub strangers_max: u32,
    /// The same of one address (IPv6: of one /64); never more than three quarters of `strangers_max`.
    pub strangers_per_address_max: u32,
    /// Memory for what they have sent; never more than a quarter of `memory_high_bytes`, and not counted there.
    pub strangers_bytes_max: u64,
    /// Threads that do TLS handshakes, at most 64. 0: one for every four shards.
    pub handshake_threads: u32,
    /// TLS handshakes that may be unfinished in the whole node; one more connection is closed at once and counted. Never more
    /// than a quarter of `connections_max`.
    pub handshakes_max: u32,
    /// TLS handshakes that may be unfinished of one source: an IPv4 address, or the /64 of an IPv6 one.
    pub handshakes_per_address_max: u32,
    /// Passwords that wait to be checked; beyond, the address with the most waiting is refused one of them.
    pub password_checks_max: u32,
    /// Requests over HTTP whose credentials are being checked, and as many of which others are asked; one more is refused.
    pub http_checks_max: u32,
    /// Of one address, of each kind.
    pub http_checks_per_address_max: u32,
    /// Threads that check passwords; 0: one for every two cores.
    pub password_threads: u32,
    /// Largest packet a client may send.
    pub packet_bytes_max: u32,
    /// Longest topic name or filter.
    pub topic_bytes_max: u16,
    /// Most levels of a topic name or filter.
    pub topic_levels_max: u16,
    /// Filters of one SUBSCRIBE that are granted; those beyond are refused in the SUBACK. 0: as many as fit in a packet.
    pub filters_per_packet_max: u32,
    /// Most user properties in one packet.
    pub user_properties_max: u16,
    /// Longest client id.
    pub client_id_bytes_max: u16,
    /// Subscriptions of one session.
    pub subscriptions_per_session_max: u32,
    /// Consumer groups that one session may be a member of. 0: any number that its subscriptions allow.
    pub groups_per_session_max: u32,
    /// Consumer groups that sessions of one identity have begun and that are there; the anonymous are one. 0: any number.
    pub groups_per_identity_max: u32,
    /// Sessions of one identity, with and without a connection; one more is refused. The anonymous are one. 0: any number.
    pub sessions_per_identity_max: u32,
    /// Retained messages that clients of one identity have published last; one more is not kept. The anonymous are one. 0: any
    /// number.
    pub retained_messages_per_identity_max: u32,
    /// Bytes of them. 0: any.
    pub retained_bytes_per_identity_max: u64,
    /// How many times of what is free in a table of the whole node one holder may have there and still take more. 0: any number.
    pub held_times_free_max: u32,
    /// Longest keep alive; a client that asks for more (or none) has this one, and is told so in 5.0. 0: no bound.
    pub keep_alive_s_max: u16,
    /// Silence of a TCP connection after which the kernel asks whether its peer is still there. 0: never.
    pub tcp_keep_alive_s: u16,
    /// Time between such questions, while none is answered.
    pub tcp_keep_alive_interval_s: u16,
    /// Questions without an answer after which the connection is over.
    pub tcp_keep_alive_probes: u16,
    /// Time for which a connection may carry no PUBLISH, SUBSCRIBE or UNSUBSCRIBE, either way; then it is ended with 0xA0. 0: no
    /// bound.
    pub connection_idle_ms_max: u64,
    /// Message Expiry Interval of messages that have none, where no table of topics says another. 0: they do not expire.
    pub message_expiry_s_default: u32,
    /// Longest Message Expiry Interval, also of messages that have none; a longer one is lowered. 0: no bound.
    pub message_expiry_s_max: u32,
    /// Longest session expiry granted.
    pub session_expiry_s_max: u32,
    /// Expiry of a 3.1.1 session with clean session 0, which cannot name one; never more than `session_expiry_s_max`.
    pub session_expiry_s_v311: u32,
    /// Sessions without a connection that the whole node keeps; the one that would be one more ends at once.
    pub sessions_offline_max: u32,
    /// QoS 1 and 2 messages that a client may have unacknowledged towards the broker (Receive Maximum).
    pub receive_maximum: u16,
    /// QoS 1 and 2 messages that the broker has unacknowledged towards one client, at most.
    pub inflight_messages_max: u16,
    /// The same towards a bridge of another broker, which cannot say how many it takes.
    pub bridge_inflight_messages_max: u16,
    /// Topic aliases that a client may use.
    pub topic_alias_max: u16,
    /// Topic aliases that the broker uses towards a client that allows so many.
    pub topic_alias_sent_max: u16,
    /// MQTT 3.1 (`MQIsdp`) is served; if not, its CONNECT is refused with return code 1.
    pub mqtt31: bool,
    /// Other brokers may come as bridges: by level 0x83 or 0x84 (no local, retain as published), and with the state of their
    /// connection under `$SYS/broker/connection`; where there are rules, those with the right `bridge`.
    pub mqtt_bridges: bool,
    /// Messages waiting for one session: each takes 8 bytes of memory, wherever it waits.
    pub queue_messages_max: u32,
    /// Bytes waiting for one session; an empty queue takes one message of any size.
    pub queue_bytes_max: u64,
    /// What happens to a message that finds a session's queue full.
    pub queue_policy: QueuePolicy,
    /// Time for which a message may wait for one session; then it is dropped and not sent. 0: no bound.
    pub queue_age_ms_max: u64,
    /// Bytes that what waits for sessions kept on disk may take in memory, in the whole node: windows of those whose clients are
    /// there, and 8 for each message that waits on disk, where it is read as it is sent.
    pub queue_memory_bytes: u64,
    /// PUBLISH packets that one client may send in a second; beyond, its connection is not read for a while. 0: any.
    pub messages_per_s_max: u32,
    /// Bytes that one client may send in a second; beyond, its connection is not read for a while. 0: any.
    pub bytes_per_s_max: u64,
    /// How long a silent client saves up for a burst: so much of its rates it may send at once.
    pub rate_burst_ms: u64,
    /// Memory of clients and messages from which new connections and QoS 0 messages are refused. 0: three quarters of
    /// what the process may have.
    pub memory_high_bytes: u64,
    /// Memory of clients and messages from which nothing more is kept for those that do not take it. 0: a sixth more
    /// than `memory_high_bytes`.
    pub memory_max_bytes: u64,
    /// Output buffer of one connection from which QoS 0 messages are dropped for it.
    pub output_high_bytes: u32,
    /// Output buffer at which a connection is closed; the largest packet in it does not count.
    pub output_bytes_max: u32,
    /// Time for which a connection may stay above `output_high_bytes` without taking a byte.
    pub output_stall_ms: u64,
    /// Time for which a connection that the broker has ended is still read, so that its last words arrive. 0: not at all.
    pub close_linger_ms: u64,
    /// Time for which a CONNECT waits for what its client has sent on its former connection and may not be read yet; never more
    /// than half of `connect_timeout_ms`. 0: not at all.
    pub takeover_wait_ms: u64,
    /// Retained messages of the whole node.
    pub retained_messages_max: u64,
    /// Bytes of retained messages of the whole node; never more than half of `memory_high_bytes`.
    pub retained_bytes_max: u64,
    /// Batches in a mailbox between two shards.
    pub mailbox_batches: u32,
    /// Messages in one such batch.
    pub mailbox_batch_messages: u32,
    /// Bytes in one such batch.
    pub mailbox_batch_bytes: u32,
    /// Bytes that one shard may have waiting for the log before connections that publish into streams are not read.
    pub log_lane_bytes: u64,
    /// Bytes that come to a data group before its state is written anew where it is no larger: sixteen times as many where they
    /// come within ten seconds.
    pub log_snapshot_bytes: u64,
    /// Size of a segment file of the data groups' log: what is given back to the disk at a time.
    pub log_segment_bytes: u64,
    /// How long a write of the log, or one turn of a shard's loop, may take before the node is not ready and says so.
    pub stall_after_ms: u64,
    /// How long a write of the log may take before the node counts as stuck.
    pub stuck_after_ms: u64,
    /// Bytes that one connection's read may bring in one turn of the loop.
    pub read_bytes_per_turn: u32,
    /// How long an idle shard looks for work before it sleeps, while there is traffic between shards.
    pub spin_us: u32,
    /// Notices of one kind that the operator hears in a minute; alarms of the node itself ten times as many.
    pub notices_per_minute: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections_max: 100_000,
            connect_timeout_ms: 10_000,
            connect_bytes_max: 64 << 10,
            strangers_max: 16_384,
            strangers_per_address_max: 4_096,
            strangers_bytes_max: 32 << 20,
            password_checks_max: 1024,
            http_checks_max: 1024,
            http_checks_per_address_max: 64,
            password_threads: 0,
            handshake_threads: 0,
            handshakes_max: 2048,
            handshakes_per_address_max: 256,
            packet_bytes_max: 1 << 20,
            topic_bytes_max: 1024,
            topic_levels_max: 64,
            filters_per_packet_max: 0,
            user_properties_max: 64,
            client_id_bytes_max: 256,
            subscriptions_per_session_max: 10_000,
            groups_per_session_max: 1000,
            groups_per_identity_max: 0,
            sessions_per_identity_max: 0,
            retained_messages_per_identity_max: 0,
            retained_bytes_per_identity_max: 0,
            held_times_free_max: 9,
            keep_alive_s_max: 0,
            tcp_keep_alive_s: 600,
            tcp_keep_alive_interval_s: 60,
            tcp_keep_alive_probes: 5,
            connection_idle_ms_max: 0,
            message_expiry_s_default: 0,
            message_expiry_s_max: 0,
            session_expiry_s_max: 7 * 24 * 3600,
            session_expiry_s_v311: 24 * 3600,
            sessions_offline_max: 100_000,
            receive_maximum: 1024,
            inflight_messages_max: 1024,
            bridge_inflight_messages_max: 20,
            topic_alias_max: 64,
            topic_alias_sent_max: 16,
            mqtt31: true,
            mqtt_bridges: true,
            queue_messages_max: 1_000_000,
            queue_bytes_max: 64 << 20,
            queue_policy: QueuePolicy::DropOldest,
            queue_age_ms_max: 0,
            queue_memory_bytes: 256 << 20,
            messages_per_s_max: 0,
            bytes_per_s_max: 0,
            rate_burst_ms: 1000,
            memory_high_bytes: 0,
            memory_max_bytes: 0,
            output_high_bytes: 1 << 20,
            output_bytes_max: 8 << 20,
            output_stall_ms: 30_000,
            close_linger_ms: 1000,
            takeover_wait_ms: 1000,
            retained_messages_max: 1_000_000,
            retained_bytes_max: 1 << 30,
            mailbox_batches: 64,
            mailbox_batch_messages: 1024,
            mailbox_batch_bytes: 256 << 10,
            log_lane_bytes: 32 << 20,
            log_snapshot_bytes: 1 << 20,
            log_segment_bytes: 64 << 20,
            stall_after_ms: 5_000,
            stuck_after_ms: 600_000,
            read_bytes_per_turn: 256 << 10,
            spin_us: 20,
            notices_per_minute: 60,
        }
    }
}

impl Limits {
    /// With so long a write of the log, or turn of a loop, the node is not ready.
    pub(crate) fn stall_after(&self) -> Duration {
        Duration::from_millis(self.stall_after_ms)
    }

    /// How long a CONNECT waits for what was said on its client's former connection.
    pub(crate) fn takeover_wait_ms(&self) -> u64 {
        self.takeover_wait_ms.min(self.connect_timeout_ms / 2)
    }

    /// With so long a write of the log the node is stuck.
    pub(crate) fn stuck_after(&self) -> Duration {
        Duration::from_millis(self.stuck_after_ms)
    }
}
