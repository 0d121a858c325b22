//! Who asks somebody else: so many threads as questions may be under way, begun when they are needed.
//!
//! They are not waited for at the end: each may be within a question. What is remembered is looked up before anybody waits.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use lapwing_access::{AnswerCache, CacheKey, Identity, OutsideConfig, Refusal};

use super::control::PasswordControl;
use super::feed::Secret;
use super::outside::{Asker, OutsideWords, Remembered};
use super::queue::Ask;
use super::thread::Done;

/// Those who ask, and what is remembered.
pub(super) struct Asking {
    control: Arc<PasswordControl>,
    results: Sender<Done>,
    asker: Option<Arc<Asker>>,
    lanes: Vec<Sender<(Arc<Asker>, Ask<Secret>)>>,
    idle: Vec<usize>,
    pub(super) words: OutsideWords,
}

impl Asking {
    pub(super) fn new(control: Arc<PasswordControl>, results: Sender<Done>) -> Self {
        Asking { control, results, asker: None, lanes: vec![], idle: vec![], words: OutsideWords::default() }
    }

    /// Takes other settings, if they are others: what is remembered is forgotten.
    pub(super) fn look(&mut self, settings: Option<Arc<OutsideConfig>>) {
        let is_same = match (&self.asker, &settings) {
            (Some(asker), Some(settings)) => Arc::ptr_eq(&asker.settings, settings),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            self.asker = settings.map(|settings| Arc::new(Asker::new(settings)));
        }
    }

    /// What was answered before to the same question.
    pub(super) fn remembered(&self, ask: &Ask<Secret>) -> Option<Result<Identity, Refusal>> {
        let found = self.asker.as_ref()?.remembered(ask)?;
        self.control.outside.count_remembered();
        Some(found)
    }

    /// Whether one more question may be under way.
    pub(super) fn has_place(&self) -> bool {
        let most = self.asker.as_ref().map_or(1, |asker| asker.settings.in_flight_max as usize);
        self.under_way() < most
    }

    pub(super) fn under_way(&self) -> usize {
        self.lanes.len() - self.idle.len()
    }

    pub(super) fn remembered_count(&self) -> usize {
        self.asker.as_ref().map_or(0, |asker| asker.remembered_count())
    }

    /// Asks; gives back what cannot be asked.
    pub(super) fn ask(&mut self, ask: Ask<Secret>) -> Result<(), Ask<Secret>> {
        let Some(asker) = self.asker.clone() else { return Err(ask) };
        let Some(worker) = self.idle.pop().or_else(|| self.begin()) else { return Err(ask) };
        self.lanes[worker].send((asker, ask)).map_err(|unsent| unsent.0.1)
    }

    /// One who asked is free again.
    pub(super) fn is_back(&mut self, worker: usize) {
        self.idle.push(worker);
    }

    fn begin(&mut self) -> Option<usize> {
        let number = self.lanes.len();
        let (lane, asks) = channel::<(Arc<Asker>, Ask<Secret>)>();
        let (control, results) = (self.control.clone(), self.results.clone());
        let work = move || {
            while let Ok((asker, ask)) = asks.recv() {
                let done = asker.ask(number, ask, &control);
                if results.send(done).is_err() {
                    return;
                }
                control.is_done();
            }
        };
        thread::Builder::new().name("lapwing-asks".into()).spawn(work).ok()?;
        self.lanes.push(lane);
        Some(number)
    }
}

/// What is remembered, behind a lock that is held for a look.
pub(super) struct Memory(Option<Mutex<AnswerCache>>);

impl Memory {
    pub(super) fn new(most: usize) -> Self {
        // Without random bytes for its key nothing is remembered.
        Memory(AnswerCache::new(most).ok().map(Mutex::new))
    }

    pub(super) fn with<T>(&self, look: impl FnOnce(&mut AnswerCache) -> T) -> Option<T> {
        let cache = self.0.as_ref()?;
        Some(look(&mut cache.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(super) fn get(&self, key: &CacheKey, now_ms: u64) -> Remembered {
        self.with(|cache| cache.get(key, now_ms)).flatten()
    }
}
