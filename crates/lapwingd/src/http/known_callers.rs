//! Who has got in: others' failures keep nobody out who has. What is known opens nothing by itself: it is asked about again.
//!
//! Of a user name the password that was right last is known; of a token without a name the token itself. Another password for that
//! name is a guess: it ends what is known at once, before anybody has looked at it. So whoever guesses where nothing more is looked
//! at hears of one password at most.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::identify::Credentials;

/// Those remembered; the one that was shown longest ago goes first.
const REMEMBERED_MAX: usize = 1024;

/// Digests of a name and of its password.
type Known = (u64, u64);

/// Under a key of this process.
#[derive(Debug, Default)]
pub(super) struct KnownCallers {
    key: RandomState,
    known: Mutex<VecDeque<Known>>,
}

impl KnownCallers {
    pub(super) fn remember(&self, given: &Credentials) {
        let (who, digest) = self.digests(given);
        let mut known = self.without(who);
        if known.len() >= REMEMBERED_MAX {
            known.pop_front();
        }
        known.push_back((who, digest));
    }

    /// It is wrong now.
    pub(super) fn forget(&self, given: &Credentials) {
        drop(self.without(self.digests(given).0));
    }

    /// Whether these were right, and nothing else was given for that name since; if something is now, that ends it.
    pub(super) fn includes(&self, given: &Credentials) -> bool {
        let shown = self.digests(given);
        let mut known = self.known();
        let Some(at) = known.iter().position(|(who, _)| *who == shown.0) else { return false };
        let is_right = known.remove(at) == Some(shown);
        if is_right {
            known.push_back(shown);
        }
        is_right
    }

    fn digests(&self, given: &Credentials) -> Known {
        let name = given.name.as_deref();
        let who = self.key.hash_one((name, name.is_none().then_some(&given.password)));
        (who, self.key.hash_one(&given.password))
    }

    fn without(&self, name: u64) -> MutexGuard<'_, VecDeque<Known>> {
        let mut known = self.known();
        known.retain(|(who, _)| *who != name);
        known
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: impl ToString, password: &str) -> Credentials {
        Credentials { name: Some(name.to_string()), password: password.into() }
    }

    #[test]
    fn those_shown_last_are_known() {
        let known = KnownCallers::default();
        (0..REMEMBERED_MAX).for_each(|number| known.remember(&of(number, "p")));
        assert!(known.includes(&of(0, "p")));
        known.remember(&of("one more", "p"));
        assert!(known.includes(&of(0, "p")) && known.includes(&of("one more", "p")) && !known.includes(&of(1, "p")));
        assert_eq!(known.known().len(), REMEMBERED_MAX);
    }

    #[test]
    fn a_guess_ends_it_for_that_name() {
        let known = KnownCallers::default();
        let token = |token: &str| Credentials { name: None, password: token.into() };
        for given in [of("alice", "right"), of("bob", "b"), token("t")] {
            known.remember(&given);
        }
        assert!(!known.includes(&of("alice", "guess")) && !known.includes(&token("guess")));
        assert!(!known.includes(&of("alice", "right")), "else it would tell right from wrong");
        assert!(known.includes(&of("bob", "b")) && known.includes(&token("t")));
    }
}
