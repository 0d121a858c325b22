//! The packet: one variant per packet type.

use crate::connect::peek_version;
use crate::header::{FixedHeader, kind};
use crate::owner::{PUBACK, PUBCOMP, PUBREC, PUBREL};
use crate::read::Reader;
use crate::write::{self, Body};
use crate::{
    Ack, Auth, ConnAck, Connect, Disconnect, EncodeError, Limits, ProtocolError, Publish, ReasonCode, SubAck,
    Subscribe, UnsubAck, Unsubscribe, Version,
};

/// A packet of MQTT 3.1.1 or 5.0, borrowing from the bytes it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the packets of the specification, documented on their types")]
pub enum Packet<'a> {
    Connect(Connect<'a>),
    ConnAck(ConnAck<'a>),
    Publish(Publish<'a>),
    PubAck(Ack<'a>),
    PubRec(Ack<'a>),
    PubRel(Ack<'a>),
    PubComp(Ack<'a>),
    Subscribe(Subscribe<'a>),
    SubAck(SubAck<'a>),
    Unsubscribe(Unsubscribe<'a>),
    UnsubAck(UnsubAck<'a>),
    PingReq,
    PingResp,
    Disconnect(Disconnect<'a>),
    Auth(Auth<'a>),
}

/// Decodes the packet at the start of `bytes`; `Ok(None)` when it is not whole yet.
///
/// `version` is the connection's; a CONNECT is read in its own version, whatever is given. The `usize` is the length of
/// the packet in bytes. Limits are enforced as soon as the bytes that tell are there, before the packet is whole.
/// # Errors
/// The packet breaks the protocol: nothing after it can be trusted, close the connection.
pub fn decode<'a>(
    bytes: &'a [u8],
    version: Version,
    limits: &Limits,
) -> Result<Option<(Packet<'a>, usize)>, ProtocolError> {
    let header = match FixedHeader::read(bytes, version, limits) {
        Ok(Some(header)) => header,
        Ok(None) => return Ok(None),
        Err(error) => return Err(refuse_header(error, bytes)),
    };
    let Some(packet) = bytes.get(..header.packet_len) else { return Ok(None) };
    if header.kind() == kind::PUBLISH && header.minimal {
        let body = packet.get(header.header_len..).unwrap_or_default();
        if let Some(publish) = Publish::decode_plain(header.first, body, version, limits) {
            return Ok(Some((Packet::Publish(publish), header.packet_len)));
        }
    }
    let reader = Reader::new(packet, header.header_len);
    if header.kind() == kind::PUBLISH {
        decode_publish(&header, reader, version, limits)
    } else {
        decode_other(&header, reader, version, limits)
    }
}

/// What [`decode`] returns for a packet that is whole.
type Decoded<'a> = Result<Option<(Packet<'a>, usize)>, ProtocolError>;

#[inline(never)]
fn decode_publish<'a>(header: &FixedHeader, reader: Reader<'a>, version: Version, limits: &Limits) -> Decoded<'a> {
    header.check_minimal(version)?;
    let publish = Publish::decode(header.first, reader, version, limits)?;
    Ok(Some((Packet::Publish(publish), header.packet_len)))
}

#[inline(never)]
fn decode_other<'a>(header: &FixedHeader, reader: Reader<'a>, version: Version, limits: &Limits) -> Decoded<'a> {
    let packet = decode_body(header, reader, version, limits)?;
    Ok(Some((packet, header.packet_len)))
}

fn decode_body<'a>(
    header: &FixedHeader,
    reader: Reader<'a>,
    version: Version,
    limits: &Limits,
) -> Result<Packet<'a>, ProtocolError> {
    if header.kind() == kind::CONNECT {
        return decode_connect(header, reader, limits);
    }
    header.check_minimal(version)?;
    Ok(match header.kind() {
        kind::CONNACK => Packet::ConnAck(ConnAck::decode(reader, version, limits)?),
        kind::PUBACK => Packet::PubAck(Ack::decode(reader, version, PUBACK, limits)?),
        kind::PUBREC => Packet::PubRec(Ack::decode(reader, version, PUBREC, limits)?),
        kind::PUBREL => Packet::PubRel(Ack::decode(reader, version, PUBREL, limits)?),
        kind::PUBCOMP => Packet::PubComp(Ack::decode(reader, version, PUBCOMP, limits)?),
        kind::SUBSCRIBE => Packet::Subscribe(Subscribe::decode(reader, version, limits)?),
        kind::SUBACK => Packet::SubAck(SubAck::decode(reader, version, limits)?),
        kind::UNSUBSCRIBE => Packet::Unsubscribe(Unsubscribe::decode(reader, version, limits)?),
        kind::UNSUBACK => Packet::UnsubAck(UnsubAck::decode(reader, version, limits)?),
        kind::PINGREQ => reader.finish().map(|()| Packet::PingReq)?,
        kind::PINGRESP => reader.finish().map(|()| Packet::PingResp)?,
        kind::DISCONNECT => Packet::Disconnect(Disconnect::decode(reader, version, limits)?),
        kind::AUTH => Packet::Auth(Auth::decode(reader, limits)?),
        // The fixed header refuses type 0, and PUBLISH has its own way; there is no other.
        _ => return Err(ProtocolError::malformed("a packet of a reserved type", 0)),
    })
}

fn decode_connect<'a>(header: &FixedHeader, reader: Reader<'a>, limits: &Limits) -> Result<Packet<'a>, ProtocolError> {
    let connect = Connect::decode(reader, limits)?;
    let refuse = |error| ProtocolError { connect: Some(connect.version), ..error };
    header.check_minimal(connect.version).map_err(refuse)?;
    Ok(Packet::Connect(connect))
}

/// A CONNECT that is too large is answered too, when enough of it is there to see in which version.
#[cold]
pub(crate) fn refuse_header(error: ProtocolError, bytes: &[u8]) -> ProtocolError {
    let is_connect = bytes.first().is_some_and(|first| first >> 4 == kind::CONNECT);
    if !is_connect || error.reason != ReasonCode::PacketTooLarge {
        return error;
    }
    let header_len = 2 + bytes.iter().skip(1).take_while(|&byte| byte & 0x80 != 0).count();
    ProtocolError { connect: bytes.get(header_len..).and_then(peek_version), ..error }
}

impl Packet<'_> {
    /// Appends the packet to `out`; on an error nothing is appended.
    ///
    /// A CONNECT is written in its own version. Strings are trusted to be what their fields ask for (topic names and
    /// filters valid, no U+0000); lengths, reason codes and what the version can say are checked.
    /// # Errors
    /// See [`EncodeError`]: the caller's mistake.
    pub fn encode(&self, version: Version, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Packet::Connect(packet) => {
                packet.check()?;
                write_plain(kind::CONNECT, packet, packet.version, out)
            }
            Packet::ConnAck(packet) => {
                packet.check(version)?;
                write_plain(kind::CONNACK, packet, version, out)
            }
            Packet::Publish(packet) => packet.encode(version, out),
            Packet::PubAck(ack) => ack.encode(kind::PUBACK, version, out),
            Packet::PubRec(ack) => ack.encode(kind::PUBREC, version, out),
            Packet::PubRel(ack) => ack.encode(kind::PUBREL, version, out),
            Packet::PubComp(ack) => ack.encode(kind::PUBCOMP, version, out),
            Packet::Subscribe(packet) => {
                packet.check(version)?;
                write::packet(kind::SUBSCRIBE << 4 | 0b0010, packet, version, out)
            }
            Packet::SubAck(packet) => {
                packet.check(version)?;
                write_plain(kind::SUBACK, packet, version, out)
            }
            Packet::Unsubscribe(packet) => {
                packet.check(version)?;
                write::packet(kind::UNSUBSCRIBE << 4 | 0b0010, packet, version, out)
            }
            Packet::UnsubAck(packet) => {
                packet.check(version)?;
                write_plain(kind::UNSUBACK, packet, version, out)
            }
            Packet::PingReq => write_empty(kind::PINGREQ, out),
            Packet::PingResp => write_empty(kind::PINGRESP, out),
            Packet::Disconnect(packet) => {
                packet.check(version)?;
                write_plain(kind::DISCONNECT, packet, version, out)
            }
            Packet::Auth(packet) => {
                packet.check(version)?;
                write_plain(kind::AUTH, packet, version, out)
            }
        }
    }

    /// The name of the packet type in the specification, for logs and counters.
    pub const fn name(&self) -> &'static str {
        match self {
            Packet::Connect(_) => "CONNECT",
            Packet::ConnAck(_) => "CONNACK",
            Packet::Publish(_) => "PUBLISH",
            Packet::PubAck(_) => "PUBACK",
            Packet::PubRec(_) => "PUBREC",
            Packet::PubRel(_) => "PUBREL",
            Packet::PubComp(_) => "PUBCOMP",
            Packet::Subscribe(_) => "SUBSCRIBE",
            Packet::SubAck(_) => "SUBACK",
            Packet::Unsubscribe(_) => "UNSUBSCRIBE",
            Packet::UnsubAck(_) => "UNSUBACK",
            Packet::PingReq => "PINGREQ",
            Packet::PingResp => "PINGRESP",
            Packet::Disconnect(_) => "DISCONNECT",
            Packet::Auth(_) => "AUTH",
        }
    }
}

/// Writes a packet whose flags are all reserved.
fn write_plain(kind: u8, body: &impl Body, version: Version, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    write::packet(kind << 4, body, version, out)
}

fn write_empty(kind: u8, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.extend_from_slice(&[kind << 4, 0]);
    Ok(())
}
