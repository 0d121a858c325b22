//! DISCONNECT (5.4.21): the end, or sleep for a time (6.14).

use crate::DecodeError;
use crate::read::Reader;
use crate::write::{Body, Sink};

/// A DISCONNECT message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnect {
    /// The client goes to sleep and awakes within so many seconds; `None`: it goes, or the gateway does not know it.
    pub duration_s: Option<u16>,
}

impl Disconnect {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, DecodeError> {
        let duration_s = if reader.is_empty() { None } else { Some(reader.u16()?) };
        reader.finish()?;
        Ok(Disconnect { duration_s })
    }
}

impl Body for Disconnect {
    fn write(&self, sink: &mut impl Sink) {
        if let Some(duration_s) = self.duration_s {
            sink.u16(duration_s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{both_ways, refused};
    use crate::{Message, Reason};

    #[test]
    fn section_5_4_21_disconnect() {
        both_ways("02 18", Message::Disconnect(Disconnect { duration_s: None }));
    }

    #[test]
    fn section_5_4_21_disconnect_with_a_duration() {
        both_ways("04 18 003C", Message::Disconnect(Disconnect { duration_s: Some(60) }));
        both_ways("04 18 0000", Message::Disconnect(Disconnect { duration_s: Some(0) }));
        assert_eq!(refused("03 18 00").reason, Reason::CutShort);
        assert_eq!(refused("05 18 003C 00").reason, Reason::TrailingBytes);
    }
}
