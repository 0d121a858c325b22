//! The packet identifier: 1..=65535, never zero [MQTT-2.2.1-3].

use std::fmt;
use std::num::NonZeroU16;

/// Identifies one exchange (PUBLISH QoS 1/2, SUBSCRIBE, UNSUBSCRIBE) in one direction of one connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PacketId(NonZeroU16);

impl PacketId {
    /// The lowest identifier, where allocation starts.
    pub const MIN: PacketId = PacketId(NonZeroU16::MIN);
    /// The highest identifier.
    pub const MAX: PacketId = PacketId(NonZeroU16::MAX);

    /// `None` for 0, which the protocol forbids.
    pub const fn new(id: u16) -> Option<Self> {
        match NonZeroU16::new(id) {
            Some(id) => Some(PacketId(id)),
            None => None,
        }
    }

    /// The number on the wire.
    pub const fn get(self) -> u16 {
        self.0.get()
    }

    /// The identifier after this one; 65535 is followed by 1.
    pub const fn next(self) -> Self {
        match self.0.checked_add(1) {
            Some(id) => PacketId(id),
            None => PacketId::MIN,
        }
    }
}

impl fmt::Debug for PacketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PacketId({})", self.get())
    }
}

impl fmt::Display for PacketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_wrap_past_zero() {
        assert_eq!(PacketId::new(0), None);
        assert_eq!(PacketId::MAX.next(), PacketId::MIN);
        assert_eq!(PacketId::MIN.next().get(), 2);
    }
}
