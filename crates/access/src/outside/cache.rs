//! Answers that are remembered: by everything that was asked, under a key of this process; so many, for so long.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use sha2::{Digest, Sha256};

use super::answer::Answer;
use crate::{AccessError, Identity};

/// Everything that was asked, as a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey([u8; 32]);

/// The table of one set of settings. No password is in it.
pub struct AnswerCache {
    key: [u8; 32],
    answers: HashMap<CacheKey, Remembered>,
    most: usize,
}

struct Remembered {
    /// `None`: it was refused.
    identity: Option<Identity>,
    until_ms: u64,
}

impl AnswerCache {
    /// An empty table for so many.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn new(most: usize) -> Result<Self, AccessError> {
        let mut key = [0; 32];
        let remedy = "Check the system's source of random numbers (getrandom).";
        getrandom::fill(&mut key).map_err(|error| AccessError::new("auth.http", error.to_string(), remedy))?;
        Ok(AnswerCache { key, answers: HashMap::new(), most })
    }

    /// The key for what was asked; `None` for what was not given.
    pub fn key(&self, parts: &[Option<&[u8]>]) -> CacheKey {
        let mut hasher = Sha256::new();
        hasher.update(self.key);
        for part in parts {
            hasher.update([u8::from(part.is_some())]);
            hasher.update((part.map_or(0, <[u8]>::len) as u64).to_le_bytes());
            hasher.update(part.unwrap_or_default());
        }
        CacheKey(hasher.finalize().into())
    }

    /// What is remembered: who it is, or `None` for a refusal; nothing where nothing is.
    pub fn get(&mut self, key: &CacheKey, now_ms: u64) -> Option<Option<Identity>> {
        let Entry::Occupied(found) = self.answers.entry(*key) else { return None };
        if found.get().until_ms <= now_ms {
            found.remove();
            return None;
        }
        Some(found.get().identity.clone())
    }

    /// Remembers an answer for `ttl_ms`; where there is no room, in the place of any other.
    pub fn insert(&mut self, key: CacheKey, answer: &Answer, ttl_ms: u64, now_ms: u64) {
        if ttl_ms == 0 || self.most == 0 {
            self.answers.remove(&key);
            return;
        }
        if self.answers.len() >= self.most && !self.answers.contains_key(&key) {
            // Those that are over go first; then whichever comes to hand, which nobody outside can choose.
            self.answers.retain(|_, remembered| remembered.until_ms > now_ms);
            if self.answers.len() >= self.most
                && let Some(any) = self.answers.keys().next().copied()
            {
                self.answers.remove(&any);
            }
        }
        let identity = match answer {
            Answer::Allow { identity, .. } => Some(identity.clone()),
            Answer::Deny { .. } => None,
        };
        let until_ms = now_ms.saturating_add(ttl_ms);
        self.answers.insert(key, Remembered { identity, until_ms });
    }

    /// How many are remembered.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allow() -> Answer {
        Answer::parse(br#"{"allow": true}"#, Some("a"), "*", 0).unwrap()
    }

    fn deny() -> Answer {
        Answer::parse(br#"{"allow": false}"#, Some("a"), "*", 0).unwrap()
    }

    /// Is an answer about another client id, name, password, address or listener another one, also where parts run together?
    #[test]
    fn an_answer_is_for_what_was_asked() {
        let cache = AnswerCache::new(9).unwrap();
        let keys = [
            cache.key(&[Some(b"ab"), Some(b"c")]),
            cache.key(&[Some(b"a"), Some(b"bc")]),
            cache.key(&[Some(b"ab"), None]),
            cache.key(&[Some(b"ab"), Some(b"")]),
            cache.key(&[None, Some(b"abc")]),
        ];
        for (n, key) in keys.iter().enumerate() {
            assert!(!keys[..n].contains(key), "{n}");
        }
        assert_eq!(keys[0], cache.key(&[Some(b"ab"), Some(b"c")]));
        assert_ne!(keys[0], AnswerCache::new(9).unwrap().key(&[Some(b"ab"), Some(b"c")]));
    }

    #[test]
    fn answers_are_remembered_for_their_time_and_within_their_number() {
        let mut cache = AnswerCache::new(3).unwrap();
        let keys: Vec<CacheKey> = (0..5_u8).map(|n| cache.key(&[Some(&[n])])).collect();
        cache.insert(keys[0], &allow(), 100, 0);
        cache.insert(keys[1], &deny(), 50, 0);
        assert!(cache.get(&keys[0], 99).unwrap().is_some() && cache.get(&keys[1], 49).unwrap().is_none());
        assert!(cache.get(&keys[1], 50).is_none() && cache.get(&keys[0], 100).is_none(), "over");
        for key in &keys {
            cache.insert(*key, &allow(), 100, 0);
            assert!(cache.len() <= 3 && cache.get(key, 1).is_some(), "the newest is there");
        }
        cache.insert(keys[4], &deny(), 0, 0);
        assert!(cache.get(&keys[4], 1).is_none(), "not to be remembered: neither is what was before");
    }
}
