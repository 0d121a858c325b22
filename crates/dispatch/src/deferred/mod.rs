//! A strategy whose answers come later: from another thread, in another language.
//!
//! A message whose turn it is is *asked for* once: the question, with a picture of the members, goes to a bounded [`Desk`],
//! and the message waits. What comes back in time is the pick; what does not, fails, or names somebody who has gone or is
//! full meets the declared fallback. What waits behind it is asked for ahead, so that answers come in batches, but never
//! more than there is room for with the members: an answer about a full group would be out of date. Everything is counted.
//! Time is the `now` of the questions: there is no clock and no thread here.

mod book;
mod question;

pub use question::{Answer, DeferredCounters, Desk, MemberState, Question, Verdict};

use std::sync::Arc;

use crate::choose::{Ask, Choose};
use crate::deferred::book::{Book, State};
use crate::index::MemberIndex;
use crate::strategy::Strategy;
use crate::time::ms;
use crate::work::{Pick, Work};

/// What a strategy that answers later wants of the owner of the group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deferral {
    /// So many messages behind the first that waits are to be shown to `Members::foresee`.
    pub look_ahead: usize,
    /// When a message that waits for an answer has waited long enough: call `Members::hear` then, and ask for it. Milliseconds of the caller's clock.
    pub next_turn_ms: Option<f64>,
    /// Answers have come: call `Members::hear`, then ask for what waits.
    pub has_news: bool,
    /// Since the strategy began.
    pub counters: DeferredCounters,
}

/// Messages that may be between question and member at a time; one beyond that meets the fallback.
const OPEN_MAX: usize = 256;
/// Messages that are asked for ahead of their turn.
const LOOK_AHEAD: usize = 64;

/// A strategy that answers later, by way of a desk.
pub struct Deferred<D> {
    desk: D,
    fallback: Box<dyn Choose>,
    timeout_ms: f64,
    book: Book,
    picture: Option<Picture>,
    next_id: u64,
    counters: DeferredCounters,
}

/// The members as they were shown last.
struct Picture {
    at_ms: f64,
    /// What they had then, all together.
    inflight: u64,
    members: Arc<[MemberState]>,
}

impl<D: Desk> Deferred<D> {
    /// `fallback`: who decides where there is no answer. `timeout_us`: how long a message waits for one, microseconds.
    pub fn new(desk: D, fallback: Strategy, timeout_us: u64) -> Deferred<D> {
        Deferred {
            desk,
            fallback: fallback.chooser(),
            timeout_ms: ms(timeout_us),
            book: Book::new(OPEN_MAX),
            picture: None,
            next_id: 0,
            counters: DeferredCounters::default(),
        }
    }

    /// Takes what has come.
    fn take_answers(&mut self, now_ms: f64) {
        while let Some(Answer { id, number, verdict }) = self.desk.answer() {
            if !self.book.is_open(number, id) {
                self.counters.late += 1;
                continue;
            }
            let (count, state) = match verdict {
                Verdict::To { member, identity } => (&mut self.counters.answered, State::Named { member, identity }),
                Verdict::Wait => (&mut self.counters.held, State::Held { until_ms: now_ms + self.timeout_ms }),
                Verdict::Failed => (&mut self.counters.failed, State::FellBack),
            };
            *count += 1;
            self.book.set(number, state);
        }
    }

    /// Asks for the message; false: there is no room for one more question.
    fn put(&mut self, ask: &Ask<'_>) -> bool {
        let (number, id) = (ask.work().number, self.next_id);
        if !self.book.has_room(number) {
            return false;
        }
        let members = self.picture(ask);
        let is_asked = self.desk.ask(Question { id, number, work: *ask.work(), backlog: ask.backlog(), members });
        if is_asked {
            self.book.set(number, State::Asked { id, due_ms: ask.now_ms() + self.timeout_ms });
            self.next_id += 1;
            self.counters.asked += 1;
        }
        is_asked
    }

