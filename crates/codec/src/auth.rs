//! AUTH (5.0): a step of an extended authentication, in either direction.

use crate::{ReasonCode, UserProperties};

/// An AUTH packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auth<'a> {
    /// Success, ContinueAuthentication or ReAuthenticate.
    pub reason: ReasonCode,
    /// Properties.
    pub properties: AuthProperties<'a>,
}

/// Properties of an AUTH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthProperties<'a> {
    /// Authentication Method; absent only in the two-byte AUTH.
    pub auth_method: Option<&'a str>,
    /// Authentication Data.
    pub auth_data: Option<&'a [u8]>,
    /// Reason String, for people.
    pub reason_string: Option<&'a str>,
    /// User Properties.
    pub user: UserProperties<'a>,
}
