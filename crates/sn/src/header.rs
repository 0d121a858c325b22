//! The message header: Length and MsgType (5.2).

use crate::{DecodeError, Kind, Reason};

/// The first byte that announces a length of two further bytes.
pub(crate) const LONG: u8 = 0x01;
/// The longest message whose length has one byte.
const SHORT_LEN_MAX: usize = u8::MAX as usize;

/// A header that is whole; whether the message is, [`Header::check_exact`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Where the message begins in its datagram.
    start: usize,
    /// Bytes of the whole message, as it says.
    pub(crate) len: usize,
    /// Bytes of the header: 2 or 4.
    pub(crate) header_len: usize,
    /// MsgType.
    pub(crate) kind: u8,
}

impl Header {
    /// Reads the header of the message that begins at `start`, which is at most `datagram.len()`.
    ///
    /// A length of three bytes is taken for short messages too: 5.2.1 says that they *may* use the one of one byte.
    #[inline]
    pub(crate) fn read(datagram: &[u8], start: usize) -> Result<Self, DecodeError> {
        let (len, header_len, kind) = match datagram.get(start..).unwrap_or_default() {
            [0, ..] => return Err(DecodeError::new(Reason::WrongLength, "a length of zero", start)),
            [LONG, high, low, kind, ..] => (usize::from(u16::from_be_bytes([*high, *low])), 4, *kind),
            [LONG, ..] | [] | [_] => {
                return Err(DecodeError::new(Reason::CutShort, "a header that is not whole", datagram.len()));
            }
            [len, kind, ..] => (usize::from(*len), 2, *kind),
        };
        if len < header_len {
            return Err(DecodeError::new(Reason::WrongLength, "a length that is shorter than its header", start));
        }
        Ok(Header { start, len, header_len, kind })
    }

    /// Where the message ends in its datagram, as it says.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.start + self.len
    }

    /// Where its fields begin.
    #[inline]
    pub(crate) fn body_at(&self) -> usize {
        self.start + self.header_len
    }

    /// The message ends where its datagram does: a datagram has one.
    #[inline]
    pub(crate) fn check_exact(&self, datagram: &[u8]) -> Result<(), DecodeError> {
        self.check_whole(datagram)?;
        if self.end() == datagram.len() {
            return Ok(());
        }
        Err(DecodeError::new(Reason::TrailingBytes, "bytes after the length of the message", self.end()))
    }

    /// The message does not end behind its datagram.
    #[inline]
    pub(crate) fn check_whole(&self, datagram: &[u8]) -> Result<(), DecodeError> {
        if self.end() <= datagram.len() {
            return Ok(());
        }
        Err(DecodeError::new(Reason::CutShort, "a message that is shorter than its length says", datagram.len()))
    }

    /// The message's type.
    #[inline]
    pub(crate) fn known_kind(&self) -> Result<Kind, DecodeError> {
        let at = self.body_at() - 1;
        Kind::from_u8(self.kind).ok_or(DecodeError::new(Reason::UnknownType, "a message type that is reserved", at))
    }
}

/// Bytes of the shortest header in front of `body_len` bytes.
#[inline]
pub(crate) const fn header_len(body_len: usize) -> usize {
    if 2 + body_len <= SHORT_LEN_MAX { 2 } else { 4 }
}

/// Appends the shortest header of a message of `len` bytes in all, which is at most 65,535.
#[inline]
pub(crate) fn write(kind: Kind, len: usize, out: &mut Vec<u8>) {
    debug_assert!((2..=usize::from(u16::MAX)).contains(&len));
    if len <= SHORT_LEN_MAX {
        out.push(len as u8);
    } else {
        out.push(LONG);
        out.extend_from_slice(&(len as u16).to_be_bytes());
    }
    out.push(kind.value());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{both_ways, decoded, refused};
    use crate::{Limits, Message, WillMsg, decode};

    fn why(hex: &str) -> (Reason, usize) {
        let error = refused(hex);
        assert_eq!(error.answer, None, "{hex}");
        (error.reason, error.at)
    }

    #[test]
    fn section_5_2_1_a_length_of_one_byte_counts_itself() {
        both_ways("02 17", Message::PingResp);
        both_ways("05 09 'bye'", Message::WillMsg(WillMsg { payload: b"bye" }));
    }

    #[test]
    fn section_5_2_1_a_length_of_three_bytes_counts_itself() {
        for (payload_len, header_len) in [(253, 2), (254, 4), (255, 4), (65_531, 4)] {
            let payload = vec![0xAB; payload_len];
            let message = Message::WillMsg(WillMsg { payload: &payload });
            let mut out = Vec::new();
            let len = message.encode(&Limits::PROTOCOL, &mut out).unwrap();
            assert_eq!((len, out.len()), (header_len + payload_len, header_len + payload_len));
            assert_eq!(out[0] == LONG, header_len == 4);
            assert_eq!(decode(&out, &Limits::PROTOCOL).map(|datagram| datagram.message), Ok(message));
        }
    }

    #[test]
    fn section_5_2_1_a_short_message_may_have_the_long_form() {
        assert_eq!(decoded("01 0004 17"), Message::PingResp);
        assert_eq!(decoded("01 0007 09 'bye'"), Message::WillMsg(WillMsg { payload: b"bye" }));
    }

    #[test]
    fn section_5_2_1_lengths_that_no_message_has() {
        assert_eq!(why("00 17"), (Reason::WrongLength, 0));
        assert_eq!(why("00"), (Reason::WrongLength, 0));
        assert_eq!(why("01 0000 17"), (Reason::WrongLength, 0));
        assert_eq!(why("01 0003 17"), (Reason::WrongLength, 0));
    }

    #[test]
    fn section_5_2_1_what_is_cut_short_says_where() {
        for (hex, at) in [("", 0), ("02", 1), ("01", 1), ("01 00", 2), ("01 0004", 3), ("05 09 'by'", 4)] {
            assert_eq!(why(hex), (Reason::CutShort, at), "{hex}");
        }
        assert_eq!(why("01 0008 09 'bye'"), (Reason::CutShort, 7));
    }

    #[test]
    fn section_5_2_1_a_datagram_ends_with_its_message() {
        assert_eq!(why("02 17 00"), (Reason::TrailingBytes, 2));
        assert_eq!(why("01 0004 17 02 17"), (Reason::TrailingBytes, 4), "a second message is nothing else");
        assert_eq!(why("03 17 00"), (Reason::TrailingBytes, 2), "within its length");
    }
}
