//! Which fields `Authorization` have been right: others' failures keep nobody out who has got in. They open nothing by themselves:
//! whoever sends one is asked about again.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Those remembered; the one that was shown longest ago goes first.
const REMEMBERED_MAX: usize = 1024;

/// Digests of them, under a key of this process.
#[derive(Debug, Default)]
pub(super) struct KnownHeaders {
    key: RandomState,
    digests: Mutex<VecDeque<u64>>,
}

impl KnownHeaders {
    pub(super) fn remember(&self, header: &str) {
        let mut digests = self.without(header);
        if digests.len() >= REMEMBERED_MAX {
            digests.pop_front();
        }
        digests.push_back(self.key.hash_one(header));
    }

    /// It is wrong now.
    pub(super) fn forget(&self, header: &str) {
        drop(self.without(header));
    }

    pub(super) fn includes(&self, header: &str) -> bool {
        self.digests().contains(&self.key.hash_one(header))
    }

    fn without(&self, header: &str) -> MutexGuard<'_, VecDeque<u64>> {
        let digest = self.key.hash_one(header);
        let mut digests = self.digests();
        digests.retain(|known| *known != digest);
        digests
    }

    fn digests(&self) -> MutexGuard<'_, VecDeque<u64>> {
        self.digests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_shown_last_are_known() {
        let known = KnownHeaders::default();
        (0..REMEMBERED_MAX).for_each(|number| known.remember(&number.to_string()));
        known.remember("0");
        known.remember("one more");
        assert!(known.includes("0") && known.includes("one more") && !known.includes("1"));
        assert_eq!(known.digests().len(), REMEMBERED_MAX);
    }
}
