//! What a configuration opens: whether somebody guards each listener, and what it leaves open to others. Decided from what is
//! written, before anything is opened; no I/O.
//!
//! Whoever starts a node asks here, Python and `lapwingd` alike: what they add of their own (hooks, HTTP, who they run as) is
//! theirs to say. An address or network that cannot be read is left to [`Config::check`], which names it.

mod exposure;
mod guards;
mod openness;
mod unseen;

use lapwing_access::JwtKeys;
use lapwing_transport::ListenAddress;
use serde::Deserialize;

pub use exposure::users_notice;
pub use openness::{NO_LISTENER, Unguarded};
pub use unseen::unseen_in_name;

use crate::config::{Config, ListenerConfig};

/// Where clients come in, and what they are asked for there.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entrance {
    /// Addresses of listeners with default settings.
    pub listen: Vec<String>,
    /// Listeners with settings of their own.
    pub listeners: Vec<ListenerConfig>,
    /// Names and passwords are checked against something: users, tokens, somebody who is asked, hooks.
    pub asks_for_passwords: bool,
    /// What is looked at in tokens; none: none are taken.
    pub tokens: Option<TokensTaken>,
}

/// What is looked at in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokensTaken {
    /// They are signed with a secret that only their issuer and this broker have.
    pub have_own_secret: bool,
    /// They must say that they are for this broker.
    pub have_audience: bool,
}

impl Entrance {
    /// That of a node.
    pub fn of(config: &Config) -> Self {
        let auth = &config.auth;
        let taken = |jwt: &lapwing_access::JwtConfig| TokensTaken {
            have_own_secret: matches!(jwt.keys, JwtKeys::Secret(_)),
            have_audience: !jwt.audience.is_empty(),
        };
        Entrance {
            listen: config.listen.clone(),
            listeners: config.listeners.clone(),
            asks_for_passwords: auth.users.is_some() || auth.jwt.is_some() || auth.outside.is_some(),
            tokens: auth.jwt.as_ref().map(taken),
        }
    }
}

fn address(url: &str) -> Option<ListenAddress> {
    url.parse().ok()
}
