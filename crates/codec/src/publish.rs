//! PUBLISH: a message, in either direction.

use crate::header::kind;
use crate::read::Reader;
use crate::topic;
use crate::write::{self, Body, Sink};
use crate::{EncodeError, Limits, PacketId, ProtocolError, PublishProperties, QoS, ReasonCode, Version};

/// A PUBLISH packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publish<'a> {
    /// Sent before, perhaps; only with QoS 1 and 2.
    pub dup: bool,
    /// Quality of service.
    pub qos: QoS,
    /// To be retained (to a server), or was retained (to a client).
    pub retain: bool,
    /// Topic name; empty only in 5.0 together with a topic alias.
    pub topic: &'a str,
    /// Present exactly when `qos` is 1 or 2.
    pub packet_id: Option<PacketId>,
    /// Properties (5.0).
    pub properties: PublishProperties<'a>,
    /// The message.
    pub payload: &'a [u8],
}

impl<'a> Publish<'a> {
    /// A plain message: QoS 0, not retained, without properties.
    pub const fn qos0(topic: &'a str, payload: &'a [u8]) -> Self {
        let properties = PublishProperties::EMPTY;
        Publish { dup: false, qos: QoS::AtMostOnce, retain: false, topic, packet_id: None, properties, payload }
    }

    /// Reads the body that nearly every PUBLISH has: an ASCII topic within the limits and no properties. `None` says
    /// nothing about right or wrong, only that [`Publish::decode`] must look.
    ///
    /// `first` has the flags, which the fixed header has checked. Apart from the general way, because joined paths make
    /// the compiler gather the result's bytes one by one (32 ns a packet instead of 17).
    #[inline(always)]
    pub(crate) fn decode_plain(first: u8, body: &'a [u8], version: Version, limits: &Limits) -> Option<Self> {
        let (topic_len, rest) = body.split_first_chunk::<2>()?;
        let (topic, mut payload) = rest.split_at_checked(usize::from(u16::from_be_bytes(*topic_len)))?;
        let qos = flags_qos(first);
        let mut packet_id = None;
        if qos.is_acknowledged() {
            let (id, rest) = payload.split_first_chunk::<2>()?;
            packet_id = Some(PacketId::new(u16::from_be_bytes(*id))?);
            payload = rest;
        }
        if version.has_properties() {
            let (0, rest) = payload.split_first()? else { return None };
            payload = rest;
        }
        // Last, as the general way would have to scan the topic again.
        let topic = topic::plain_name_from_bytes(topic, limits)?;
        let (dup, retain) = flags_dup_retain(first);
        Some(Publish { dup, qos, retain, topic, packet_id, properties: PublishProperties::default(), payload })
    }

    /// Reads any body; `first` has the flags, which the fixed header has checked.
    #[inline]
    pub(crate) fn decode(
        first: u8,
        mut reader: Reader<'a>,
        version: Version,
        limits: &Limits,
    ) -> Result<Self, ProtocolError> {
        let topic_at = reader.at();
        let topic = topic::name_from_bytes(reader.binary()?, limits);
        let qos = flags_qos(first);
        let packet_id = if qos.is_acknowledged() { Some(reader.packet_id()?) } else { None };
        let mut properties = PublishProperties::EMPTY;
        if version.has_properties() {
            properties.fill(&mut reader, limits)?;
        }
        let topic = match topic {
            Ok(topic) => topic,
            Err(error) => unnamed(error, properties.topic_alias, version, topic_at)?,
        };
        let (dup, retain) = flags_dup_retain(first);
        Ok(Publish { dup, qos, retain, topic, packet_id, properties, payload: reader.rest() })
    }

    /// Appends the packet to `out`; see [`crate::Packet::encode`].
    /// # Errors
    /// See [`EncodeError`]: the caller's mistake.
    #[inline]
    pub fn encode(&self, version: Version, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.check(version)?;
        write::packet(self.first(), self, version, out)
    }

    /// Length of the whole packet in bytes; compare it with the receiver's Maximum Packet Size.
    /// `usize::MAX` when the packet cannot be written at all.
    #[inline]
    pub fn encoded_len(&self, version: Version) -> usize {
        write::packet_len(self, version).unwrap_or(usize::MAX)
    }

    /// The first byte of the packet.
    #[inline]
    pub(crate) fn first(&self) -> u8 {
        first_byte(self.dup, self.qos, self.retain)
    }

    #[inline]
    pub(crate) fn check(&self, version: Version) -> Result<(), EncodeError> {
        if self.qos.is_acknowledged() != self.packet_id.is_some() {
            return Err(EncodeError::PacketIdMismatch);
        }
        if self.dup && !self.qos.is_acknowledged() {
            return Err(EncodeError::NotRepresentable { what: "DUP with QoS 0", version });
        }
        let alias = if version.has_properties() { self.properties.topic_alias } else { None };
        if alias == Some(0) || (self.topic.is_empty() && alias.is_none()) {
            return Err(EncodeError::NotRepresentable { what: "a PUBLISH without a topic or a topic alias", version });
        }
        Ok(())
    }
}

impl Body for Publish<'_> {
    #[inline]
    fn write(&self, version: Version, sink: &mut impl Sink) {
        sink.field("topic name", self.topic.as_bytes());
        if let Some(packet_id) = self.packet_id {
            sink.u16(packet_id.get());
        }
        if version.has_properties() {
            if self.properties.is_empty() {
                sink.u8(0);
            } else {
                sink.section(&self.properties);
            }
        }
        sink.raw(self.payload);
    }
}

/// The first byte of a PUBLISH.
#[inline]
pub(crate) const fn first_byte(dup: bool, qos: QoS, retain: bool) -> u8 {
    kind::PUBLISH << 4 | (dup as u8) << 3 | (qos as u8) << 1 | retain as u8
}

/// The QoS in the flags of a PUBLISH; the fixed header has refused 3.
#[inline]
const fn flags_qos(first: u8) -> QoS {
    match (first >> 1) & 0b11 {
        0 => QoS::AtMostOnce,
        1 => QoS::AtLeastOnce,
        _ => QoS::ExactlyOnce,
    }
}

/// DUP and RETAIN in the flags of a PUBLISH.
#[inline]
const fn flags_dup_retain(first: u8) -> (bool, bool) {
    (first & 0b1000 != 0, first & 1 != 0)
}

/// A topic that is none: in 5.0 an empty one stands for its alias.
#[cold]
fn unnamed(
    error: topic::FieldError,
    alias: Option<u16>,
    version: Version,
    at: usize,
) -> Result<&'static str, ProtocolError> {
    match (error, alias) {
        (topic::FieldError::Topic(topic::TopicError::Empty), Some(_)) => Ok(""),
        (topic::FieldError::Topic(topic::TopicError::Empty), None) if version.has_properties() => {
            let what = "a PUBLISH with neither a topic name nor a topic alias";
            Err(ProtocolError::new(ReasonCode::ProtocolError, what, at))
        }
        (error, _) => Err(error.at_name(at)),
    }
}
