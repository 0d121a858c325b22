//! What a client answers to messages that it took.

use super::Protocol;
use lapwing_codec::{Ack, EncodeError, Packet, PacketId, QoS};

impl Protocol {
    /// Acknowledges a message that was answered with `Answer::Later` on this connection.
    ///
    /// # Errors
    /// None in practice; an acknowledgement is always writable.
    pub fn acknowledge(&mut self, id: PacketId, qos: QoS, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.answer(qos, Ack::success(id), out)
    }

    /// Answers a message of QoS 1 or 2 that was answered with `Answer::Later`, in words: a reason code of 0x80 and above
    /// refuses it. MQTT 3.1.1 has neither: there it is acknowledged.
    ///
    /// # Errors
    /// `EncodeError`: the reason may not stand in this packet, or a text is too long for any.
    pub fn answer(&mut self, qos: QoS, ack: Ack<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let ack = if self.version.has_properties() { ack } else { Ack::success(ack.packet_id) };
        self.owed.0 = self.owed.0.saturating_sub(u32::from(qos != QoS::AtMostOnce));
        match qos {
            QoS::AtMostOnce => Ok(()),
            QoS::AtLeastOnce => self.explain(Packet::PubAck, ack, out),
            QoS::ExactlyOnce => {
                if ack.reason.is_error() {
                    // That ends it: no PUBREL comes, and the id may come again with another message.
                    self.received.remove(ack.packet_id);
                }
                self.explain(Packet::PubRec, ack, out)
            }
        }
    }

    /// Appends an acknowledgement, without its properties if the broker takes no packet that large [MQTT-3.4.2-2].
    pub(super) fn explain<'a>(
        &self,
        kind: impl Fn(Ack<'a>) -> Packet<'a>,
        ack: Ack<'a>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let start = out.len();
        kind(ack).encode(self.version, out)?;
        if out.len() - start <= self.server.packet_bytes_max {
            return Ok(());
        }
        out.truncate(start);
        kind(Ack::new(ack.packet_id, ack.reason)).encode(self.version, out)
    }
}
