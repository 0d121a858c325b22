//! CONNECT (5.4.4): a client comes, or comes back from sleep.

use crate::flags::Flags;
use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, EncodeError, Limits, Message, Reason, text};

/// ProtocolId (5.3.8): the only one there is.
const PROTOCOL_ID: u8 = 0x01;

/// A CONNECT message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
    /// The client wants to be asked for a will: WILLTOPICREQ and WILLMSGREQ come before CONNACK (6.2).
    pub will: bool,
    /// Nothing of an older session counts; it covers the will too (6.3).
    pub clean_session: bool,
    /// Keep Alive, in seconds; 0: none.
    pub duration_s: u16,
    /// Who it is.
    pub client_id: &'a str,
}

impl<'a> Connect<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let flags = Flags(reader.u8()?);
        let protocol_at = reader.at();
        let protocol = reader.u8()?;
        let duration_s = reader.u16()?;
        if protocol != PROTOCOL_ID {
            let error = DecodeError::new(Reason::NotSupported, "a protocol id that is reserved", protocol_at);
            return Err(error.answered(Message::ConnAck));
        }
        let client_id = text::client_id(&mut reader, limits).map_err(|error| error.answered(Message::ConnAck))?;
        Ok(Connect { will: flags.will(), clean_session: flags.clean_session(), duration_s, client_id })
    }
}

impl Body for Connect<'_> {
    fn check(&self) -> Result<(), EncodeError> {
        if self.client_id.is_empty() {
            return Err(EncodeError::NotRepresentable("an empty client id"));
        }
        Ok(())
    }

    fn write(&self, sink: &mut impl Sink) {
        sink.u8(Flags::default().with_will(self.will).with_clean_session(self.clean_session).0);
        sink.u8(PROTOCOL_ID);
        sink.u16(self.duration_s);
        sink.raw(self.client_id.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{answered, both_ways, decoded, not_representable, refused};

    const CONNECT: Connect<'_> = Connect { will: false, clean_session: true, duration_s: 60, client_id: "abc" };

    #[test]
    fn section_5_4_4_connect() {
        both_ways("09 04 04 01 003C 'abc'", Message::Connect(CONNECT));
        assert_eq!(refused("05 04 04 01 00").reason, Reason::CutShort);
        not_representable(Message::Connect(Connect { client_id: "", ..CONNECT }));
    }

    #[test]
    fn section_5_3_4_will_and_clean_session() {
        both_ways("09 04 08 01 003C 'abc'", Message::Connect(Connect { will: true, clean_session: false, ..CONNECT }));
        both_ways("09 04 00 01 003C 'abc'", Message::Connect(Connect { clean_session: false, ..CONNECT }));
        assert_eq!(decoded("09 04 F7 01 003C 'abc'"), Message::Connect(CONNECT), "the others are not used");
    }

    #[test]
    fn section_5_3_3_a_duration_may_be_zero_or_eighteen_hours() {
        both_ways("09 04 04 01 0000 'abc'", Message::Connect(Connect { duration_s: 0, ..CONNECT }));
        both_ways("09 04 04 01 FFFF 'abc'", Message::Connect(Connect { duration_s: u16::MAX, ..CONNECT }));
    }

    #[test]
    fn section_5_3_8_another_protocol_id_is_not_supported() {
        for id in [0x00, 0x02, 0xFF] {
            assert_eq!(answered(&format!("09 04 04 {id:02X} 003C 'abc'")), (3, vec![3, 0x05, 0x03]));
        }
    }

    #[test]
    fn section_5_3_1_a_client_id_that_cannot_be_is_not_supported() {
        for id in ["", "FF", "00", "'abcdefghijklmnopqrstuvwx'"] {
            let len = 6 + crate::check::bytes(id).len();
            assert_eq!(answered(&format!("{len:02X} 04 04 01 003C {id}")), (6, vec![3, 0x05, 0x03]), "{id}");
        }
    }
}
