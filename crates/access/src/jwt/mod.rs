//! JSON Web Tokens (RFC 7519) as passwords: who somebody else says a client is, under a signature.
//!
//! Rules of this room:
//! - Pure, as the rest of the crate: keys come as texts, the time as a number. Who fetches keys is elsewhere.
//! - What a token says of itself is believed only once its signature holds. Before, two things of it are looked at: which
//!   algorithm, which must be one of the settings', and which key. A key is made for a kind of algorithm ([`Key`]) and checks no
//!   other: a public key is never a secret of HMAC, and there is no way to write `none`.
//! - A token is bounded before it is parsed; nothing of it is in an error, only which check it failed ([`TokenFault`]).
//! - A set of keys is taken as a whole or not at all ([`KeySet`]): an empty or cut-off one changes nothing.

mod algorithm;
mod checker;
mod claims;
mod compact;
mod config;
mod fault;
mod key;
mod key_set;
mod own_rules;
mod pem;
#[cfg(test)]
pub(crate) mod signing;
#[cfg(test)]
mod tests;

pub use algorithm::Algorithm;
pub use checker::Tokens;
pub use compact::{is_token_shaped, may_be_token};
pub use config::{FetchedKeys, JwtConfig, JwtKeys, SecretText};
pub use fault::TokenFault;
pub use key_set::KeySet;
pub(crate) use own_rules::rules_of;
