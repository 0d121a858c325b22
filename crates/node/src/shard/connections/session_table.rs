//! The sessions of one shard, each in a place of its own, by key and by client id.

use std::collections::HashMap;
use std::sync::Arc;

use lapwing_session::SessionKey;
use rustc_hash::FxBuildHasher;
use slab::Slab;

use crate::little_spare;
use crate::placement::NodeId;
use crate::shard::connections::session_row::SessionRow;
use crate::slot::ShardId;
use crate::table_key::TableKey;

/// A key is a [`TableKey`] number.
pub(in crate::shard) struct SessionTable {
    own: ShardId,
    rows: Slab<SessionRow>,
    by_id: HashMap<Arc<str>, SessionKey, FxBuildHasher>,
    generation: u32,
}

impl SessionTable {
    pub(in crate::shard) fn new(own: ShardId) -> Self {
        SessionTable { own, rows: Slab::new(), by_id: HashMap::default(), generation: 0 }
    }

    /// A key for a new session.
    pub(in crate::shard) fn next_key(&mut self) -> SessionKey {
        self.generation = TableKey::next_generation(self.generation);
        let place = self.rows.vacant_key();
        let key = TableKey { node: NodeId::THIS, shard: self.own, generation: self.generation, place };
        SessionKey(key.number())
    }

    /// Puts a session into the place that its key names: the last that was given.
    pub(in crate::shard) fn insert(&mut self, row: SessionRow) {
        let key = row.session.key();
        self.by_id.insert(row.session.shared_client_id().clone(), key);
        let place = little_spare::insert(&mut self.rows, row);
        debug_assert_eq!(place, place_of(key));
    }

    pub(in crate::shard) fn find(&self, client_id: &str) -> Option<SessionKey> {
        self.by_id.get(client_id).copied()
    }

    pub(in crate::shard) fn get(&self, key: SessionKey) -> Option<&SessionRow> {
        self.rows.get(place_of(key)).filter(|row| row.session.key() == key)
    }

    pub(in crate::shard) fn get_mut(&mut self, key: SessionKey) -> Option<&mut SessionRow> {
        self.rows.get_mut(place_of(key)).filter(|row| row.session.key() == key)
    }

    pub(in crate::shard) fn remove(&mut self, key: SessionKey) -> Option<SessionRow> {
        self.get(key)?;
        let row = self.rows.remove(place_of(key));
        self.by_id.remove(row.session.client_id());
        Some(row)
    }

    pub(in crate::shard) fn keys(&self) -> Vec<SessionKey> {
        self.rows.iter().map(|(_, row)| row.session.key()).collect()
    }

    /// Places that there are, taken or not.
    pub(in crate::shard) fn places(&self) -> usize {
        self.rows.capacity()
    }

    pub(in crate::shard) fn at(&self, place: usize) -> Option<&SessionRow> {
        self.rows.get(place)
    }

    pub(in crate::shard) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Sessions, client ids, places.
    #[cfg(test)]
    pub(in crate::shard) fn lengths(&self) -> [usize; 3] {
        [self.rows.len(), self.by_id.len(), self.rows.capacity()]
    }
}

fn place_of(key: SessionKey) -> usize {
    TableKey::place_of(key.0)
}

/// The shard on which a session lives.
pub(crate) fn shard_of(key: SessionKey) -> ShardId {
    TableKey::shard_of(key.0)
}
