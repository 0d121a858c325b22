//! A PUBLISH written once for many receivers.
//!
//! Among the receivers of one message, those with the same version, the same subscription identifiers and the same need
//! of a packet id get the same bytes but for the first one (DUP, QoS, RETAIN) and the packet id. So the packet is written
//! once per such class, and each further receiver costs one copy and at most three patched bytes.

use crate::publish::first_byte;
use crate::{EncodeError, PacketId, Publish, QoS, Version};

/// The bytes of a PUBLISH, ready to be copied. Keep one and [`EncodedPublish::set`] it anew: it keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct EncodedPublish {
    bytes: Vec<u8>,
    /// Offset of the packet id, 0 when there is none.
    packet_id_at: usize,
}

impl EncodedPublish {
    /// An empty one, which writes nothing.
    pub const fn new() -> Self {
        EncodedPublish { bytes: Vec::new(), packet_id_at: 0 }
    }

    /// Writes `publish`. Its flags and packet id are templates: for the class with packet ids give QoS 1 or 2 and any id.
    /// # Errors
    /// As [`Publish::encode`]; it is empty then.
    pub fn set(&mut self, publish: &Publish<'_>, version: Version) -> Result<(), EncodeError> {
        self.bytes.clear();
        self.packet_id_at = 0;
        publish.encode(version, &mut self.bytes)?;
        if publish.packet_id.is_some() {
            let header_len = 1 + self.bytes.iter().skip(1).take_while(|&byte| byte & 0x80 != 0).count() + 1;
            self.packet_id_at = header_len + 2 + publish.topic.len();
        }
        Ok(())
    }

    /// Bytes of the packet; compare them with the receiver's Maximum Packet Size.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was written.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Appends the packet as QoS 0. The template must be of QoS 0.
    #[inline]
    pub fn copy_qos0(&self, retain: bool, out: &mut Vec<u8>) {
        debug_assert!(self.packet_id_at == 0);
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        if let Some(first) = out.get_mut(start) {
            *first = first_byte(false, QoS::AtMostOnce, retain);
        }
    }

    /// Appends the packet as QoS 1 or 2 with its own flags and id. The template must be of QoS 1 or 2.
    #[inline]
    pub fn copy_acknowledged(&self, dup: bool, qos: QoS, retain: bool, packet_id: PacketId, out: &mut Vec<u8>) {
        debug_assert!(self.packet_id_at != 0 && qos.is_acknowledged());
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        let Some(packet) = out.get_mut(start..) else { return };
        if let Some(id) = packet.get_mut(self.packet_id_at..).and_then(|rest| rest.first_chunk_mut::<2>()) {
            *id = packet_id.get().to_be_bytes();
        }
        if let Some(first) = packet.first_mut() {
            *first = first_byte(dup, qos, retain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PublishProperties;

    fn publish(qos: QoS, packet_id: Option<PacketId>, payload: &[u8]) -> Publish<'_> {
        let properties = PublishProperties { content_type: Some("t"), ..PublishProperties::default() };
        Publish { dup: false, qos, retain: false, topic: "a/b", packet_id, properties, payload }
    }

    #[test]
    fn a_patched_copy_equals_a_packet_written_for_itself() {
        let payload = vec![7; 300];
        for version in [Version::V311, Version::V5] {
            let mut encoded = EncodedPublish::new();
            encoded.set(&publish(QoS::AtLeastOnce, Some(PacketId::MIN), &payload), version).unwrap();
            let expected =
                Publish { dup: true, retain: true, ..publish(QoS::ExactlyOnce, PacketId::new(0x1234), &payload) };
            let (mut copied, mut written) = (vec![1, 2, 3], vec![1, 2, 3]);
            let id = PacketId::new(0x1234).unwrap();
            encoded.copy_acknowledged(true, QoS::ExactlyOnce, true, id, &mut copied);
            expected.encode(version, &mut written).unwrap();
            assert_eq!(copied, written);
        }
    }

    #[test]
    fn qos_0_is_patched_in_its_first_byte_only() {
        let mut encoded = EncodedPublish::new();
        encoded.set(&publish(QoS::AtMostOnce, None, b"x"), Version::V5).unwrap();
        let (mut copied, mut written) = (Vec::new(), Vec::new());
        encoded.copy_qos0(true, &mut copied);
        Publish { retain: true, ..publish(QoS::AtMostOnce, None, b"x") }.encode(Version::V5, &mut written).unwrap();
        assert_eq!((copied.len(), copied), (encoded.len(), written));
    }

    #[test]
    fn a_packet_that_cannot_be_written_leaves_nothing_behind() {
        let mut encoded = EncodedPublish::new();
        encoded.set(&publish(QoS::AtMostOnce, None, b"x"), Version::V5).unwrap();
        assert!(encoded.set(&publish(QoS::AtLeastOnce, None, b"x"), Version::V5).is_err());
        assert!(encoded.is_empty());
    }
}
