//! The settings of tokens as they are handed over.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which tokens are taken, and what is read in them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JwtConfig {
    /// Names of [`super::Algorithm`]; not empty, all with a secret or all without.
    pub algorithms: Vec<String>,
    /// What signatures are checked with.
    pub keys: JwtKeys,
    /// `iss` must be this; `None`: it is not looked at.
    #[serde(default)]
    pub issuer: Option<String>,
    /// `aud` must have one of these; empty: it is not looked at.
    #[serde(default)]
    pub audience: Vec<String>,
    /// Clocks may differ by so much.
    pub leeway_s: u64,
    /// The claim with the user name.
    pub name_claim: String,
    /// Names that tokens may give, with `*` for any characters.
    pub names: String,
    /// The claim with the one client id that may be used; `None`: any may be.
    #[serde(default)]
    pub client_id_claim: Option<String>,
    /// The claim with rules; `None`: tokens bring none.
    #[serde(default)]
    pub rules_claim: Option<String>,
    /// Longer tokens are refused unseen.
    pub token_bytes_max: usize,
}

/// Where keys come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum JwtKeys {
    /// A secret in base64, for HMAC.
    Secret(SecretText),
    /// Public keys in PEM, a text for each file.
    Pem(Vec<String>),
    /// A JWK Set (RFC 7517).
    Jwks(String),
    /// A JWK Set that is fetched again and again.
    Url(FetchedKeys),
}

/// How a JWK Set is fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchedKeys {
    /// `https://` or, where `plain` says so, `http://`.
    pub url: String,
    /// Authorities in PEM; `None`: those of the system.
    #[serde(default)]
    pub ca: Option<String>,
    /// `http://` beyond loopback is meant.
    #[serde(default)]
    pub plain: bool,
    /// It is fetched so often.
    pub refresh_ms: u64,
    /// Not more often than this, whatever asks for it: a failure before, a token with a key that is not known.
    pub retry_ms: u64,
    /// Keys are kept so long after they were fetched last.
    pub stale_ms_max: u64,
    /// One attempt takes at most this.
    pub timeout_ms: u64,
    /// More is not read.
    pub bytes_max: u64,
}

/// A secret, in base64. Not shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretText(pub String);

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(not shown)")
    }
}
