//! Who waits outside of the node for an answer: requests over HTTP. No thread waits with any of them; each is called back,
//! once, whatever becomes of its question.
//!
//! So many may wait, so many of one address. Those about whom somebody else is asked have places of their own: who answers
//! slowly, or never, keeps nobody of the users file waiting, and nobody who has a token.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lapwing_access::{Identity, Refusal};
use lapwing_codec::ReasonCode;

use super::feed::Denied;
use super::source::Source;
use crate::config::Limits;

/// Called with the answer. It must not keep the thread that calls it.
pub(crate) type Then = Box<dyn FnOnce(Result<Identity, Denied>) + Send>;

/// Those who wait.
pub(super) struct Awaiting {
    table: Mutex<Table>,
    /// Of each kind.
    waiting_max: usize,
    per_address_max: usize,
}

#[derive(Default)]
struct Table {
    waiting: HashMap<u64, Waiting>,
    /// How many of an address, and whether somebody else is asked about them.
    of: HashMap<(Source, bool), usize>,
    here: usize,
    outside: usize,
    last: u64,
    is_over: bool,
}

struct Waiting {
    source: Source,
    is_outside: bool,
    deadline_ms: u64,
    then: Then,
}

impl Awaiting {
    pub(super) fn new(limits: &Limits) -> Self {
        let (waiting_max, per_address_max) = (limits.http_checks_max, limits.http_checks_per_address_max);
        Awaiting {
            table: Mutex::default(),
            waiting_max: waiting_max as usize,
            per_address_max: per_address_max as usize,
        }
    }

    /// A place for one more, by its number; without one, `then` is called at once.
    pub(super) fn wait(&self, source: Source, is_outside: bool, deadline_ms: u64, then: Then) -> Option<u64> {
        let mut table = self.table();
        match self.refusal(&table, source, is_outside) {
            None => Some(table.add(Waiting { source, is_outside, deadline_ms, then })),
            Some(reason) => {
                drop(table);
                then(Err(unasked(reason)));
                None
            }
        }
    }

    /// Gives one its answer; it may have had one, because its time was over.
    pub(super) fn answer(&self, number: u64, result: Result<Identity, Denied>) {
        let waiting = self.table().take(number);
        if let Some(waiting) = waiting {
            (waiting.then)(result);
        }
    }

    /// Tells those whose time is over that nobody can say.
    pub(super) fn look(&self, now_ms: u64) {
        self.give_up(|waiting| waiting.deadline_ms <= now_ms);
    }

