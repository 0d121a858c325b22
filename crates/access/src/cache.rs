//! Verified passwords, remembered so that a client that comes back costs no argon2id.
//!
//! Kept is a digest of user name, configured hash and password under a key of this process: with another password, or
//! once the password was changed, it is another digest. One entry per user; only right passwords are remembered, so
//! somebody who guesses cannot fill the table.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::error::AccessError;
use crate::token::Sha256Digest;

/// Users remembered; one more puts another one out, and that one's next check costs again.
const USERS_MAX: usize = 65_536;

/// The table.
pub(crate) struct PasswordCache {
    key: [u8; 32],
    verified: HashMap<Arc<str>, Sha256Digest>,
    users_max: usize,
}

impl PasswordCache {
    /// An empty table with a new key.
    pub(crate) fn new() -> Result<Self, AccessError> {
        let mut key = [0; 32];
        let remedy = "Check the system's source of random numbers (getrandom).";
        getrandom::fill(&mut key).map_err(|error| AccessError::new("auth", error.to_string(), remedy))?;
        Ok(PasswordCache { key, verified: HashMap::new(), users_max: USERS_MAX })
    }

    /// What is remembered of a right password.
    pub(crate) fn digest(&self, name: &str, configured: &str, password: &[u8]) -> Sha256Digest {
        let mut hasher = Sha256::new();
        hasher.update(self.key);
        for part in [name.as_bytes(), configured.as_bytes(), password] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().into()
    }

    /// Whether this was verified before.
    pub(crate) fn contains(&self, name: &str, digest: &Sha256Digest) -> bool {
        self.verified.get(name).is_some_and(|known| known == digest)
    }

    /// Remembers a right password.
    pub(crate) fn insert(&mut self, name: Arc<str>, digest: Sha256Digest) {
        if self.verified.len() >= self.users_max
            && !self.verified.contains_key(&name)
            && let Some(any) = self.verified.keys().next().cloned()
        {
            self.verified.remove(&any);
        }
        self.verified.insert(name, digest);
    }

    /// Forgets everybody.
    pub(crate) fn clear(&mut self) {
        self.verified.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_stands_for_one_user_one_hash_one_password_and_one_process() {
        let cache = PasswordCache::new().unwrap();
        let one = cache.digest("ab", "c", b"d");
        assert_eq!(one, cache.digest("ab", "c", b"d"));
        for other in [cache.digest("a", "bc", b"d"), cache.digest("ab", "cd", b""), cache.digest("ab", "c", b"e")] {
            assert_ne!(one, other);
        }
        assert_ne!(one, PasswordCache::new().unwrap().digest("ab", "c", b"d"), "the key is a process's own");
    }

    #[test]
    fn it_stays_within_its_bound_and_forgets() {
        let mut cache = PasswordCache { users_max: 3, ..PasswordCache::new().unwrap() };
        for name in ["a", "b", "c", "d", "e", "e"] {
            let digest = cache.digest(name, "", b"");
            cache.insert(name.into(), digest);
            assert!(cache.contains(name, &digest) && cache.verified.len() <= 3);
        }
        assert_eq!(cache.verified.len(), 3);
        cache.clear();
        assert!(!cache.contains("e", &cache.digest("e", "", b"")));
    }
}
