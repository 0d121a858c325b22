//! Why a consumer refuses a message.

use crate::error::ClientError;
use crate::words::cut;
use lapwing_codec::ReasonCode;

/// The reasons that say something about a message.
const REASONS: [ReasonCode; 6] = [
    ReasonCode::UnspecifiedError,
    ReasonCode::ImplementationSpecificError,
    ReasonCode::NotAuthorized,
    ReasonCode::TopicNameInvalid,
    ReasonCode::QuotaExceeded,
    ReasonCode::PayloadFormatInvalid,
];

/// A reason code of 0x80 and above, and words for people.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub(crate) reason: ReasonCode,
    pub(crate) words: String,
}

impl Refusal {
    /// Refuses with the reason code `reason`; `words` are cut to 512 bytes.
    ///
    /// # Errors
    /// `Invalid`: a reason that may not stand in PUBACK, or says nothing about a message.
    pub fn new(reason: u8, words: &str) -> Result<Self, ClientError> {
        let Some(reason) = REASONS.into_iter().find(|code| code.value() == reason) else {
            let known = REASONS.map(|code| format!("{:#04x}", code.value())).join(", ");
            return Err(ClientError::Invalid(format!("reason {reason:#04x} refuses no message: give one of {known}")));
        };
        // A text of MQTT has no NUL.
        Ok(Self { reason, words: cut(words).replace('\0', " ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are words cut between characters, and reasons checked?
    #[test]
    fn cut_and_checked() {
        let long = Refusal::new(0x80, &"\u{20ac}".repeat(300)).expect("a reason");
        assert_eq!(long.words.len(), 510);
        assert_eq!(Refusal::new(0x99, "a\0b").expect("a reason").words, "a b");
        for wrong in [0, 0x10, 0x81, 0xff] {
            let error = Refusal::new(wrong, "").expect_err("refused").to_string();
            assert!(error.contains("0x80"), "{error}");
        }
    }
}