    /// The members as they are now; one picture for all that is asked at once.
    fn picture(&mut self, ask: &Ask<'_>) -> Arc<[MemberState]> {
        let at_ms = ask.now_ms();
        let inflight = ask.members().map(|(_, one)| u64::from(one.inflight())).sum();
        let same = self.picture.as_ref().filter(|picture| picture.at_ms == at_ms && picture.inflight == inflight);
        if let Some(picture) = same {
            return Arc::clone(&picture.members);
        }
        let members: Arc<[MemberState]> = ask.members().map(|(at, one)| MemberState::of(at, one, at_ms)).collect();
        self.picture = Some(Picture { at_ms, inflight, members: Arc::clone(&members) });
        members
    }

    /// The fallback decides about this message from now on.
    fn fall_back(&mut self, ask: &mut Ask<'_>) -> Pick {
        self.book.set(ask.work().number, State::FellBack);
        self.fallback.choose(ask)
    }

    /// The message has not been asked for, or has waited as it was told to. It is its turn: what was asked ahead does not
    /// count, because that comes behind it.
    fn begin(&mut self, ask: &mut Ask<'_>) -> Pick {
        if room(ask) == 0 || self.put(ask) {
            return Pick::Wait;
        }
        self.counters.overflowed += 1;
        self.fall_back(ask)
    }

    /// The message was answered with this member.
    fn named(&mut self, member: MemberIndex, identity: u64, ask: &mut Ask<'_>) -> Pick {
        let is_that_one = ask.member(member).filter(|one| one.identity() == identity);
        if is_that_one.is_some_and(|one| one.can_take(ask.now_ms())) {
            return Pick::To(member);
        }
        self.counters.unable += 1;
        self.fall_back(ask)
    }
}

impl<D: Desk> Choose for Deferred<D> {
    fn choose(&mut self, ask: &mut Ask<'_>) -> Pick {
        let now_ms = ask.now_ms();
        self.take_answers(now_ms);
        match self.book.get(ask.work().number) {
            Some(State::Asked { due_ms, .. }) if now_ms < due_ms => Pick::Wait,
            Some(State::Held { until_ms }) if now_ms < until_ms => Pick::Wait,
            Some(State::Asked { .. }) => {
                self.counters.timed_out += 1;
                self.fall_back(ask)
            }
            Some(State::Named { member, identity }) => self.named(member, identity, ask),
            Some(State::FellBack) => self.fallback.choose(ask),
            Some(State::Held { .. }) | None => self.begin(ask),
        }
    }

    fn foresee(&mut self, ask: &Ask<'_>) {
        self.take_answers(ask.now_ms());
        let is_due = match self.book.get(ask.work().number) {
            Some(State::Held { until_ms }) => ask.now_ms() >= until_ms,
            Some(_) => false,
            None => true,
        };
        if is_due && room(ask) > self.book.taking() {
            // Without room it is asked for when it is its turn.
            self.put(ask);
        }
    }

    fn hear(&mut self, now_ms: f64) {
        self.take_answers(now_ms);
        self.counters.timed_out += self.book.give_up(now_ms);
    }

    fn deferral(&self) -> Option<Deferral> {
        Some(Deferral {
            look_ahead: LOOK_AHEAD,
            next_turn_ms: self.book.next_turn_ms(),
            has_news: self.desk.has_answers(),
            counters: self.counters,
        })
    }

    fn dropped(&mut self, number: u64) {
        self.book.remove(number);
    }

    fn sent(&mut self, member: MemberIndex, work: &Work) {
        self.book.remove(work.number);
        self.fallback.sent(member, work);
    }

    fn finished(&mut self, member: MemberIndex, key: u64) {
        self.fallback.finished(member, key);
    }

    fn left(&mut self, member: MemberIndex) {
        self.picture = None;
        self.fallback.left(member);
    }
}

/// Messages that the members may have more than they have.
fn room(ask: &Ask<'_>) -> u64 {
    let can_take = ask.members().filter(|(_, one)| one.can_take(ask.now_ms()));
    can_take.map(|(_, one)| u64::from(one.limit() - one.inflight())).sum()
}
