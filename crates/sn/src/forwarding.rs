//! The encapsulation of a forwarder (5.5): whose message it is, in front of the message.

use crate::header::Header;
use crate::kind::ENCAPSULATED;
use crate::{DecodeError, EncodeError, Limits, Reason};

/// Length, MsgType and Ctrl.
const HEADER_LEN: usize = 3;
/// What a length of one byte can count, without them.
const NODE_ID_LEN_MAX: usize = u8::MAX as usize - HEADER_LEN;
/// The bits of Ctrl that are not reserved.
const RADIUS: u8 = 0b0000_0011;

/// What a forwarder puts around a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Forwarding<'a> {
    /// How far the forwarder shall broadcast the message; says nothing from a forwarder to a gateway.
    pub radius: Radius,
    /// The node behind the forwarder, in the forwarder's own words; not empty.
    pub node_id: &'a [u8],
}

/// A broadcast radius in two bits; 0: to all nodes of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Radius(u8);

impl Radius {
    /// `None` for more than 3.
    pub const fn new(radius: u8) -> Option<Self> {
        if radius <= RADIUS { Some(Radius(radius)) } else { None }
    }

    /// 0 to 3.
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// Whether the message that `header` is of is an encapsulation.
#[inline]
pub(crate) fn is_encapsulation(header: &Header) -> bool {
    header.kind == ENCAPSULATED
}

impl<'a> Forwarding<'a> {
    /// Reads what `header` begins, at the start of `datagram`. Its length ends with the node's id: the message follows, and
    /// is not counted.
    pub(crate) fn decode(datagram: &'a [u8], header: &Header, limits: &Limits) -> Result<Self, DecodeError> {
        if header.header_len != 2 {
            return Err(DecodeError::new(Reason::WrongLength, "an encapsulation whose length has three bytes", 0));
        }
        header.check_whole(datagram)?;
        let Some((&ctrl, node_id)) = datagram.get(header.body_at()..header.end()).and_then(<[u8]>::split_first) else {
            return Err(DecodeError::new(Reason::CutShort, "an encapsulation without its control byte", header.end()));
        };
        if node_id.is_empty() {
            return Err(DecodeError::malformed("an encapsulation without the id of a node", header.end()));
        }
        if node_id.len() > usize::from(limits.node_id_bytes_max) {
            return Err(DecodeError::new(Reason::NotSupported, "the id of a node that is too long", HEADER_LEN));
        }
        Ok(Forwarding { radius: Radius(ctrl & RADIUS), node_id })
    }

    /// Bytes in front of the message.
    pub(crate) fn encoded_len(&self) -> usize {
        HEADER_LEN + self.node_id.len()
    }

    pub(crate) fn check(&self) -> Result<(), EncodeError> {
        match self.node_id.len() {
            0 => Err(EncodeError::NotRepresentable("an empty id of a node")),
            len if len > NODE_ID_LEN_MAX => {
                Err(EncodeError::NotRepresentable("an id of a node of more than 252 bytes"))
            }
            _ => Ok(()),
        }
    }

    /// Appends `message`, one that is encoded already, behind its encapsulation: for the node that came with this id.
    pub fn enclose(&self, message: &[u8], out: &mut Vec<u8>) {
        if self.check().is_ok() {
            self.write(out);
        }
        out.extend_from_slice(message);
    }

    /// Appends what stands in front of the message; [`Forwarding::check`] has seen it.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.encoded_len() as u8, ENCAPSULATED, self.radius.0]);
        out.extend_from_slice(self.node_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{bytes, refused};
    use crate::{Datagram, Message, PingReq, decode};

    fn forwarded(node_id: &[u8], radius: u8) -> Datagram<'_> {
        let forwarding = Some(Forwarding { radius: Radius::new(radius).unwrap(), node_id });
        Datagram { forwarding, message: Message::PingReq(PingReq { client_id: None }) }
    }

    /// Is a message that is written already enclosed as one that is written with its encapsulation?
    #[test]
    fn section_5_5_an_answer_is_enclosed() {
        let datagram = forwarded(&[0xBE, 0xEF], 0);
        let (mut message, mut enclosed) = (Vec::new(), Vec::new());
        datagram.message.encode(&Limits::PROTOCOL, &mut message).unwrap();
        datagram.forwarding.unwrap().enclose(&message, &mut enclosed);
        assert_eq!(enclosed, bytes("05 FE 00 BEEF 02 16"));
    }

    /// Does the length count what stands in front of the message, and not the message?
    #[test]
    fn section_5_5_encapsulation() {
        for (hex, datagram) in
            [("05 FE 00 BEEF 02 16", forwarded(&[0xBE, 0xEF], 0)), ("04 FE 03 01 02 16", forwarded(&[1], 3))]
        {
            assert_eq!(decode(&bytes(hex), &Limits::default()), Ok(datagram), "{hex}");
            let mut out = Vec::new();
            assert_eq!(datagram.encode(&Limits::default(), &mut out), Ok(out.len()));
            assert_eq!((&out, datagram.encoded_len()), (&bytes(hex), out.len()), "{hex}");
        }
        let datagram = forwarded(&[1], 2);
        assert_eq!(decode(&bytes("04 FE FE 01 02 16"), &Limits::default()), Ok(datagram), "reserved bits of Ctrl");
        assert_eq!((Radius::new(4), Radius::default().get()), (None, 0));
    }

    #[test]
    fn section_5_5_errors_count_from_the_start_of_the_datagram() {
        for (hex, reason, at) in [
            ("05 FE 00 BEEF", Reason::CutShort, 5),
            ("05 FE 00 BE", Reason::CutShort, 4),
            ("02 FE", Reason::CutShort, 2),
            ("03 FE 00 02 16", Reason::Malformed, 3),
            ("01 0005 FE 00 01 02 16", Reason::WrongLength, 0),
            ("05 FE 00 BEEF 03 16", Reason::CutShort, 7),
            ("05 FE 00 BEEF 02 16 00", Reason::TrailingBytes, 7),
            ("05 FE 00 BEEF 02 03", Reason::UnknownType, 6),
            ("05 FE 00 BEEF 00 16", Reason::WrongLength, 5),
            ("05 FE 00 BEEF 04 10 0000", Reason::Malformed, 7),
        ] {
            let error = refused(hex);
            assert_eq!((error.reason, error.at), (reason, at), "{hex}");
        }
    }

    #[test]
    fn section_5_5_an_encapsulation_holds_a_message_and_no_other_encapsulation() {
        let error = refused("05 FE 00 BEEF 04 FE 00 01 02 16");
        assert_eq!((error.reason, error.at, error.answer), (Reason::Nested, 6, None));
    }

    #[test]
    fn section_5_5_the_id_of_a_node_has_a_limit() {
        let limits = Limits { node_id_bytes_max: 2, ..Limits::default() };
        assert!(decode(&bytes("05 FE 00 BEEF 02 16"), &limits).is_ok());
        let error = decode(&bytes("06 FE 00 BEEF01 02 16"), &limits).unwrap_err();
        assert_eq!((error.reason, error.at), (Reason::NotSupported, 3));
        for node_id in [vec![], vec![0; 253]] {
            let written = forwarded(&node_id, 0).encode(&Limits::PROTOCOL, &mut Vec::new());
            assert!(matches!(written, Err(EncodeError::NotRepresentable(_))));
        }
        let mut out = Vec::new();
        forwarded(&[7; 252], 0).encode(&Limits::PROTOCOL, &mut out).unwrap();
        assert_eq!(decode(&out, &Limits::PROTOCOL), Ok(forwarded(&[7; 252], 0)));
    }
}
