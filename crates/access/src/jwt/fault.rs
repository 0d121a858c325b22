//! Which check a token failed: for counters and the operator, without anything of the token.

/// Why a token is nobody's. Its bearer is told only that it is not good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum TokenFault {
    /// Longer than `token_bytes_max`; not looked at.
    TooLong,
    /// No three parts of base64url, or no JSON objects in them.
    Malformed,
    /// An algorithm that the settings do not have, `none` too; or an extension that must be understood.
    Algorithm,
    /// No key of that name, or none for that algorithm.
    UnknownKey,
    /// The signature is none of the key's.
    Signature,
    /// It has no `exp`, or that is over.
    Expired,
    /// `nbf` is still to come.
    NotYet,
    /// Another issuer's, or nobody's.
    Issuer,
    /// For somebody else, or for nobody in particular.
    Audience,
    /// No name in it that somebody may have here.
    Name,
    /// Client id or rules are not of their form, or too many.
    Claims,
    /// There are no keys: none were fetched yet, or what was fetched is too old.
    NoKeys,
}

impl TokenFault {
    /// How many there are.
    pub const COUNT: usize = 12;
    /// Every one with its label, in their order.
    pub const ALL: [(TokenFault, &'static str); Self::COUNT] = [
        (TokenFault::TooLong, "too_long"),
        (TokenFault::Malformed, "malformed"),
        (TokenFault::Algorithm, "algorithm"),
        (TokenFault::UnknownKey, "unknown_key"),
        (TokenFault::Signature, "signature"),
        (TokenFault::Expired, "expired"),
        (TokenFault::NotYet, "not_yet"),
        (TokenFault::Issuer, "issuer"),
        (TokenFault::Audience, "audience"),
        (TokenFault::Name, "name"),
        (TokenFault::Claims, "claims"),
        (TokenFault::NoKeys, "no_keys"),
    ];

    /// Its label.
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}
