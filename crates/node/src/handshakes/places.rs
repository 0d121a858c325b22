//! Places for unfinished handshakes: so many in all, and so many of one address.
//!
//! Who goes when there are too many is decided as among strangers, in a table of the same kind: the oldest of the address with
//! most, so that silent peers keep nobody out; who waits for us has done its part and is passed over.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::HandshakeRoom;
use crate::listeners::ListenerId;
use crate::strangers::{Bound, Budget, Ended, Place, Source, Table};

/// All places, shared by the threads of the room.
pub(crate) struct Places(Mutex<Table>);

impl Places {
    /// Both bounds are 1 or more.
    pub(super) fn new(all_max: u32, address_max: u32) -> Self {
        let budget = Budget { count_max: all_max as usize, per_address_max: address_max as usize, bytes_max: u64::MAX };
        Places(Mutex::new(Table::new(budget)))
    }

    /// All that are taken.
    pub(super) fn taken(&self) -> usize {
        self.table().count()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One place; it is free again when the value is dropped.
pub(crate) struct Seat {
    room: Arc<HandshakeRoom>,
    id: usize,
    waits_for_us: bool,
}

impl Seat {
    /// Takes a place for the handshake at `place`, from `source`; and who has to go for it.
    ///
    /// # Errors
    /// Which bound is reached, where all others wait for us.
    pub(super) fn take(
        room: &Arc<HandshakeRoom>,
        source: Source,
        listener: ListenerId,
        place: Place,
    ) -> Result<(Self, Option<Ended>), Bound> {
        let mut table = room.places.table();
        let (id, ended) = table.arrive(source, listener)?;
        table.settle(id, place);
        Ok((Seat { room: room.clone(), id, waits_for_us: false }, ended))
    }

    /// A proxy has said that it is of `source`; who has to go for that, it perhaps.
    pub(super) fn name(&self, source: Source) -> Option<Ended> {
        self.room.places.table().name(self.id, source)
    }

    /// Whether something is to be done for it. Costs nothing when that is known.
    pub(super) fn waits_for_us(&mut self, waits: bool) {
        if std::mem::replace(&mut self.waits_for_us, waits) != waits {
            self.room.places.table().hold(self.id, 0, waits);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.room.places.table().leave(self.id);
    }
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("id", &self.id).field("waits_for_us", &self.waits_for_us).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::counters::HandshakeCounters;
    use super::*;

    fn room(all_max: u32, address_max: u32) -> Arc<HandshakeRoom> {
        let places = Places::new(all_max, address_max);
        Arc::new(HandshakeRoom { places, counters: HandshakeCounters::default() })
    }

    fn source(n: u32) -> Source {
        Source::Address(std::net::Ipv4Addr::from_bits(n).into())
    }

    /// A handshake by its number; and the number of the one that went for it.
    fn take(room: &Arc<HandshakeRoom>, source: Source, number: usize) -> Result<(Seat, Option<usize>), Bound> {
        let place = Place { shard: 0, index: number, born: 0 };
        let (seat, ended) = Seat::take(room, source, ListenerId(0), place)?;
        Ok((seat, ended.map(|one| one.place.index)))
    }

    /// Do silent peers make room for whoever comes behind their address, and those who wait for us stay?
    #[test]
    fn the_silent_go_first() {
        let room = room(5, 2);
        let (mut asks, _) = take(&room, source(1), 1).unwrap();
        asks.waits_for_us(true);
        let (_silent, _) = take(&room, source(1), 2).unwrap();
        let (mut next, went) = take(&room, source(1), 3).unwrap();
        assert_eq!(went, Some(2));
        next.waits_for_us(true);
        assert_eq!(take(&room, source(1), 4).unwrap_err(), Bound::PerAddress);
        assert_eq!(take(&room, source(2), 5).unwrap().1, None, "another address has its own");
        next.waits_for_us(false);
        assert_eq!(take(&room, source(1), 6).unwrap().1, Some(3));
    }

    /// Is nothing left behind when all have gone, also of whom a proxy named later?
    #[test]
    fn a_place_is_free_again() {
        let room = room(3, 1);
        let (first, _) = take(&room, Source::Shared, 1).unwrap();
        let (second, _) = take(&room, Source::Shared, 2).unwrap();
        assert!(first.name(source(1)).is_none());
        assert_eq!(second.name(source(1)).map(|one| one.place.index), Some(1));
        assert_eq!(room.places.taken(), 1);
        drop((first, second));
        assert_eq!(room.places.taken(), 0);
        assert!((0..9).all(|number| take(&room, source(1), number).unwrap().1.is_none()));
    }
}
