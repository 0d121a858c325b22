//! What a client says about itself, and what is made of it.

use lapwing_codec::ReasonCode;

use crate::Identity;

/// What a CONNECT and the connection it came on say.
#[derive(Clone, Copy, Default)]
pub struct Claim<'a> {
    /// User Name.
    pub username: Option<&'a str>,
    /// Password: a password of that user, or one of its tokens; without a user name, a token.
    pub password: Option<&'a [u8]>,
    /// The name in a verified client certificate, where the listener takes identities from certificates.
    pub certificate: Option<&'a str>,
    /// Whether the listener lets in those who say nothing.
    pub anonymous: bool,
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A wrong name or password or token; which, is not said.
    BadCredentials,
    /// Nothing was said, and the listener wants a name; or the certificate's name is not listed.
    NotAuthorized,
    /// Nobody can say now: what it takes to know is not there.
    Unavailable,
}

/// What could be decided about a claim without costly work.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Judgement {
    /// It is so.
    Granted(Identity),
    /// It is not so.
    Refused(Refusal),
    /// It takes work to know, away from the data threads.
    Costly(Work),
}

/// What it takes to know who somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A password must be hashed: [`crate::Authority::check`].
    Password,
    /// A signature must be checked: [`crate::Authority::check_token`].
    Token,
    /// Somebody else must be asked.
    Outside,
}

impl Refusal {
    /// The code for CONNACK (0x86, in 3.1.1 4; 0x87, in 3.1.1 5; 0x88, in 3.1.1 3).
    pub const fn reason(self) -> ReasonCode {
        match self {
            Refusal::BadCredentials => ReasonCode::BadUserNameOrPassword,
            Refusal::NotAuthorized => ReasonCode::NotAuthorized,
            Refusal::Unavailable => ReasonCode::ServerUnavailable,
        }
    }
}
