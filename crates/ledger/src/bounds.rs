//! How long each field may be. A reader checks them before it believes a length; a writer refuses what is longer.

/// A client id, topic, filter or name of a consumer group: what MQTT can carry.
pub const TEXT_BYTES_MAX: usize = u16::MAX as usize;
/// Who opened a session, as the node wrote it.
pub const IDENTITY_BYTES_MAX: usize = 1024;
/// Settings with which a consumer group was declared, as the node wrote them.
pub const DECLARATION_BYTES_MAX: usize = 1 << 20;
/// A PUBLISH: fixed header and the largest remaining length.
pub const FRAME_BYTES_MAX: usize = 5 + 0x0FFF_FFFF;
/// Subscription identifiers of one copy of a message.
pub const SUBSCRIPTION_IDS_MAX: usize = u16::MAX as usize;
/// The largest subscription identifier.
pub const SUBSCRIPTION_ID_MAX: u32 = 0x0FFF_FFFF;
/// The largest index of an entry.
pub const INDEX_MAX: u64 = u64::MAX >> 1;
