//! What one datagram may cost its receiver.

use lapwing_codec::Limits as TopicLimits;

/// Limits that [`crate::decode`] enforces, and the one that encoding keeps to. All are inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// A datagram, in bytes, either way; with what a forwarder puts around its message.
    pub datagram_bytes_max: u16,
    /// A client id, in characters (5.3.1: 1 to 23).
    pub client_id_chars_max: u16,
    /// The id of a node behind a forwarder, in bytes (5.5): tables are kept by it.
    pub node_id_bytes_max: u8,
    /// Topic names and filters: `topic_bytes_max` and `topic_levels_max` count, the rest has nothing to say here.
    pub topics: TopicLimits,
}

impl Limits {
    /// Only the limits of the protocol; for a client that trusts its gateway, and for tests.
    pub const PROTOCOL: Limits = Limits {
        datagram_bytes_max: u16::MAX,
        client_id_chars_max: 23,
        node_id_bytes_max: 252,
        topics: TopicLimits::PROTOCOL,
    };
}

impl Default for Limits {
    /// 1,232 bytes of UDP pass every IPv6 path in one piece: 1,280 without the two headers.
    fn default() -> Self {
        Limits { datagram_bytes_max: 1232, node_id_bytes_max: 32, topics: TopicLimits::default(), ..Limits::PROTOCOL }
    }
}