    /// The same with all when the value is dropped, be it by a panic: nobody is answered any more.
    pub(super) fn ending(&self) -> Ending<'_> {
        Ending(self)
    }

    /// Why there is no place; `None`: there is one.
    fn refusal(&self, table: &Table, source: Source, is_outside: bool) -> Option<ReasonCode> {
        let in_all = if is_outside { table.outside } else { table.here };
        let of_source = table.of.get(&(source, is_outside)).copied().unwrap_or(0);
        if table.is_over {
            return Some(Refusal::Unavailable.reason());
        }
        (in_all >= self.waiting_max || of_source >= self.per_address_max).then_some(ReasonCode::QuotaExceeded)
    }

    fn give_up(&self, is_over: impl Fn(&Waiting) -> bool) {
        let mut table = self.table();
        let over: Vec<u64> =
            table.waiting.iter().filter(|(_, waiting)| is_over(waiting)).map(|(number, _)| *number).collect();
        let over: Vec<Waiting> = over.into_iter().filter_map(|number| table.take(number)).collect();
        // Not under the lock: what is called may ask the next question.
        drop(table);
        for waiting in over {
            (waiting.then)(Err(unasked(Refusal::Unavailable.reason())));
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Awaiting::ending`].
pub(super) struct Ending<'a>(&'a Awaiting);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.table().is_over = true;
        self.0.give_up(|_| true);
    }
}

impl Table {
    fn add(&mut self, waiting: Waiting) -> u64 {
        *self.of.entry((waiting.source, waiting.is_outside)).or_default() += 1;
        *self.in_all(waiting.is_outside) += 1;
        self.last += 1;
        self.waiting.insert(self.last, waiting);
        self.last
    }

    fn take(&mut self, number: u64) -> Option<Waiting> {
        let waiting = self.waiting.remove(&number)?;
        *self.in_all(waiting.is_outside) -= 1;
        let key = (waiting.source, waiting.is_outside);
        if let Some(count) = self.of.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.of.remove(&key);
            }
        }
        Some(waiting)
    }

    fn in_all(&mut self, is_outside: bool) -> &mut usize {
        if is_outside { &mut self.outside } else { &mut self.here }
    }
}

/// The answer to who is not asked about.
fn unasked(reason: ReasonCode) -> Denied {
    Denied { reason, wait_ms: 0, is_told: false }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    type Answers = Receiver<Option<ReasonCode>>;

    /// 40 wait, 4 of one address.
    fn made() -> Awaiting {
        Awaiting::new(&Limits { http_checks_max: 40, http_checks_per_address_max: 4, ..Limits::default() })
    }

    fn wait(awaiting: &Awaiting, address: u16, is_outside: bool, deadline_ms: u64) -> (Option<u64>, Answers) {
        let (sender, receiver) = channel();
        let then = Box::new(move |result: Result<Identity, Denied>| {
            sender.send(result.err().map(|denied| denied.reason)).expect("somebody looks");
        });
        let source = Source::V6([0x2001, 0xdb8, 0, address]);
        (awaiting.wait(source, is_outside, deadline_ms, then), receiver)
    }

    fn heard(answers: &Answers) -> Vec<Option<ReasonCode>> {
        answers.try_iter().collect()
    }

    /// However many addresses have questions that hang, has somebody with a password of the users file a place; and one address
    /// no more than its own?
    #[test]
    fn questions_that_hang_take_no_place_of_others() {
        let awaiting = made();
        let hanging: Vec<_> = (0..80).map(|n| wait(&awaiting, n % 20, true, u64::MAX)).collect();
        assert_eq!(hanging.iter().filter(|(place, _)| place.is_some()).count(), 40);
        let refused = hanging.iter().filter(|(place, _)| place.is_none());
        assert!(refused.map(|(_, answers)| heard(answers)).all(|heard| heard == [Some(ReasonCode::QuotaExceeded)]));
        let (place, answers) = wait(&awaiting, 0, false, u64::MAX);
        awaiting.answer(place.expect("a place"), Ok(Identity::ANONYMOUS));
        awaiting.answer(place.expect("a place"), Ok(Identity::ANONYMOUS));
        assert_eq!(heard(&answers), [None], "called once");
        let own: Vec<_> = (0..5).map(|_| wait(&awaiting, 41, false, u64::MAX)).collect();
        assert_eq!(own.iter().filter(|(place, _)| place.is_some()).count(), 4);
    }

    /// Is everybody called back whose question is not answered: when its time is over, and at the end; and is nothing left?
    #[test]
    fn nobody_waits_for_ever() {
        let awaiting = made();
        let [early, late] = [5, 50].map(|deadline_ms| wait(&awaiting, 1, true, deadline_ms));
        awaiting.look(4);
        assert_eq!((heard(&early.1), heard(&late.1)), (vec![], vec![]));
        awaiting.look(5);
        assert_eq!(heard(&early.1), [Some(ReasonCode::ServerUnavailable)]);
        awaiting.answer(early.0.expect("a place"), Ok(Identity::ANONYMOUS));
        assert_eq!((heard(&early.1), heard(&late.1)), (vec![], vec![]));
        drop(awaiting.ending());
        assert_eq!(heard(&late.1), [Some(ReasonCode::ServerUnavailable)]);
        let after = wait(&awaiting, 1, false, u64::MAX);
        assert_eq!((after.0, heard(&after.1)), (None, vec![Some(ReasonCode::ServerUnavailable)]));
        let table = awaiting.table();
        assert!(table.waiting.is_empty() && table.of.is_empty() && (table.here, table.outside) == (0, 0));
    }
}
