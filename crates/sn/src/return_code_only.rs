//! CONNACK (5.4.5), WILLTOPICRESP (5.4.24), WILLMSGRESP (5.4.25): three messages of one shape, a return code.

use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, ReturnCode};

impl ReturnCode {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, DecodeError> {
        let code = reader.u8().map(ReturnCode::from_u8)?;
        reader.finish()?;
        Ok(code)
    }
}

impl Body for ReturnCode {
    fn write(&self, sink: &mut impl Sink) {
        sink.u8(self.value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{both_ways, refused};
    use crate::{Message, Reason};

    fn check(kind: u8, message: fn(ReturnCode) -> Message<'static>) {
        both_ways(&format!("03 {kind:02X} 00"), message(ReturnCode::ACCEPTED));
        both_ways(&format!("03 {kind:02X} 01"), message(ReturnCode::CONGESTION));
        both_ways(&format!("03 {kind:02X} 03"), message(ReturnCode::NOT_SUPPORTED));
        assert_eq!(refused(&format!("02 {kind:02X}")).reason, Reason::CutShort);
        assert_eq!(refused(&format!("04 {kind:02X} 00 00")).reason, Reason::TrailingBytes);
    }

    #[test]
    fn section_5_4_5_connack() {
        check(0x05, Message::ConnAck);
    }

    #[test]
    fn section_5_4_24_willtopicresp() {
        check(0x1B, Message::WillTopicResp);
    }

    #[test]
    fn section_5_4_25_willmsgresp() {
        check(0x1D, Message::WillMsgResp);
    }
}
