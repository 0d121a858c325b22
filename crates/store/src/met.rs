//! Places of streams where readers have met damage or loss: each is told once, however often it is read.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Places told apart; of what is met beyond these only counters tell.
const PLACES_MAX: usize = 256;

/// Stream, partition, offset.
#[derive(Debug, Default)]
pub(crate) struct Met {
    places: Mutex<HashSet<(String, u32, u64)>>,
}

impl Met {
    /// Whether nobody has met it before since the log was opened, as far as that is remembered.
    pub(crate) fn is_new(&self, stream: &str, partition: u32, offset: u64) -> bool {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.len() < PLACES_MAX && places.insert((stream.to_owned(), partition, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is each place new once, and so many at most?
    #[test]
    fn a_place_is_new_once() {
        let met = Met::default();
        assert!(met.is_new("a", 0, 7) && !met.is_new("a", 0, 7) && met.is_new("a", 1, 7) && met.is_new("b", 0, 7));
        assert_eq!((0..1_000).filter(|n| met.is_new("c", 0, *n)).count(), PLACES_MAX - 3);
    }
}
