//! Users and rules as they are handed over: read and checked elsewhere once, and here again.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Users and rules together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessConfig {
    /// Who is known.
    pub auth: AuthConfig,
    /// Who may do what.
    pub rules: Vec<RuleConfig>,
}

/// Who is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthConfig {
    /// The users; `None`: there is no users file, and names and passwords mean nothing.
    pub users: Option<Vec<UserConfig>>,
    /// Which names in certificates are taken.
    pub certificates: Certificates,
    /// Which tokens (JWT) are taken as passwords; `None`: none.
    pub jwt: Option<crate::JwtConfig>,
    /// Who is asked about names that are not of the users; `None`: nobody.
    pub outside: Option<crate::OutsideConfig>,
}

/// Which names in verified client certificates are taken as identities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certificates {
    /// Those of users; all of them, when there is no users file.
    #[default]
    Listed,
    /// All: who can get a certificate signed is known.
    Any,
}

/// One user. With neither password nor token, it can come with a certificate only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserConfig {
    /// The user name.
    pub name: String,
    /// argon2id, as a PHC string.
    #[serde(default)]
    pub password: Option<PasswordHashText>,
    /// SHA-256 of each token.
    #[serde(default)]
    pub tokens: Vec<TokenDigest>,
}

/// A password's hash as a PHC string: `$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH`. Not shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PasswordHashText(pub String);

/// SHA-256 of a token, 64 hexadecimal digits. Not shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenDigest(pub String);

impl fmt::Debug for PasswordHashText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHashText(not shown)")
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenDigest(not shown)")
    }
}

/// One rule: those whom `identity` names may (or must not) do what it lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    /// A user name with `*` for any characters; `*`: everybody with a name; `anonymous`: those without.
    pub identity: String,
    /// What the rule is about; not empty.
    pub may: Vec<Right>,
    /// Topic filters for `publish` and `subscribe`, with `%c` (client id), `%u` (user name), `%%` (`%`).
    #[serde(default)]
    pub topics: Vec<String>,
    /// Stream names with `*` for any characters, for `stream`.
    #[serde(default)]
    pub streams: Vec<String>,
    /// Share names for `subscribe`, with `*`, `%c`, `%u`, `%%`: the groups that may take messages of these topics (or must not).
    /// `None`: a rule about all; empty: about none.
    #[serde(default)]
    pub groups: Option<Vec<String>>,
    /// Client ids for `connect`, with `*`, `%u`, `%%`.
    #[serde(default)]
    pub client_ids: Vec<String>,
    /// Permits, or forbids whatever else permits.
    #[serde(default)]
    pub effect: Effect,
}

/// What can be permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// To connect with these client ids, and with no other.
    Connect,
    /// To publish messages, retained ones and wills too.
    Publish,
    /// To subscribe, and so to receive.
    Subscribe,
    /// To read a stream.
    Stream,
    /// To be told who has published what one receives.
    Envelope,
    /// To be another broker: to say by a topic of `$SYS` whether it is connected (see [`crate::is_bridge_state`]), where it may
    /// publish that one, and by its level that it is one.
    Bridge,
    /// To see sessions, queues, groups and counters over HTTP.
    Observe,
    /// To change the broker over HTTP, and all of `Observe`.
    Admin,
}

impl Right {
    /// The right of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "connect" => Some(Right::Connect),
            "publish" => Some(Right::Publish),
            "subscribe" => Some(Right::Subscribe),
            "stream" => Some(Right::Stream),
            "envelope" => Some(Right::Envelope),
            "bridge" => Some(Right::Bridge),
            "observe" => Some(Right::Observe),
            "admin" => Some(Right::Admin),
            _ => None,
        }
    }
}

/// What a rule does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Permits.
    #[default]
    Allow,
    /// Forbids; wins over every rule that permits.
    Deny,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let user = UserConfig {
            name: "alice".into(),
            password: Some(PasswordHashText("$argon2id$secret".into())),
            tokens: vec![TokenDigest("secret".into())],
        };
        let config =
            AuthConfig { users: Some(vec![user]), certificates: Certificates::Listed, jwt: None, outside: None };
        let shown = format!("{config:?}");
        assert!(shown.contains("alice") && !shown.contains("secret"), "{shown}");
    }

    #[test]
    fn json_there_and_back() {
        let text =
            r#"{"users":[{"name":"a","password":"p","tokens":["t"]}],"certificates":"any","jwt":null,"outside":null}"#;
        let config: AuthConfig = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&config).unwrap(), text);
        let rule: RuleConfig = serde_json::from_str(r#"{"identity":"*","may":["stream"],"streams":["*"]}"#).unwrap();
        assert_eq!((rule.effect, &rule.may[..]), (Effect::Allow, &[Right::Stream][..]));
    }
}
