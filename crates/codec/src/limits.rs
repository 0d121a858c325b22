//! What one packet may cost its receiver.

/// Limits that [`crate::decode`] enforces before it looks further.
///
/// Every limit is inclusive: a packet of exactly `packet_bytes_max` bytes is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Whole packet with its fixed header, in bytes; beyond it: 0x95, as soon as the fixed header is there.
    pub packet_bytes_max: u32,
    /// A topic name, in bytes; beyond it: 0x90. Filters are for whoever answers for each of them; so may names be, where these
    /// limits are [`Limits::PROTOCOL`]'s.
    pub topic_bytes_max: u16,
    /// Levels of a topic name (separators + 1); beyond it: 0x90.
    pub topic_levels_max: u16,
    /// Filters in one SUBSCRIBE or UNSUBSCRIBE; beyond it: 0x97.
    pub filters_per_packet_max: u32,
    /// User properties in one property section; beyond it: 0x97.
    pub user_properties_max: u16,
}

impl Limits {
    /// The largest packet that the protocol itself allows, in bytes: 5 of fixed header and 268,435,455 after it.
    pub const PACKET_BYTES_MAX: u32 = 5 + crate::varint::VARINT_MAX;

    /// Only the limits of the protocol; for a client that trusts its server, and for tests.
    pub const PROTOCOL: Limits = Limits {
        packet_bytes_max: Limits::PACKET_BYTES_MAX,
        topic_bytes_max: u16::MAX,
        topic_levels_max: u16::MAX,
        filters_per_packet_max: u32::MAX,
        user_properties_max: u16::MAX,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            packet_bytes_max: 1 << 20,
            topic_bytes_max: 1024,
            topic_levels_max: 64,
            filters_per_packet_max: 1024,
            user_properties_max: 64,
        }
    }
}
