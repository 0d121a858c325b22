//! ADVERTISE (5.4.1): a gateway says that it is there, again and again.

use crate::DecodeError;
use crate::read::Reader;
use crate::write::{Body, Sink};

/// An ADVERTISE message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advertise {
    /// Which gateway.
    pub gateway_id: u8,
    /// Until the next one, in seconds.
    pub duration_s: u16,
}

impl Advertise {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, DecodeError> {
        let message = Advertise { gateway_id: reader.u8()?, duration_s: reader.u16()? };
        reader.finish()?;
        Ok(message)
    }
}

impl Body for Advertise {
    fn write(&self, sink: &mut impl Sink) {
        sink.u8(self.gateway_id);
        sink.u16(self.duration_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{both_ways, refused};
    use crate::{Message, Reason};

    #[test]
    fn section_5_4_1_advertise() {
        both_ways("05 00 07 0384", Message::Advertise(Advertise { gateway_id: 7, duration_s: 900 }));
        assert_eq!(refused("04 00 07 03").reason, Reason::CutShort);
        assert_eq!(refused("06 00 07 0384 00").reason, Reason::TrailingBytes);
    }
}
