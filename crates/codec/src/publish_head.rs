//! The beginning of a PUBLISH of 3.1 or 3.1.1 that is larger than any may be: all but its payload, which nobody keeps.

use crate::ProtocolError;
use crate::header::kind;
use crate::varint::{self, Varint};

/// What stands before the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishHead {
    /// The packet with an empty payload: flags, topic and packet identifier as they came.
    pub packet: Vec<u8>,
    /// Where the payload begins in the bytes that it was read from.
    pub len: usize,
    /// Bytes of the payload, here or still to come.
    pub payload_bytes: usize,
}

impl PublishHead {
    /// Reads it from the first bytes of a packet of 3.1 or 3.1.1; `Ok(None)` while it is not whole.
    ///
    /// # Errors
    /// It is another packet, or one that ends before its payload could begin.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, ProtocolError> {
        let Some((&first, rest)) = bytes.split_first() else { return Ok(None) };
        if first >> 4 != kind::PUBLISH {
            return Err(ProtocolError::malformed("a packet without a payload of its own", 0));
        }
        let Varint::Value { value, len, .. } = varint::decode(rest) else { return Ok(None) };
        let body_at = 1 + len;
        let Some(topic_len) = rest.get(len..).and_then(|body| body.first_chunk::<2>()) else { return Ok(None) };
        let id_bytes = if first & 0b0110 == 0 { 0 } else { 2 };
        let body_bytes = 2 + usize::from(u16::from_be_bytes(*topic_len)) + id_bytes;
        let Some(payload_bytes) = (value as usize).checked_sub(body_bytes) else {
            return Err(ProtocolError::malformed("a topic that runs past the end of its packet", body_at));
        };
        let Some(body) = bytes.get(body_at..body_at + body_bytes) else { return Ok(None) };
        let mut packet = Vec::with_capacity(1 + varint::len(body_bytes as u32) + body_bytes);
        packet.push(first);
        varint::encode(body_bytes as u32, &mut packet);
        packet.extend_from_slice(body);
        Ok(Some(PublishHead { packet, len: body_at + body_bytes, payload_bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Packet, Publish, QoS, Version, decode};

    fn encoded(qos: QoS, topic: &str, payload: &[u8]) -> Vec<u8> {
        let packet_id = if qos.is_acknowledged() { crate::PacketId::new(7) } else { None };
        let mut bytes = Vec::new();
        let publish = Publish { qos, retain: true, packet_id, ..Publish::qos0(topic, payload) };
        publish.encode(Version::V311, &mut bytes).expect("a packet");
        bytes
    }

    /// Is the head found as soon as it is whole, and not before, and is it the packet but for its payload?
    #[test]
    fn a_head_is_the_packet_without_its_payload() {
        for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
            for topic in ["t", &"long/".repeat(60)] {
                let bytes = encoded(qos, topic, &[1; 3_000]);
                let head = PublishHead::read(&bytes).expect("a PUBLISH").expect("whole");
                assert_eq!((head.payload_bytes, head.len), (3_000, bytes.len() - 3_000));
                assert_eq!(head.packet, encoded(qos, topic, &[]));
                let (packet, _) =
                    decode(&head.packet, Version::V311, &Limits::PROTOCOL).expect("legal").expect("whole");
                assert!(matches!(packet, Packet::Publish(publish) if publish.topic == topic && publish.qos == qos));
                for cut in 0..head.len {
                    assert_eq!(PublishHead::read(&bytes[..cut]), Ok(None), "{cut}");
                }
                assert_eq!(PublishHead::read(&bytes[..head.len]), Ok(Some(head)));
            }
        }
    }

    /// Is what has no payload, or no room for one, an error?
    #[test]
    fn what_has_no_head_is_an_error() {
        assert!(PublishHead::read(&[0x82, 5, 0, 1, 0, 0, 0]).is_err(), "a SUBSCRIBE");
        assert!(PublishHead::read(&[0x32, 4, 0, 1, b't', 0]).is_err(), "no room for the packet identifier");
        assert!(PublishHead::read(&[0x30, 1, 0, 1]).is_err());
    }
}
