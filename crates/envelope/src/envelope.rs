//! The message envelope: what a stream keeps of a PUBLISH, and its bytes.

use crate::error::EnvelopeError;

/// The user property that carries the device's clock: microseconds since the epoch as a decimal `i64`.
pub const SENT_AT_PROPERTY: &str = "lapwing-sent-at-us";

/// One message as a stream keeps it, user properties apart; everything is borrowed.
///
/// The clocks are microseconds since the epoch (UTC). Partition, offset and append time belong to the log's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The topic published to.
    pub topic: &'a str,
    /// The payload, any bytes.
    pub payload: &'a [u8],
    /// The publisher's client identifier.
    pub client_id: &'a str,
    /// 0, 1 or 2: the QoS of the PUBLISH.
    pub qos: u8,
    /// The RETAIN flag of the PUBLISH.
    pub retain: bool,
    /// When the device says it sent the message; see [`sent_at_us`].
    pub sent_at_us: Option<i64>,
    /// When the broker took the message from the socket.
    pub ingress_at_us: i64,
}

impl<'a> Envelope<'a> {
    /// Appends the encoded envelope to `out`. The properties are walked twice, so any cheap iterator will do and no
    /// list has to be made of a packet's.
    pub fn encode<'p, I>(&self, _user_properties: I, _out: &mut Vec<u8>)
    where
        I: Iterator<Item = (&'p str, &'p str)> + Clone,
    {
        unimplemented!()
    }

    /// Reads an encoded envelope and its user properties without copying.
    ///
    /// # Errors
    /// `Version`, `Malformed`.
    pub fn decode(_bytes: &'a [u8]) -> Result<(Self, UserProperties<'a>), EnvelopeError> {
        unimplemented!()
    }
}

/// The user properties of a decoded envelope, in the order of the PUBLISH; checked when it was decoded.
#[derive(Debug, Clone, Copy)]
pub struct UserProperties<'a> {
    count: usize,
    bytes: &'a [u8],
}

impl<'a> UserProperties<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Name and value of each.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let _ = self.bytes;
        std::iter::empty()
    }
}

/// The device's clock among user properties: the first [`SENT_AT_PROPERTY`] with a valid value, else nothing.
pub fn sent_at_us<'p>(mut user_properties: impl Iterator<Item = (&'p str, &'p str)>) -> Option<i64> {
    user_properties.find_map(|(name, value)| (name == SENT_AT_PROPERTY).then(|| value.parse().ok()).flatten())
}
