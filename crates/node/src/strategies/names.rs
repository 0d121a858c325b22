//! The client ids of a group's members, for a strategy that wants to name them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Client ids by the hash that dispatch knows members by. The shard that owns the group writes, at a join and at a leave;
/// the strategy's thread reads, once per batch. Bounded by the members that a group may have.
#[derive(Debug, Default)]
pub struct ClientNames(Mutex<HashMap<u64, Arc<str>>>);

impl ClientNames {
    /// A client is a member from now on.
    pub fn learn(&self, identity: u64, client_id: &str) {
        self.lock().insert(identity, Arc::from(client_id));
    }

    /// It is one no more.
    pub fn forget(&self, identity: u64) {
        self.lock().remove(&identity);
    }

    /// Its client id; None: it has left meanwhile.
    pub fn get(&self, identity: u64) -> Option<Arc<str>> {
        self.lock().get(&identity).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<str>>> {
        // Nothing that is done under the lock leaves a half of it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
