//! The sessions of one shard, each in a place of its own, by key and by client id.

use std::collections::HashMap;
use std::sync::Arc;

use lapwing_session::SessionKey;
use rustc_hash::FxBuildHasher;
use slab::Slab;

use super::session_row::SessionRow;
use crate::little_spare;
use crate::slot::ShardId;

/// A key has the shard in its first byte, how many keys there were in the next three, and the place in the other four.
pub(super) struct SessionTable {
    own: ShardId,
    rows: Slab<SessionRow>,
    by_id: HashMap<Arc<str>, SessionKey, FxBuildHasher>,
    generation: u32,
}

impl SessionTable {
    pub(super) fn new(own: ShardId) -> Self {
        SessionTable { own, rows: Slab::new(), by_id: HashMap::default(), generation: 0 }
    }

    /// A key for a new session: unique in the process as long as fewer than 2^24 sessions follow each other in one place.
    pub(super) fn next_key(&mut self) -> SessionKey {
        self.generation = (self.generation + 1) & 0x00ff_ffff;
        let place = self.rows.vacant_key() as u64;
        SessionKey((self.own.index() as u64) << 56 | u64::from(self.generation) << 32 | place)
    }

    /// Puts a session into the place that its key names: the last that was given.
    pub(super) fn insert(&mut self, row: SessionRow) {
        let key = row.session.key();
        self.by_id.insert(row.session.shared_client_id().clone(), key);
        let place = little_spare::insert(&mut self.rows, row);
        debug_assert_eq!(place, place_of(key));
    }

    pub(super) fn find(&self, client_id: &str) -> Option<SessionKey> {
        self.by_id.get(client_id).copied()
    }

    pub(super) fn get(&self, key: SessionKey) -> Option<&SessionRow> {
        self.rows.get(place_of(key)).filter(|row| row.session.key() == key)
    }

    pub(super) fn get_mut(&mut self, key: SessionKey) -> Option<&mut SessionRow> {
        self.rows.get_mut(place_of(key)).filter(|row| row.session.key() == key)
    }

    pub(super) fn remove(&mut self, key: SessionKey) -> Option<SessionRow> {
        self.get(key)?;
        let row = self.rows.remove(place_of(key));
        self.by_id.remove(row.session.client_id());
        Some(row)
    }

    pub(super) fn keys(&self) -> Vec<SessionKey> {
        self.rows.iter().map(|(_, row)| row.session.key()).collect()
    }

    /// Places that there are, taken or not.
    pub(super) fn places(&self) -> usize {
        self.rows.capacity()
    }

    pub(super) fn at(&self, place: usize) -> Option<&SessionRow> {
        self.rows.get(place)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Sessions, client ids, places.
    #[cfg(test)]
    pub(super) fn lengths(&self) -> [usize; 3] {
        [self.rows.len(), self.by_id.len(), self.rows.capacity()]
    }
}

fn place_of(key: SessionKey) -> usize {
    (key.0 & 0xffff_ffff) as usize
}

/// The shard on which a session lives.
pub(crate) fn shard_of(key: SessionKey) -> ShardId {
    ShardId((key.0 >> 56) as u8)
}
