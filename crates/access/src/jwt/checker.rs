//! Checks tokens, from any thread.

use std::sync::{Arc, PoisonError, RwLock};

use super::algorithm::Algorithm;
use super::claims;
use super::compact::Compact;
use super::config::{FetchedKeys, JwtConfig, JwtKeys};
use super::fault::TokenFault;
use super::key_set::KeySet;
use crate::{AccessError, Identity};

/// Settings, and the keys as they are now.
pub struct Tokens {
    settings: JwtConfig,
    algorithms: Vec<Algorithm>,
    /// Shared with the settings of before, if those asked the same place for the same kinds: what is fetched, or given up,
    /// while settings change is so for both.
    keys: Arc<RwLock<Arc<KeySet>>>,
}

impl Tokens {
    /// Reads settings and keys.
    ///
    /// # Errors
    /// An algorithm or a key is wrong or too weak; nothing of a key is in it.
    pub fn new(settings: &JwtConfig) -> Result<Self, AccessError> {
        let algorithms = algorithms(settings)?;
        if settings.name_claim.is_empty() || settings.names.is_empty() || settings.token_bytes_max == 0 {
            let remedy = "Give name_claim, names and token_bytes_max a value, or leave them out.";
            return Err(AccessError::new("auth.jwt", "has an empty setting", remedy));
        }
        let keys = KeySet::configured(&settings.keys, &algorithms).map_err(|what| {
            AccessError::new(place(&settings.keys), what, "Write a whole key of the kind that signs your tokens.")
        })?;
        Ok(Tokens { settings: settings.clone(), algorithms, keys: Arc::new(RwLock::new(Arc::new(keys))) })
    }

    /// Who the bearer of `token` is; `now_s`: seconds since 1970, UTC. Costs some tens of microseconds.
    ///
    /// # Errors
    /// Which check it failed.
    pub fn check(&self, token: &[u8], now_s: u64) -> Result<Identity, TokenFault> {
        let token = Compact::parse(token, self.settings.token_bytes_max)?;
        if !self.algorithms.contains(&token.algorithm) {
            return Err(TokenFault::Algorithm);
        }
        self.keys().verify(&token)?;
        claims::judge(&token.claims()?, &self.settings, now_s)
    }

    /// How keys are fetched, where they are.
    pub fn fetched(&self) -> Option<&FetchedKeys> {
        match &self.settings.keys {
            JwtKeys::Url(fetched) => Some(fetched),
            _ => None,
        }
    }

    /// Takes what was fetched, as a whole; how many keys that are, and how many were left out.
    ///
    /// # Errors
    /// It is no JWK Set with a key for these settings; the keys stay as they were.
    pub fn take_keys(&self, jwks: &[u8]) -> Result<(usize, usize), String> {
        let keys = KeySet::from_jwks(jwks, &self.algorithms)?;
        let counts = (keys.len(), keys.left_out());
        self.set_keys(Arc::new(keys));
        Ok(counts)
    }

    /// Forgets the keys: they are too old.
    pub fn forget_keys(&self) {
        self.set_keys(Arc::default());
    }

    /// The keys as they are now.
    pub fn keys(&self) -> Arc<KeySet> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Goes on with the keys that `former` has fetched from the same place, and will.
    pub(crate) fn inherit(&mut self, former: &Tokens) {
        let (Some(now), Some(before)) = (self.fetched(), former.fetched()) else { return };
        let all_in = |some: &[Algorithm], others: &[Algorithm]| some.iter().all(|one| others.contains(one));
        let is_same_kind = all_in(&self.algorithms, &former.algorithms) && all_in(&former.algorithms, &self.algorithms);
        if now.url == before.url && is_same_kind {
            self.keys = former.keys.clone();
        }
    }

    /// Whether what is fetched for `other` is there for these as well.
    pub fn shares_keys_with(&self, other: &Tokens) -> bool {
        Arc::ptr_eq(&self.keys, &other.keys)
    }

    fn set_keys(&self, keys: Arc<KeySet>) {
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys;
    }
}

/// The key of the settings that says where keys are.
const fn place(keys: &JwtKeys) -> &'static str {
    match keys {
        JwtKeys::Secret(_) => "auth.jwt.secret_file",
        JwtKeys::Pem(_) => "auth.jwt.key_files",
        JwtKeys::Jwks(_) => "auth.jwt.jwks_file",
        JwtKeys::Url(_) => "auth.jwt.jwks_url",
    }
}

fn algorithms(settings: &JwtConfig) -> Result<Vec<Algorithm>, AccessError> {
    let error = |what: String, remedy| Err(AccessError::new("auth.jwt.algorithms", what, remedy));
    if settings.algorithms.is_empty() {
        return error("is empty".into(), "Name the algorithms that your tokens are signed with.");
    }
    let mut algorithms = Vec::new();
    for name in &settings.algorithms {
        match Algorithm::from_name(name) {
            Some(algorithm) => algorithms.push(algorithm),
            None => {
                let remedy =
                    "Take HS256, HS384, HS512, RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384 or EdDSA.";
                return error(format!("has {name:?}, which is not taken"), remedy);
            }
        }
    }
    let has_secret = matches!(settings.keys, JwtKeys::Secret(_));
    match algorithms.iter().find(|algorithm| algorithm.is_secret() != has_secret) {
        Some(algorithm) if has_secret => error(
            format!("has {}, which a secret cannot check", algorithm.name()),
            "Name HS256, HS384 or HS512, or give public keys.",
        ),
        Some(algorithm) => {
            let what = format!("has {}, which public keys must never check", algorithm.name());
            error(what, "Leave HS256, HS384 and HS512 out, or give secret_file.")
        }
        None => Ok(algorithms),
    }
}
