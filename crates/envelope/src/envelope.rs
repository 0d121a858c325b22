//! The message envelope: what a stream keeps of a PUBLISH, and its bytes.
//!
//! Version 1, little endian, lengths as LEB128 (`varint.rs`):
//!
//! ```text
//! 0 version u8 = 1     1 flags u8: bits 0-1 QoS, bit 2 RETAIN, bit 3 sent_at is there, the rest 0
//! 2 ingress_at i64     [sent_at i64]
//! topic bytes, client id bytes, payload bytes, number of user properties: four lengths
//! topic, client id, payload
//! per user property: name bytes, value bytes: two lengths; name, value
//! ```
//!
//! Nothing follows. Partition, offset and append time are in the header of the log's record.

use crate::error::EnvelopeError;
use crate::varint;
use std::ops::RangeInclusive;

/// The user property that carries the device's clock: microseconds since the epoch as a decimal `i64`.
pub const SENT_AT_PROPERTY: &str = "lapwing-sent-at-us";
/// The years 1 to 9999, in microseconds since the epoch: what dates of Python and tables of Spark can hold.
const SENT_AT_US: RangeInclusive<i64> = -62_135_596_800_000_000..=253_402_300_799_999_999;

const VERSION: u8 = 1;
const QOS_BITS: u8 = 0b11;
const RETAIN_BIT: u8 = 0b100;
const SENT_AT_BIT: u8 = 0b1000;

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
    /// list has to be made of a packet's. Lengths are those of an MQTT packet, so below 2^32.
    pub fn encode<'p, I>(&self, user_properties: I, out: &mut Vec<u8>)
    where
        I: Iterator<Item = (&'p str, &'p str)> + Clone,
    {
        debug_assert!(self.qos <= 2);
        out.reserve(self.topic.len() + self.client_id.len() + self.payload.len() + 48);
        let mut flags = self.qos & QOS_BITS;
        flags |= if self.retain { RETAIN_BIT } else { 0 };
        flags |= if self.sent_at_us.is_some() { SENT_AT_BIT } else { 0 };
        out.extend_from_slice(&[VERSION, flags]);
        out.extend_from_slice(&self.ingress_at_us.to_le_bytes());
        if let Some(sent_at_us) = self.sent_at_us {
            out.extend_from_slice(&sent_at_us.to_le_bytes());
        }
        varint::put(self.topic.len() as u32, out);
        varint::put(self.client_id.len() as u32, out);
        varint::put(self.payload.len() as u32, out);
        varint::put(user_properties.clone().count() as u32, out);
        out.extend_from_slice(self.topic.as_bytes());
        out.extend_from_slice(self.client_id.as_bytes());
        out.extend_from_slice(self.payload);
        for (name, value) in user_properties {
            varint::put(name.len() as u32, out);
            varint::put(value.len() as u32, out);
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(value.as_bytes());
        }
    }

    /// Reads an encoded envelope and its user properties without copying.
    ///
    /// # Errors
    /// `Version`, `Malformed`.
    pub fn decode(bytes: &'a [u8]) -> Result<(Self, UserProperties<'a>), EnvelopeError> {
        let mut input = Input { bytes, at: 0 };
        let [version, flags] = input.array("version and flags")?;
        if version != VERSION {
            return Err(EnvelopeError::Version { found: version, supported: VERSION });
        }
        let qos = flags & QOS_BITS;
        if qos == 3 || flags & !(QOS_BITS | RETAIN_BIT | SENT_AT_BIT) != 0 {
            return Err(EnvelopeError::Malformed { at: 1, what: "flags that no encoder sets" });
        }
        let ingress_at_us = i64::from_le_bytes(input.array("the ingress time ends early")?);
        let sent_at_us = match flags & SENT_AT_BIT {
            0 => None,
            _ => Some(i64::from_le_bytes(input.array("the send time ends early")?)),
        };
        let topic_bytes = input.length()?;
        let client_id_bytes = input.length()?;
        let payload_bytes = input.length()?;
        let count = input.length()?;
        let topic = input.text(topic_bytes)?;
        let client_id = input.text(client_id_bytes)?;
        let payload = input.take(payload_bytes, "the payload ends early")?;
        let user_properties = UserProperties { count, bytes: &bytes[input.at..] };
        for _ in 0..count {
            let (name_bytes, value_bytes) = (input.length()?, input.length()?);
            input.text(name_bytes)?;
            input.text(value_bytes)?;
        }
        if input.at != bytes.len() {
            return Err(EnvelopeError::Malformed { at: input.at, what: "bytes behind the last user property" });
        }
        let retain = flags & RETAIN_BIT != 0;
        Ok((Self { topic, payload, client_id, qos, retain, sent_at_us, ingress_at_us }, user_properties))
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
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> + Clone + use<'a> {
        let mut input = Input { bytes: self.bytes, at: 0 };
        // `decode` walked the same bytes without an error, so this walk meets none.
        (0..self.count).map_while(move |_| {
            let (name_bytes, value_bytes) = (input.length().ok()?, input.length().ok()?);
            Some((input.text(name_bytes).ok()?, input.text(value_bytes).ok()?))
        })
    }

    /// Bytes of all names and of all values.
    pub(crate) fn text_bytes(&self) -> (usize, usize) {
        self.iter().fold((0, 0), |(names, values), (name, value)| (names + name.len(), values + value.len()))
    }
}

