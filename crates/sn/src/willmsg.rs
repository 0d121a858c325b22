//! WILLMSG (5.4.9) and WILLMSGUPD (5.4.23): what is published when a client is lost.

use crate::DecodeError;
use crate::read::Reader;
use crate::write::{Body, Sink};

/// A WILLMSG or WILLMSGUPD message; which one says the [`crate::Message`] around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WillMsg<'a> {
    /// The will's payload; it may be empty.
    pub payload: &'a [u8],
}

impl<'a> WillMsg<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>) -> Result<Self, DecodeError> {
        Ok(WillMsg { payload: reader.rest() })
    }
}

impl Body for WillMsg<'_> {
    fn write(&self, sink: &mut impl Sink) {
        sink.raw(self.payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::check::both_ways;

    #[test]
    fn section_5_4_9_willmsg() {
        both_ways("05 09 'bye'", Message::WillMsg(WillMsg { payload: b"bye" }));
        both_ways("02 09", Message::WillMsg(WillMsg { payload: b"" }));
    }

    #[test]
    fn section_5_4_23_willmsgupd() {
        both_ways("05 1C 00FFFE", Message::WillMsgUpd(WillMsg { payload: &[0, 0xFF, 0xFE] }));
        both_ways("02 1C", Message::WillMsgUpd(WillMsg { payload: b"" }));
    }
}
