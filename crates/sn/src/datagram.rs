//! A datagram: one message, perhaps from behind a forwarder.

use crate::forwarding::is_encapsulation;
use crate::header::Header;
use crate::{DecodeError, EncodeError, Forwarding, Limits, Message, Reason};

/// A datagram, borrowing from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Whose the message is, when a forwarder stands between.
    pub forwarding: Option<Forwarding<'a>>,
    /// The message.
    pub message: Message<'a>,
}

/// Decodes a whole datagram.
/// # Errors
/// It is no message of MQTT-SN 1.2, or beyond `limits`: drop it, count it under its [`Reason`].
pub fn decode<'a>(datagram: &'a [u8], limits: &Limits) -> Result<Datagram<'a>, DecodeError> {
    let len_max = usize::from(limits.datagram_bytes_max);
    if datagram.len() > len_max {
        return Err(DecodeError::new(Reason::TooLarge, "a datagram that is larger than the limit", len_max));
    }
    let header = Header::read(datagram, 0)?;
    if !is_encapsulation(&header) {
        let message = Message::decode(datagram, &header, limits)?;
        return Ok(Datagram { forwarding: None, message });
    }
    let forwarding = Forwarding::decode(datagram, &header, limits)?;
    let inner = Header::read(datagram, header.end())?;
    if is_encapsulation(&inner) {
        return Err(DecodeError::new(Reason::Nested, "an encapsulation in an encapsulation", inner.body_at() - 1));
    }
    Ok(Datagram { forwarding: Some(forwarding), message: Message::decode(datagram, &inner, limits)? })
}

/// Whose the message of a datagram is that [`decode`] refuses: a node behind a forwarder, or, `None`, whoever sent it.
pub fn sender<'a>(datagram: &'a [u8], limits: &Limits) -> Option<Forwarding<'a>> {
    let header = Header::read(datagram, 0).ok().filter(is_encapsulation)?;
    Forwarding::decode(datagram, &header, limits).ok()
}

impl Datagram<'_> {
    /// Bytes of the datagram, whether a limit allows them or not.
    pub fn encoded_len(&self) -> usize {
        self.forwarding.map_or(0, |forwarding| forwarding.encoded_len()) + self.message.encoded_len()
    }

    /// Appends the datagram to `out`; on an error nothing is appended. Returns its length in bytes.
    /// # Errors
    /// See [`EncodeError`].
    pub fn encode(&self, limits: &Limits, out: &mut Vec<u8>) -> Result<usize, EncodeError> {
        let Some(forwarding) = self.forwarding else { return self.message.encode(limits, out) };
        forwarding.check()?;
        let (len, max) = (self.encoded_len(), usize::from(limits.datagram_bytes_max));
        if len > max {
            return Err(EncodeError::TooLarge { len, max });
        }
        let start = out.len();
        forwarding.write(out);
        match self.message.encode(limits, out) {
            Ok(_) => Ok(len),
            Err(error) => {
                out.truncate(start);
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::bytes;
    use crate::{PingReq, Radius, WillMsg};

    #[test]
    fn section_5_2_1_a_datagram_has_a_limit_when_it_comes() {
        let limits = Limits { datagram_bytes_max: 5, ..Limits::default() };
        assert!(decode(&bytes("05 09 'bye'"), &limits).is_ok());
        let error = decode(&bytes("06 09 'bye!'"), &limits).unwrap_err();
        assert_eq!((error.reason, error.at), (Reason::TooLarge, 5));
        assert!(decode(&[0; 70_000], &Limits::PROTOCOL).is_err());
    }

    /// Is an answer to a message that is refused one to the node behind the forwarder, where there is one?
    #[test]
    fn section_5_5_a_refused_message_is_of_the_node_behind_the_forwarder() {
        let limits = Limits::default();
        let connect = "09 04 04 02 003C 'abc'";
        let enclosed = bytes(&format!("05 FE 01 'xy' {connect}"));
        assert!(decode(&enclosed, &limits).is_err_and(|error| error.answer.is_some()));
        assert_eq!(sender(&enclosed, &limits).map(|forwarding| forwarding.node_id), Some(&b"xy"[..]));
        for hex in [connect, "03 FE 00", "05 FE 01 'x'", ""] {
            assert_eq!(sender(&bytes(hex), &limits), None, "{hex}");
        }
    }

    /// Is what does not fit an error that says how much it was, with nothing written?
    #[test]
    fn section_5_2_1_a_datagram_has_a_limit_when_it_goes() {
        let limits = Limits { datagram_bytes_max: 8, ..Limits::default() };
        let forwarding = Some(Forwarding { radius: Radius::default(), node_id: &[1] });
        let mut out = vec![0xAA];
        for (forwarding, payload, len) in [(None, &b"1234567"[..], 9), (forwarding, b"123", 9)] {
            let datagram = Datagram { forwarding, message: Message::WillMsg(WillMsg { payload }) };
            assert_eq!(datagram.encode(&limits, &mut out), Err(EncodeError::TooLarge { len, max: 8 }));
            assert_eq!(out, [0xAA]);
            let shorter = Message::WillMsg(WillMsg { payload: &payload[1..] });
            assert_eq!(Datagram { message: shorter, ..datagram }.encode(&limits, &mut Vec::new()), Ok(8));
        }
        let message = Message::WillMsg(WillMsg { payload: &[0; 70_000] });
        let error = EncodeError::TooLarge { len: 70_004, max: 65_535 };
        assert_eq!(message.encode(&Limits::PROTOCOL, &mut out), Err(error));
    }

    #[test]
    fn section_5_5_what_cannot_be_said_is_not_half_written() {
        let forwarding = Some(Forwarding { radius: Radius::default(), node_id: &[1] });
        let datagram = Datagram { forwarding, message: Message::PingReq(PingReq { client_id: Some("") }) };
        let mut out = vec![0xAA];
        assert!(matches!(datagram.encode(&Limits::default(), &mut out), Err(EncodeError::NotRepresentable(_))));
        assert_eq!(out, [0xAA]);
    }
}
