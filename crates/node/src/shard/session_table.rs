//! The sessions of one shard, each in a place of its own, by key and by client id.

use std::collections::HashMap;
use std::sync::Arc;

use lapwing_session::SessionKey;
use rustc_hash::FxBuildHasher;
use slab::Slab;

use super::entry::Entry;
use crate::little_spare;
use crate::slot::ShardId;

/// A key has the shard in its first byte, how many keys there were in the next three, and the place in the other four.
pub(super) struct SessionTable {
    own: ShardId,
    entries: Slab<Entry>,
    by_id: HashMap<Arc<str>, SessionKey, FxBuildHasher>,
    generation: u32,
}

impl SessionTable {
    pub(super) fn new(own: ShardId) -> Self {
        SessionTable { own, entries: Slab::new(), by_id: HashMap::default(), generation: 0 }
    }

    /// A key for a new session: unique in the process as long as fewer than 2^24 sessions follow each other in one place.
    pub(super) fn next_key(&mut self) -> SessionKey {
        self.generation = (self.generation + 1) & 0x00ff_ffff;
        let place = self.entries.vacant_key() as u64;
        SessionKey((self.own.index() as u64) << 56 | u64::from(self.generation) << 32 | place)
    }

    /// Puts a session into the place that its key names: the last that was given.
    pub(super) fn insert(&mut self, entry: Entry) {
        let key = entry.session.key();
        self.by_id.insert(entry.session.shared_client_id().clone(), key);
        let place = little_spare::insert(&mut self.entries, entry);
        debug_assert_eq!(place, place_of(key));
    }

    pub(super) fn find(&self, client_id: &str) -> Option<SessionKey> {
        self.by_id.get(client_id).copied()
    }

    pub(super) fn get(&self, key: SessionKey) -> Option<&Entry> {
        self.entries.get(place_of(key)).filter(|entry| entry.session.key() == key)
    }

    pub(super) fn get_mut(&mut self, key: SessionKey) -> Option<&mut Entry> {
        self.entries.get_mut(place_of(key)).filter(|entry| entry.session.key() == key)
    }

    pub(super) fn remove(&mut self, key: SessionKey) -> Option<Entry> {
        self.get(key)?;
        let entry = self.entries.remove(place_of(key));
        self.by_id.remove(entry.session.client_id());
        Some(entry)
    }

    pub(super) fn keys(&self) -> Vec<SessionKey> {
        self.entries.iter().map(|(_, entry)| entry.session.key()).collect()
    }

    /// Places that there are, taken or not.
    pub(super) fn places(&self) -> usize {
        self.entries.capacity()
    }

    pub(super) fn at(&self, place: usize) -> Option<&Entry> {
        self.entries.get(place)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Sessions, client ids, places.
    #[cfg(test)]
    pub(super) fn lengths(&self) -> [usize; 3] {
        [self.entries.len(), self.by_id.len(), self.entries.capacity()]
    }
}

fn place_of(key: SessionKey) -> usize {
    (key.0 & 0xffff_ffff) as usize
}

/// The shard on which a session lives.
pub(crate) fn shard_of(key: SessionKey) -> ShardId {
    ShardId((key.0 >> 56) as u8)
}
