//! The protocol version of one connection.

/// A protocol version this codec speaks; the value is the protocol level byte of CONNECT.
///
/// 3.1 is the wire of 3.1.1 but for the name in CONNECT, a CONNACK without Session Present, DUP on the requests that are
/// sent again, and user name and password that may be missing although they are announced.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// MQTT 3.1.
    V31 = 3,
    /// MQTT 3.1.1.
    V311 = 4,
    /// MQTT 5.0.
    V5 = 5,
}

impl Version {
    /// The version with this protocol level, or `None` when the codec does not speak it.
    pub const fn from_level(level: u8) -> Option<Self> {
        match level {
            3 => Some(Version::V31),
            4 => Some(Version::V311),
            5 => Some(Version::V5),
            _ => None,
        }
    }

    /// The protocol level byte that CONNECT carries.
    pub const fn level(self) -> u8 {
        self as u8
    }

    /// The protocol name that CONNECT carries.
    pub const fn protocol_name(self) -> &'static str {
        match self {
            Version::V31 => "MQIsdp",
            Version::V311 | Version::V5 => "MQTT",
        }
    }

    /// Whether packets of this version carry properties and reason codes.
    pub const fn has_properties(self) -> bool {
        matches!(self, Version::V5)
    }

    /// The name people use: "3.1", "3.1.1" or "5.0".
    pub const fn name(self) -> &'static str {
        match self {
            Version::V31 => "3.1",
            Version::V311 => "3.1.1",
            Version::V5 => "5.0",
        }
    }
}
