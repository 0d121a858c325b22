//! Who somebody is, and what they may do.
//!
//! Rules of this room:
//! - Pure: no I/O, no clock, no thread. It is handed users and rules as they are configured, and answers questions. The
//!   one thing it takes from outside is random bytes for keys.
//! - Two questions, two tables. [`Verifier`]: is this password or token that user's? [`Rules`]: may this identity do that?
//!   [`Authority`] holds both, can be asked from any thread, and takes new tables while it is asked.
//! - Checking a password costs tens of milliseconds and 19 MiB by design (argon2id). So [`Authority::judge`] answers what
//!   needs no such work, and says when [`Authority::check`] is needed: on a thread where nobody waits for a message.
//! - A token (JWT) says who its bearer is, until when and, where settings say so, what it may: see `jwt`. What it grants is part of
//!   the [`Identity`], and ends with it.
//! - A right is compiled once per client ([`Rights`]), with `%c` and `%u` filled in, and then costs a comparison of levels.
//! - What cannot be decided is refused. A client id or a user name never becomes a wildcard, a level more or a `$` topic:
//!   a pattern that it would change permits nothing, and a pattern of a denial that it would change denies everything.
//! - Secrets have no `Debug`. A password is never kept; the cache of verified ones holds digests under a key that only
//!   this process knows.
//! - With no rules every identity may do everything; with one rule, nothing but what a rule permits.

#![forbid(unsafe_code)]

mod authority;
mod cache;
mod claim;
mod config;
mod covers;
mod error;
mod grant;
mod identity;
mod jwt;
mod name_pattern;
mod outside;
mod password;
mod places;
mod rights;
mod rule;
mod rules;
mod shares;
mod template;
mod token;
mod users;
mod verifier;
mod wildcard;

pub use authority::Authority;
pub use claim::{Claim, Judgement, Refusal, Work};
pub use config::{
    AccessConfig, AuthConfig, Certificates, Effect, PasswordHashText, Right, RuleConfig, TokenDigest, UserConfig,
};
pub use covers::{covers, overlaps};
pub use error::AccessError;
pub use grant::{Grant, OwnRules};
pub use identity::{Identity, Voucher};
pub use jwt::{
    Algorithm, FetchedKeys, JwtConfig, JwtKeys, KeySet, SecretText, TokenFault, Tokens, is_token_shaped, may_be_token,
};
pub use outside::{Answer, AnswerCache, CacheKey, OutsideConfig};
pub use password::hash_password;
pub use rights::{Rights, is_bridge_state, is_reserved};
pub use rules::Rules;
pub use verifier::Verifier;
pub use wildcard::matches as matches_wildcard;