/// The device's clock among user properties: the first [`SENT_AT_PROPERTY`] with a valid value, else nothing.
///
/// What lies outside the years 1 to 9999 is not valid: readers of a stream could make no date of it.
pub fn sent_at_us<'p>(mut user_properties: impl Iterator<Item = (&'p str, &'p str)>) -> Option<i64> {
    user_properties.find_map(|(name, value)| {
        let us: Option<i64> = (name == SENT_AT_PROPERTY).then(|| value.parse().ok()).flatten();
        us.filter(|us| SENT_AT_US.contains(us))
    })
}

#[derive(Debug, Clone, Copy)]
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], EnvelopeError> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..count).ok_or(EnvelopeError::Malformed { at: self.at, what })?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], EnvelopeError> {
        let malformed = EnvelopeError::Malformed { at: self.at, what };
        self.take(N, what)?.try_into().map_err(|_| malformed)
    }

    fn length(&mut self) -> Result<usize, EnvelopeError> {
        let what = "a length is cut off or not in its shortest form";
        let (value, behind) = varint::get(self.bytes, self.at).ok_or(EnvelopeError::Malformed { at: self.at, what })?;
        self.at = behind;
        Ok(value as usize)
    }

    fn text(&mut self, count: usize) -> Result<&'a str, EnvelopeError> {
        let at = self.at;
        let bytes = self.take(count, "a text ends early")?;
        std::str::from_utf8(bytes).map_err(|_| EnvelopeError::Malformed { at, what: "a text is not UTF-8" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Envelope<'static> {
        Envelope {
            topic: "spectrum/d1/readings",
            payload: b"{\"v\":1}",
            client_id: "d1",
            qos: 1,
            retain: true,
            sent_at_us: Some(-5),
            ingress_at_us: 1_700_000_000_000_000,
        }
    }

    #[test]
    fn version_1_has_these_very_bytes() {
        let mut bytes = vec![];
        let envelope = Envelope { topic: "a/b", payload: &[0xFF], client_id: "c", ..example() };
        envelope.encode([("k", "v")].into_iter(), &mut bytes);
        let mut expected = vec![1, 0b1101];
        expected.extend_from_slice(&1_700_000_000_000_000i64.to_le_bytes());
        expected.extend_from_slice(&(-5i64).to_le_bytes());
        expected.extend_from_slice(&[3, 1, 1, 1, b'a', b'/', b'b', b'c', 0xFF, 1, 1, b'k', b'v']);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn every_truncation_and_every_other_version_is_an_error() {
        let mut bytes = vec![];
        example().encode([("name", "value"), ("", "")].into_iter(), &mut bytes);
        for length in 0..bytes.len() {
            assert!(Envelope::decode(&bytes[..length]).is_err(), "length {length}");
        }
        bytes.push(0);
        assert!(Envelope::decode(&bytes).is_err(), "a byte too many");
        bytes[0] = 2;
        assert!(matches!(Envelope::decode(&bytes), Err(EnvelopeError::Version { found: 2, supported: 1 })));
    }

    #[test]
    fn the_device_clock_is_the_first_valid_property_of_its_name() {
        let of = |list: &[(&'static str, &'static str)]| sent_at_us(list.iter().copied());
        assert_eq!(of(&[("x", "1"), (SENT_AT_PROPERTY, "-7")]), Some(-7));
        assert_eq!(of(&[(SENT_AT_PROPERTY, "soon"), (SENT_AT_PROPERTY, "8")]), Some(8));
        assert_eq!(of(&[(SENT_AT_PROPERTY, "9223372036854775808")]), None);
        assert_eq!(of(&[]), None);
    }

    /// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z are the first and the last clock that is one.
    #[test]
    fn the_device_clock_is_a_date() {
        let of = |value: &'static str| sent_at_us([(SENT_AT_PROPERTY, value)].into_iter());
        assert_eq!(of("-62135596800000000"), Some(-62_135_596_800_000_000));
        assert_eq!(of("253402300799999999"), Some(253_402_300_799_999_999));
        for beyond in ["-62135596800000001", "253402300800000000", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(of(beyond), None, "{beyond}");
        }
    }
}
