//! Places for connections. Who has not asked for anything yet gives his up where all are taken, so whoever holds many of them
//! keeps nobody out; some more are for health, so that what watches this process has its answer while others wait for theirs.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Places beyond `http.connections_max`, for `/healthz` and `/readyz` alone.
const KEPT_FOR_HEALTH: usize = 8;

/// Those of one listener.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    taken: Mutex<BTreeMap<u64, Taken>>,
}

/// What the connection in a place does.
#[derive(Debug)]
enum Taken {
    /// For its peer, who has asked for nothing yet, or has an answer to take and nothing more to ask.
    Waits(Waiting),
    Asks,
}

/// A connection that waits for its peer, which this ends.
#[derive(Debug)]
struct Waiting {
    connection: Arc<TcpStream>,
    /// In one of the places for health.
    is_kept: bool,
    is_answered: bool,
}

/// Who lost a place.
#[derive(Debug)]
pub(super) struct Displaced {
    pub connection: Arc<TcpStream>,
    /// In the midst of an answer: nothing else can be said to it.
    pub is_answered: bool,
}

/// One of them, given back whatever becomes of its connection.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    /// It is one of those for health.
    pub is_kept: bool,
}

/// What a newcomer gets.
#[derive(Debug)]
pub(super) struct Found {
    /// None: all are taken by connections that ask for something.
    pub place: Option<Place>,
    /// Who lost its own for it, and is to be ended.
    pub displaced: Option<Displaced>,
}

impl Places {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Places { most, taken: Mutex::default() })
    }

    /// One for a newcomer. `number`: its own, and larger than those before it.
    pub(super) fn take(self: &Arc<Self>, number: u64, connection: &Arc<TcpStream>) -> Found {
        let mut taken = self.taken();
        let mut displaced = None;
        if taken.len() >= self.most {
            // The oldest goes: an honest one asks as soon as it is here. Those for health are few, and all used before one does.
            let is_full = taken.len() >= self.most + KEPT_FOR_HEALTH;
            let goes = |held: &Taken| matches!(held, Taken::Waits(waiting) if is_full || !waiting.is_kept);
            let oldest = taken.iter().find(|(_, held)| goes(held)).map(|(number, _)| *number);
            if let Some(Taken::Waits(waiting)) = oldest.and_then(|number| taken.remove(&number)) {
                let Waiting { connection, is_answered, .. } = waiting;
                displaced = Some(Displaced { connection, is_answered });
            }
        }
        if taken.len() >= self.most + KEPT_FOR_HEALTH {
            return Found { place: None, displaced };
        }
        let is_kept = taken.len() >= self.most;
        let connection = Arc::clone(connection);
        taken.insert(number, Taken::Waits(Waiting { connection, is_kept, is_answered: false }));
        Found { place: Some(Place { places: Arc::clone(self), number, is_kept }), displaced }
    }

    fn taken(&self) -> MutexGuard<'_, BTreeMap<u64, Taken>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// It has a whole request, and stays until that is answered; false: somebody else has its place.
    pub(super) fn asks(&self) -> bool {
        self.becomes(Taken::Asks)
    }

    /// Its answer is there, and it waits for its peer to take it, or is only heard out; false: somebody else has its place.
    pub(super) fn waits(&self, connection: &Arc<TcpStream>) -> bool {
        let connection = Arc::clone(connection);
        self.becomes(Taken::Waits(Waiting { connection, is_kept: self.is_kept, is_answered: true }))
    }

    fn becomes(&self, now: Taken) -> bool {
        self.places.taken().get_mut(&self.number).is_some_and(|held| {
            *held = now;
            true
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn connection() -> Arc<TcpStream> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        Arc::new(TcpStream::connect(listener.local_addr().expect("it has one")).expect("it listens"))
    }

    /// Does the oldest that asks for nothing go for a newcomer, and nobody who is being answered?
    #[test]
    fn who_asks_for_nothing_makes_room() {
        let (places, connections) = (Places::new(2), [connection(), connection(), connection()]);
        let take = |number: usize| places.take(number as u64, &connections[number]);
        let (first, second) = (take(0).place.expect("room"), take(1).place.expect("room"));
        assert!(first.asks() && !second.is_kept);
        let third = take(2);
        assert!(third.displaced.is_some_and(|who| Arc::ptr_eq(&who.connection, &connections[1]) && !who.is_answered));
        assert!(!second.asks(), "its place is another's");
        assert!(!second.waits(&connections[1]) && third.place.is_some_and(|place| !place.is_kept));
        drop((first, second));
        assert!(places.taken().is_empty());
    }

    /// Does who takes nothing of an answer make room like who asks for nothing, and is nothing else said to it?
    #[test]
    fn who_takes_nothing_makes_room() {
        let (places, connections) = (Places::new(1), [connection(), connection()]);
        let slow = places.take(0, &connections[0]).place.expect("room");
        assert!(slow.asks());
        assert!(places.take(1, &connections[1]).displaced.is_none(), "its answer is not there");
        assert!(slow.waits(&connections[0]));
        let displaced = places.take(2, &connections[1]).displaced.expect("it goes");
        assert!(Arc::ptr_eq(&displaced.connection, &connections[0]) && displaced.is_answered);
        assert!(!slow.waits(&connections[0]));
    }

    /// Where all are being answered, are there places for health, and who waits in one of those makes room too?
    #[test]
    fn health_has_places_of_its_own() {
        let (places, one) = (Places::new(1), connection());
        let first = places.take(0, &one).place.expect("room");
        assert!(first.asks());
        let take = |number| places.take(number, &one);
        let kept: Vec<Place> = (1..=8).map(|number| take(number).place.expect("room")).collect();
        assert!(kept.iter().all(|place| place.is_kept) && places.taken().len() == 9);
        assert!(kept[7].asks());
        let last: Vec<Found> = (9..=16).map(take).collect();
        assert!(
            last.iter().all(|found| found.displaced.is_some() && found.place.as_ref().is_some_and(|one| one.is_kept))
        );
        assert!(!kept[6].asks() && kept[7].asks(), "who waited longest went");
        assert_eq!(places.taken().len(), 9);
        drop((first, kept, last));
        assert!(places.taken().is_empty());
    }

    #[test]
    fn there_is_an_end_of_places() {
        let (places, one) = (Places::new(1), connection());
        let held: Vec<Place> = (0..9)
            .map(|number| {
                let place = places.take(number, &one).place.expect("room");
                assert!(place.asks() && place.is_kept == (number > 0));
                place
            })
            .collect();
        let none = places.take(9, &one);
        assert!(none.place.is_none() && none.displaced.is_none());
        drop(held);
        assert!(places.take(10, &one).place.is_some_and(|place| !place.is_kept));
    }
}
