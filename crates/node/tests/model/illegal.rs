//! What ends a connection, and with which reason.

use lapwing_codec::ReasonCode::{self, MalformedPacket, PacketTooLarge, ProtocolError, TopicAliasInvalid};
use lapwing_codec::ReasonCode::{TopicFilterInvalid, TopicNameInvalid};

/// Bytes, and the reason code of the DISCONNECT.
type Case = (&'static [u8], ReasonCode);

const BOTH: [Case; 12] = [
    (b"\x00\x00", MalformedPacket),
    (b"\x36\x05\x00\x01m\x00\x01", MalformedPacket),
    (b"\x38\x03\x00\x01m", MalformedPacket),
    (b"\x60\x02\x00\x01", MalformedPacket),
    (b"\x80\x00", MalformedPacket),
    (b"\x30\xff\xff\xff\xff\x01", MalformedPacket),
    (b"\x82\xff\xff\xff\x7f", PacketTooLarge),
    (b"\xd0\x00", ProtocolError),
    (b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x00\x00\x01x", ProtocolError),
    (b"\xc0\x01\x00", MalformedPacket),
    (b"\x30\x01\x00", MalformedPacket),
    (b"\x42\x02\x00\x01", MalformedPacket),
];

const V311: [Case; 6] = [
    (b"\x30\x05\x00\x03m/+", TopicNameInvalid),
    (b"\x82\x02\x00\x01", ProtocolError),
    (b"\x82\x07\x00\x01\x00\x02a#\x00", TopicFilterInvalid),
    (b"\x82\x06\x00\x01\x00\x01a\x03", MalformedPacket),
    (b"\x32\x05\x00\x01m\x00\x00", ProtocolError),
    (b"\xf0\x00", MalformedPacket),
];

const V5: [Case; 14] = [
    (b"\x30\x06\x00\x03m/#\x00", TopicNameInvalid),
    (b"\x30\x07\x00\x01m\x03\x23\x00\x00", TopicAliasInvalid),
    (b"\x30\x07\x00\x01m\x03\x23\xff\xff", TopicAliasInvalid),
    (b"\x30\x06\x00\x00\x03\x23\x00\x30", ProtocolError),
    (b"\x30\x06\x00\x01m\x02\x0b\x01", ProtocolError),
    (b"\x30\x03\x00\x00\x00", ProtocolError),
    (b"\x82\x03\x00\x01\x00", ProtocolError),
    (b"\x82\x0a\x00\x01\x00\x00\x04m/#/\x00", TopicFilterInvalid),
    (b"\x82\x10\x00\x01\x00\x00\x0a$share/g/a\x04", ProtocolError),
    (b"\x82\x07\x00\x01\x00\x00\x01a\x30", ProtocolError),
    (b"\x82\x07\x00\x01\x00\x00\x01a\x80", MalformedPacket),
    (b"\xa2\x03\x00\x01\x00", ProtocolError),
    (b"\x40\x03\x00\x01\x92", ProtocolError),
    (b"\xc0\x80\x00", MalformedPacket),
];

/// One of them, for the version.
pub fn bytes(which: usize, is_v5: bool) -> (Vec<u8>, ReasonCode) {
    let own: &[Case] = if is_v5 { &V5 } else { &V311 };
    let all = BOTH.iter().chain(own);
    let (bytes, reason) = all.cycle().nth(which).expect("endless");
    (bytes.to_vec(), *reason)
}
