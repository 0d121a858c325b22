//! Quality of service.

/// How often a message may arrive.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QoS {
    /// QoS 0: fire and forget.
    #[default]
    AtMostOnce = 0,
    /// QoS 1: repeated until acknowledged.
    AtLeastOnce = 1,
    /// QoS 2: exactly once, by a four-packet exchange.
    ExactlyOnce = 2,
}

impl QoS {
    /// The level with this number; `None` for 3 and above.
    pub const fn from_u8(level: u8) -> Option<Self> {
        match level {
            0 => Some(QoS::AtMostOnce),
            1 => Some(QoS::AtLeastOnce),
            2 => Some(QoS::ExactlyOnce),
            _ => None,
        }
    }

    /// Whether a PUBLISH of this level carries a packet id and is acknowledged.
    pub const fn is_acknowledged(self) -> bool {
        !matches!(self, QoS::AtMostOnce)
    }
}
