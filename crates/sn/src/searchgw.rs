//! SEARCHGW (5.4.2): a client asks who is there.

use crate::DecodeError;
use crate::read::Reader;
use crate::write::{Body, Sink};

/// A SEARCHGW message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchGw {
    /// How far it was broadcast (5.3.9); 0: to all nodes of the network.
    pub radius: u8,
}

impl SearchGw {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, DecodeError> {
        let message = SearchGw { radius: reader.u8()? };
        reader.finish()?;
        Ok(message)
    }
}

impl Body for SearchGw {
    fn write(&self, sink: &mut impl Sink) {
        sink.u8(self.radius);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{both_ways, refused};
    use crate::{Message, Reason};

    #[test]
    fn section_5_4_2_searchgw() {
        both_ways("03 01 01", Message::SearchGw(SearchGw { radius: 1 }));
        assert_eq!(refused("02 01").reason, Reason::CutShort);
        assert_eq!(refused("04 01 01 00").reason, Reason::TrailingBytes);
    }

    #[test]
    fn section_5_3_9_a_radius_of_zero_is_everybody() {
        both_ways("03 01 00", Message::SearchGw(SearchGw { radius: 0 }));
    }
}
