//! ReturnCode (5.3.10).

use std::fmt;

/// What an acknowledgement says. Codes of 0x04 and above are reserved; one that comes is kept as it is: it says no.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReturnCode(u8);

impl ReturnCode {
    /// Accepted.
    pub const ACCEPTED: ReturnCode = ReturnCode(0x00);
    /// Rejected: congestion. Worth another try, after T_WAIT.
    pub const CONGESTION: ReturnCode = ReturnCode(0x01);
    /// Rejected: invalid topic id. Register the topic again.
    pub const INVALID_TOPIC_ID: ReturnCode = ReturnCode(0x02);
    /// Rejected: not supported.
    pub const NOT_SUPPORTED: ReturnCode = ReturnCode(0x03);

    /// The code with this value.
    pub const fn from_u8(value: u8) -> Self {
        ReturnCode(value)
    }

    /// The byte on the wire.
    pub const fn value(self) -> u8 {
        self.0
    }

    /// Whether it grants what was asked for.
    pub const fn is_accepted(self) -> bool {
        self.0 == ReturnCode::ACCEPTED.0
    }

    /// Whether the specification has no meaning for it.
    pub const fn is_reserved(self) -> bool {
        self.0 > ReturnCode::NOT_SUPPORTED.0
    }

    /// The specification's name.
    pub const fn name(self) -> &'static str {
        match self.0 {
            0x00 => "Accepted",
            0x01 => "Rejected: congestion",
            0x02 => "Rejected: invalid topic ID",
            0x03 => "Rejected: not supported",
            _ => "reserved",
        }
    }
}

impl fmt::Debug for ReturnCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReturnCode({self})")
    }
}

impl fmt::Display for ReturnCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (0x{:02X})", self.name(), self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::check::both_ways;

    #[test]
    fn section_5_3_10_accepted() {
        assert!(ReturnCode::ACCEPTED.is_accepted() && !ReturnCode::ACCEPTED.is_reserved());
        both_ways("03 05 00", Message::ConnAck(ReturnCode::ACCEPTED));
    }

    #[test]
    fn section_5_3_10_congestion() {
        assert!(!ReturnCode::CONGESTION.is_accepted() && !ReturnCode::CONGESTION.is_reserved());
        both_ways("03 05 01", Message::ConnAck(ReturnCode::CONGESTION));
    }

    #[test]
    fn section_5_3_10_invalid_topic_id() {
        assert!(!ReturnCode::INVALID_TOPIC_ID.is_accepted() && !ReturnCode::INVALID_TOPIC_ID.is_reserved());
        both_ways("03 05 02", Message::ConnAck(ReturnCode::INVALID_TOPIC_ID));
    }

    #[test]
    fn section_5_3_10_not_supported() {
        assert!(!ReturnCode::NOT_SUPPORTED.is_accepted() && !ReturnCode::NOT_SUPPORTED.is_reserved());
        both_ways("03 05 03", Message::ConnAck(ReturnCode::NOT_SUPPORTED));
        assert_eq!(ReturnCode::NOT_SUPPORTED.to_string(), "Rejected: not supported (0x03)");
    }

    #[test]
    fn section_5_3_10_reserved_codes_are_kept_and_accept_nothing() {
        for value in 0x04..=0xFF {
            let code = ReturnCode::from_u8(value);
            assert!(code.is_reserved() && !code.is_accepted() && code.value() == value);
            both_ways(&format!("03 05 {value:02X}"), Message::ConnAck(code));
        }
    }
}
