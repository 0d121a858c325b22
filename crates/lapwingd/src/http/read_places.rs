//! Who may read a stream now: so many reads in all, and so many of one identity. What comes beyond is refused at once: a reader has
//! its own patience and its own offset, so it loses nothing by coming again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;

use super::error::HttpError;

/// Those of one listener.
#[derive(Clone, Debug)]
pub(super) struct ReadPlaces {
    all_max: usize,
    each_max: usize,
    /// By identity, with how many each has.
    held: Arc<Mutex<BTreeMap<Option<String>, usize>>>,
}

/// One of them, for as long as it lives.
#[derive(Debug)]
pub(super) struct ReadPlace {
    places: ReadPlaces,
    name: Option<String>,
}

impl ReadPlaces {
    pub(super) fn new(all_max: usize, each_max: usize) -> Self {
        ReadPlaces { all_max, each_max, held: Arc::default() }
    }

    /// A place for a read of `name`. `is_open`: everybody may everything, and nobody has a name to be told apart by.
    ///
    /// # Errors
    /// 503: all are taken, or all of this identity's; or memory is above its mark.
    pub(super) fn take(&self, name: Option<&str>, is_open: bool, is_memory_high: bool) -> Result<ReadPlace, HttpError> {
        let mut held = self.held();
        let name = name.map(str::to_owned);
        let (running, own) = (held.values().sum::<usize>(), held.get(&name).copied().unwrap_or(0));
        if running >= self.all_max {
            return Err(too_many(format!("{running} stream reads are running"), "reads_max", self.all_max));
        }
        if own >= self.each_max && !is_open {
            let message = format!("{own} stream reads of this identity are running");
            return Err(too_many(message, "reads_per_identity_max", self.each_max));
        }
        if is_memory_high {
            let message = "the broker has no memory to spare for stream reads";
            let remedy = "try again after Retry-After, or raise limits.memory_high_bytes";
            return Err(HttpError::new(503, "memory_high", message, remedy).retry_after_s(1));
        }
        held.insert(name.clone(), own + 1);
        Ok(ReadPlace { places: self.clone(), name })
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<Option<String>, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ReadPlace {
    fn drop(&mut self) {
        let mut held = self.places.held();
        let own = held.get(&self.name).copied().unwrap_or(0);
        if own > 1 {
            held.insert(self.name.clone(), own - 1);
        } else {
            held.remove(&self.name);
        }
    }
}

fn too_many(message: String, setting: &'static str, most: usize) -> HttpError {
    let remedy = format!("try again after Retry-After, or raise http.{setting}");
    HttpError::new(503, "too_many_reads", message, remedy).retry_after_s(1).with(setting, json!(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does one identity leave places to others, and is each place free again behind its read?
    #[test]
    fn places_are_shared() {
        let places = ReadPlaces::new(3, 2);
        let take = |name: Option<&str>| places.take(name, false, false);
        let body = |error: HttpError| String::from_utf8(error.body()).expect("text");
        let (first, _second) = (take(Some("a")).expect("room"), take(Some("a")).expect("room"));
        assert!(body(take(Some("a")).expect_err("two of two")).contains("\"reads_per_identity_max\":2"));
        let third = take(None).expect("somebody else's");
        assert!(body(take(None).expect_err("three of three")).contains("\"reads_max\":3"));
        drop(first);
        let _again = take(Some("a")).expect("room again");
        drop(third);
        assert!(places.take(Some("a"), true, false).is_ok(), "who has no name is not counted by it");
    }

    #[test]
    fn there_are_none_while_memory_is_high() {
        let places = ReadPlaces::new(1, 1);
        let refused = places.take(None, true, true).expect_err("no memory");
        assert_eq!((refused.status, refused.code), (503, "memory_high"));
        assert!(places.take(None, true, false).is_ok(), "what was refused holds no place");
    }
}
