//! What can be wrong with a datagram that came in, and with a message that should go out.

use std::fmt;

use thiserror::Error;

use crate::{Message, ReturnCode};

/// Why a datagram is no message, as few words as there are counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// It ends before its length or one of its fields does.
    CutShort,
    /// It goes on after its length or after its last field.
    TrailingBytes,
    /// A length that no message can have.
    WrongLength,
    /// Longer than [`crate::Limits::datagram_bytes_max`].
    TooLarge,
    /// A message type that the specification reserves.
    UnknownType,
    /// An encapsulation in an encapsulation.
    Nested,
    /// A field that says what it may not: text that is no UTF-8, an id of zero.
    Malformed,
    /// A topic id that is reserved or cannot stand here: 0x02 in the answer, if there is one.
    InvalidTopicId,
    /// What this version does not have, or a limit forbids: 0x03 in the answer, if there is one.
    NotSupported,
}

impl Reason {
    /// All reasons, in the order of their counters.
    pub const ALL: [Reason; 9] = [
        Reason::CutShort,
        Reason::TrailingBytes,
        Reason::WrongLength,
        Reason::TooLarge,
        Reason::UnknownType,
        Reason::Nested,
        Reason::Malformed,
        Reason::InvalidTopicId,
        Reason::NotSupported,
    ];

    /// A short name, for labels of counters.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::CutShort => "cut_short",
            Reason::TrailingBytes => "trailing_bytes",
            Reason::WrongLength => "wrong_length",
            Reason::TooLarge => "too_large",
            Reason::UnknownType => "unknown_type",
            Reason::Nested => "nested",
            Reason::Malformed => "malformed",
            Reason::InvalidTopicId => "invalid_topic_id",
            Reason::NotSupported => "not_supported",
        }
    }

    /// The code that says so to the peer.
    pub(crate) const fn return_code(self) -> ReturnCode {
        match self {
            Reason::InvalidTopicId => ReturnCode::INVALID_TOPIC_ID,
            _ => ReturnCode::NOT_SUPPORTED,
        }
    }
}

/// A datagram that is dropped. There is no connection to close: who sent it may send better ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub struct DecodeError {
    /// What to count it under.
    pub reason: Reason,
    /// What was wrong, in words.
    pub what: &'static str,
    /// Offset from the start of the datagram, in bytes.
    pub at: usize,
    /// What the specification has to say to the peer, when enough was read to say it. Whether it is said is the caller's
    /// choice: a source address is no identity.
    pub answer: Option<Message<'static>>,
    /// It should have gone on with a CONNECT, which is over with it: the answer is for who began one, and for nobody else.
    pub ends_setup: bool,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, at byte {}", self.reason.name(), self.what, self.at)
    }
}

impl DecodeError {
    #[cold]
    pub(crate) const fn new(reason: Reason, what: &'static str, at: usize) -> Self {
        DecodeError { reason, what, at, answer: None, ends_setup: false }
    }

    #[cold]
    pub(crate) const fn malformed(what: &'static str, at: usize) -> Self {
        Self::new(Reason::Malformed, what, at)
    }

    /// The same, with the answer that `answer` makes of the return code.
    #[cold]
    pub(crate) fn answered(self, answer: impl FnOnce(ReturnCode) -> Message<'static>) -> Self {
        DecodeError { answer: Some(answer(self.reason.return_code())), ..self }
    }

    /// The same of what should have gone on with a CONNECT: CONNACK with the code.
    #[cold]
    pub(crate) fn of_setup(self) -> Self {
        DecodeError { ends_setup: true, ..self.answered(Message::ConnAck) }
    }
}

/// A message that cannot be written. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// It does not fit a datagram: to be counted, and said.
    #[error("the datagram would have {len} bytes, at most {max} may be sent")]
    TooLarge {
        /// Bytes it would have.
        len: usize,
        /// The limit.
        max: usize,
    },
    /// MQTT-SN has no way to say it: the caller's mistake.
    #[error("{0} cannot be written in MQTT-SN")]
    NotRepresentable(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_and_where() {
        let error = DecodeError::malformed("a message id of zero", 5);
        assert_eq!(error.to_string(), "malformed: a message id of zero, at byte 5");
        let error = EncodeError::TooLarge { len: 1300, max: 1232 };
        assert_eq!(error.to_string(), "the datagram would have 1300 bytes, at most 1232 may be sent");
        let error = EncodeError::NotRepresentable("an empty client id");
        assert_eq!(error.to_string(), "an empty client id cannot be written in MQTT-SN");
    }

    #[test]
    fn every_reason_has_a_counter_of_its_own() {
        for (index, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
            assert!(Reason::ALL[..index].iter().all(|other| other.name() != reason.name()), "{reason:?}");
        }
    }
}
