//! PINGREQ (5.4.19): are you there? With a client id: I am awake, what is there for me? (6.14)

use crate::read::Reader;
use crate::write::{Body, Sink};
use crate::{DecodeError, EncodeError, Limits, text};

/// A PINGREQ message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingReq<'a> {
    /// Who was asleep and awakes; `None` from who is active, and from a gateway.
    pub client_id: Option<&'a str>,
}

impl<'a> PingReq<'a> {
    pub(crate) fn decode(mut reader: Reader<'a>, limits: &Limits) -> Result<Self, DecodeError> {
        let client_id = if reader.is_empty() { None } else { Some(text::client_id(&mut reader, limits)?) };
        Ok(PingReq { client_id })
    }
}

impl Body for PingReq<'_> {
    fn check(&self) -> Result<(), EncodeError> {
        if self.client_id == Some("") {
            return Err(EncodeError::NotRepresentable("an empty client id"));
        }
        Ok(())
    }

    fn write(&self, sink: &mut impl Sink) {
        sink.raw(self.client_id.unwrap_or_default().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{both_ways, not_representable, refused};
    use crate::{Message, Reason};

    #[test]
    fn section_5_4_19_pingreq() {
        both_ways("02 16", Message::PingReq(PingReq { client_id: None }));
    }

    #[test]
    fn section_5_4_19_pingreq_with_a_client_id() {
        both_ways("05 16 'abc'", Message::PingReq(PingReq { client_id: Some("abc") }));
        for id in ["FF", "00"] {
            let error = refused(&format!("03 16 {id}"));
            assert_eq!((error.reason, error.at, error.answer), (Reason::Malformed, 2, None));
        }
        not_representable(Message::PingReq(PingReq { client_id: Some("") }));
    }
}
