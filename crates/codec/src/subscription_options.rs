//! The options byte that stands behind each filter of a SUBSCRIBE.

use crate::{ProtocolError, QoS, Version};

/// When retained messages are sent for a subscription.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RetainHandling {
    /// At every SUBSCRIBE (and always in 3.1.1).
    #[default]
    Send = 0,
    /// Only if the subscription did not exist.
    SendIfNew = 1,
    /// Never.
    DoNotSend = 2,
}

/// The options byte of a filter; in 3.1.1 only `qos` is not default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SubscriptionOptions {
    /// Maximum QoS of messages to the client.
    pub qos: QoS,
    /// Do not send the client its own messages; never with a shared filter.
    pub no_local: bool,
    /// Keep the RETAIN flag as the publisher set it.
    pub retain_as_published: bool,
    /// Which retained messages come at once.
    pub retain_handling: RetainHandling,
}

impl SubscriptionOptions {
    /// Only a QoS; everything else default.
    pub const fn new(qos: QoS) -> Self {
        SubscriptionOptions { qos, no_local: false, retain_as_published: false, retain_handling: RetainHandling::Send }
    }

    /// The byte on the wire (5.0; in 3.1.1 the same when only `qos` is set).
    pub const fn to_byte(self) -> u8 {
        self.qos as u8
            | (self.no_local as u8) << 2
            | (self.retain_as_published as u8) << 3
            | (self.retain_handling as u8) << 4
    }

    /// Reads the byte; `None` when QoS or retain handling is 3 or a reserved bit is set.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        let Some(qos) = QoS::from_u8(byte & 0b11) else { return None };
        let retain_handling = match byte >> 4 {
            0 => RetainHandling::Send,
            1 => RetainHandling::SendIfNew,
            2 => RetainHandling::DoNotSend,
            _ => return None,
        };
        Some(SubscriptionOptions {
            qos,
            no_local: byte & 0b100 != 0,
            retain_as_published: byte & 0b1000 != 0,
            retain_handling,
        })
    }
}

/// Reads the byte of a packet: reserved bits are malformed, values of 3 a protocol error (section 3.8.3.1).
pub(crate) fn decode_options(byte: u8, version: Version, at: usize) -> Result<SubscriptionOptions, ProtocolError> {
    let reserved = if version.has_properties() { 0b1100_0000 } else { 0b1111_1100 };
    if byte & reserved != 0 {
        return Err(ProtocolError::malformed("reserved bits of subscription options that are set", at));
    }
    match SubscriptionOptions::from_byte(byte) {
        Some(options) => Ok(options),
        None if version.has_properties() => Err(ProtocolError::protocol("a QoS or retain handling of 3", at)),
        None => Err(ProtocolError::malformed("a requested QoS of 3", at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_accepted_comes_back() {
        let accepted: Vec<u8> = (0..=255).filter(|&byte| SubscriptionOptions::from_byte(byte).is_some()).collect();
        assert_eq!(accepted.len(), 3 * 2 * 2 * 3);
        for byte in accepted {
            assert_eq!(SubscriptionOptions::from_byte(byte).map(SubscriptionOptions::to_byte), Some(byte));
        }
    }
}
