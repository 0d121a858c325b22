//! Sealed segments that were read lately, kept open: readers tend to be at a few places.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The last few things of type `T`, by the number of their segment.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    most: usize,
    things: Mutex<VecDeque<(u64, Arc<T>)>>,
}

impl<T> Recent<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, things: Mutex::default() }
    }

    /// The thing of this segment, made now by `load` or before. Loading happens under the lock: two readers never make
    /// the same one at once.
    pub(crate) fn get<E>(&self, sequence: u64, load: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let mut things = self.things.lock().unwrap_or_else(PoisonError::into_inner);
        let known = things.iter().position(|(number, _)| *number == sequence);
        if known == Some(0) {
            return Ok(things[0].1.clone());
        }
        let entry = match known.and_then(|place| things.remove(place)) {
            Some(entry) => entry,
            None => (sequence, Arc::new(load()?)),
        };
        let thing = entry.1.clone();
        things.truncate(self.most - 1);
        things.push_front(entry);
        Ok(thing)
    }

    /// Lets go of a segment that was deleted, so that its space is freed as soon as nobody uses it.
    pub(crate) fn forget(&self, sequence: u64) {
        self.things.lock().unwrap_or_else(PoisonError::into_inner).retain(|(number, _)| *number != sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_few_are_kept_and_the_others_loaded_again() {
        let recent = Recent::new(2);
        let get = |number| *recent.get(number, || Ok::<_, ()>(number * 10)).expect("loads");
        let again = |number| recent.get(number, || Err(())).map(|thing| *thing);
        assert_eq!((get(1), get(2)), (10, 20));
        assert_eq!(again(1), Ok(10), "not loaded again");
        assert_eq!(get(3), 30);
        assert_eq!((again(2), again(1), again(3)), (Err(()), Ok(10), Ok(30)), "the one not used for longest went");
        recent.forget(3);
        assert_eq!(again(3), Err(()));
    }
}
