//! PUBREC, PUBREL, PUBCOMP (5.4.14) and UNSUBACK (5.4.18): four messages of one shape, a message id.

use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, MsgId};

pub(crate) fn decode(mut reader: Reader<'_>) -> Result<MsgId, DecodeError> {
    let id = reader.packet_id()?;
    reader.finish()?;
    Ok(id)
}

impl Body for MsgId {
    fn write(&self, sink: &mut impl Sink) {
        sink.u16(self.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{both_ways, refused};
    use crate::{Message, Reason};

    fn check(kind: u8, message: fn(MsgId) -> Message<'static>) {
        both_ways(&format!("04 {kind:02X} 0001"), message(MsgId::MIN));
        both_ways(&format!("04 {kind:02X} FFFF"), message(MsgId::MAX));
        assert_eq!(refused(&format!("03 {kind:02X} 00")).reason, Reason::CutShort);
        assert_eq!(refused(&format!("05 {kind:02X} 0001 00")).reason, Reason::TrailingBytes);
        let error = refused(&format!("04 {kind:02X} 0000"));
        assert_eq!((error.reason, error.at, error.answer), (Reason::Malformed, 2, None));
    }

    #[test]
    fn section_5_4_14_pubrec() {
        check(0x0F, Message::PubRec);
    }

    #[test]
    fn section_5_4_14_pubrel() {
        check(0x10, Message::PubRel);
    }

    #[test]
    fn section_5_4_14_pubcomp() {
        check(0x0E, Message::PubComp);
    }

    #[test]
    fn section_5_4_18_unsuback() {
        check(0x15, Message::UnsubAck);
    }
}
