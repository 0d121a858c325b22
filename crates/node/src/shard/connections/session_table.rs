//! The sessions of one shard, each in a place of its own, by key and by client id.

use std::hash::BuildHasher;

use hashbrown::HashTable;
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
    /// Places by client id. The ids are written with the sessions, so that each has five bytes here.
    by_id: HashTable<u32>,
    generation: u32,
}

impl SessionTable {
    pub(in crate::shard) fn new(own: ShardId) -> Self {
        SessionTable { own, rows: Slab::new(), by_id: HashTable::new(), generation: 0 }
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
        let place = little_spare::insert(&mut self.rows, row);
        debug_assert_eq!(place, place_of(key));
        let SessionTable { rows, by_id, .. } = self;
        let id = client_id(rows, place);
        by_id.insert_unique(hash(id), place as u32, |place| hash(client_id(rows, *place as usize)));
    }

    pub(in crate::shard) fn find(&self, client_id: &str) -> Option<SessionKey> {
        let is_it = |place: &u32| self.at(*place as usize).is_some_and(|row| row.session.client_id() == client_id);
        self.by_id.find(hash(client_id), is_it).and_then(|place| self.at(*place as usize)).map(|row| row.session.key())
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
        if let Ok(place) = self.by_id.find_entry(hash(row.session.client_id()), |at| *at as usize == place_of(key)) {
            place.remove();
        }
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

/// Of the session that stands there.
fn client_id(rows: &Slab<SessionRow>, place: usize) -> &str {
    rows.get(place).map_or("", |row| row.session.client_id())
}

fn hash(client_id: &str) -> u64 {
    FxBuildHasher.hash_one(client_id)
}

fn place_of(key: SessionKey) -> usize {
    TableKey::place_of(key.0)
}

/// The shard on which a session lives.
pub(crate) fn shard_of(key: SessionKey) -> ShardId {
    TableKey::shard_of(key.0)
}
