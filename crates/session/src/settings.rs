//! What one session may cost, and what it is offered.

use lapwing_codec::QoS;

/// What happens when a message does not fit into a session's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueuePolicy {
    /// The longest waiting messages give way.
    #[default]
    DropOldest,
    /// The new message is dropped.
    DropNewest,
    /// The same; but whoever can ask [`crate::Session::has_room_for`] before it is published refuses it to its publisher.
    Refuse,
    /// The client is disconnected with 0x97 (Quota exceeded); while it is away the new message is dropped.
    Disconnect,
}

/// Shared by all sessions (in an `Arc`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Longest client id, in bytes; beyond it: 0x85.
    pub client_id_bytes_max: u16,
    /// Subscriptions of one session; beyond it: 0x97 in the SUBACK.
    pub subscriptions_max: u32,
    /// A topic or a filter, in bytes; a longer one is refused (0x90, 0x8F).
    pub topic_bytes_max: u16,
    /// Levels of a topic or a filter (separators + 1); a deeper one is refused.
    pub topic_levels_max: u16,
    /// User properties of a message; one that has more is refused (0x83).
    pub user_properties_max: u16,
    /// Filters of one SUBSCRIBE that are looked at; those beyond: 0x97 in the SUBACK. 0 = any number.
    pub filters_per_packet_max: u32,
    /// Longest keep alive, in seconds; a client that asks for more, or for none, has this one, and is told so in 5.0. 0 = no
    /// bound.
    pub keep_alive_s_max: u16,
    /// Milliseconds for which a connection may carry no message and no subscription, either way; then it ends with 0xA0. What
    /// its client has not acknowledged keeps it. 0 = no bound.
    pub connection_idle_ms_max: u64,
    /// Longest session expiry granted, in seconds; `u32::MAX` = sessions may live forever.
    pub session_expiry_s_max: u32,
    /// Expiry of a 3.1.1 session with Clean Session 0, in seconds, at most the one before; `u32::MAX` = never.
    pub session_expiry_s_v311: u32,
    /// QoS 1 and 2 messages that a 5.0 client may have unacknowledged towards us (our Receive Maximum, at least 1).
    pub receive_maximum: u16,
    /// QoS 1 and 2 messages that we have unacknowledged towards a client, at most (at least 1).
    pub inflight_messages_max: u16,
    /// The same towards another broker, which cannot say its Receive Maximum (see [`lapwing_codec::Connect::is_bridge`]).
    pub bridge_inflight_messages_max: u16,
    /// Topic aliases that a client may use; 0 = none.
    pub topic_alias_max: u16,
    /// Topic aliases that we use towards a client that allows so many; 0 = none.
    pub topic_alias_sent_max: u16,
    /// Largest packet we take, in bytes; told in CONNACK. The codec enforces it.
    pub packet_bytes_max: u32,
    /// Messages that may wait in one session.
    pub queue_messages_max: u32,
    /// Bytes of messages that may wait in one session, and bytes from which nothing new is sent before something is
    /// acknowledged; a message shared by many sessions counts in each.
    pub queue_bytes_max: u64,
    /// What happens beyond these two.
    pub queue_policy: QueuePolicy,
    /// Milliseconds for which a message may wait in a session; what a group has bound is not asked. 0 = no bound.
    ///
    /// One that is older is dropped when it would be sent, or when there is no room for another.
    pub queue_age_ms_max: u64,
    /// Bytes in a connection's output buffer from which QoS 0 messages are dropped for it and others queued.
    pub output_high_bytes: usize,
    /// Highest QoS that a client may publish with; told in CONNACK.
    pub qos_max: QoS,
    /// Whether retained messages are kept; told in CONNACK.
    pub retain_available: bool,
    /// What the Response Information of a client that requests it begins with; its client id follows. `None`: none is given.
    pub response_information_prefix: Option<Box<str>>,
    /// Where clients may go instead, told with 0x9C and 0x9D.
    pub server_reference: Option<Box<str>>,
    /// Whether MQTT 3.1 is served; if not, its CONNECT is refused with return code 1.
    pub mqtt31: bool,
    /// Whether somebody outside judges enhanced authentication; if not, a CONNECT with a method is refused.
    pub authentication: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            client_id_bytes_max: 256,
            subscriptions_max: 10_000,
            topic_bytes_max: 1024,
            topic_levels_max: 64,
            user_properties_max: 64,
            filters_per_packet_max: 0,
            keep_alive_s_max: 0,
            connection_idle_ms_max: 0,
            session_expiry_s_max: 7 * 24 * 3600,
            session_expiry_s_v311: 24 * 3600,
            receive_maximum: 1024,
            inflight_messages_max: 1024,
            bridge_inflight_messages_max: 20,
            topic_alias_max: 32,
            topic_alias_sent_max: 16,
            packet_bytes_max: 1 << 20,
            queue_messages_max: 10_000,
            queue_bytes_max: 16 << 20,
            queue_policy: QueuePolicy::DropOldest,
            queue_age_ms_max: 0,
            output_high_bytes: 1 << 20,
            qos_max: QoS::ExactlyOnce,
            retain_available: true,
            response_information_prefix: None,
            server_reference: None,
            mqtt31: true,
            authentication: false,
        }
    }
}
