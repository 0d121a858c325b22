//! The one thread that runs a strategy.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lapwing_dispatch::{Answer, Verdict};

use super::desk::Seat;
use super::{Strategist, StrategyAsk, StrategyFailure};
use crate::assemble::Unpark;
use crate::mailbox::{Bell, Lane};

/// Most questions in one batch; their answers leave together.
const BATCH_MAX: usize = 256;
/// A missed wake-up would show as this delay and not as a hang.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// What a strategy's thread and the node share.
pub(super) struct Control {
    pub(super) bell: Bell,
    stop: AtomicBool,
    /// Groups that the thread has not seen yet.
    newcomers: Mutex<Vec<Seat>>,
    /// The first failure of a whole batch that nobody was told of.
    failure: Mutex<Option<String>>,
    pub(super) batches: AtomicU64,
    pub(super) asks: AtomicU64,
    pub(super) busy_us: AtomicU64,
    /// Questions whose time was over before the strategy saw them.
    pub(super) unseen: AtomicU64,
}

impl Control {
    pub(super) fn new(bell: Bell) -> Control {
        Control {
            bell,
            stop: AtomicBool::new(false),
            newcomers: Mutex::default(),
            failure: Mutex::default(),
            batches: AtomicU64::new(0),
            asks: AtomicU64::new(0),
            busy_us: AtomicU64::new(0),
            unseen: AtomicU64::new(0),
        }
    }

    /// One more group.
    pub(super) fn admit(&self, seat: Seat) {
        lock(&self.newcomers).push(seat);
        self.bell.ring();
    }

    /// Asks the thread to end when nothing waits.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.bell.ring();
    }

    /// What the operator should hear.
    pub(super) fn take_failure(&self) -> Option<String> {
        lock(&self.failure).take()
    }

    fn count(&self, asks: usize, took: Duration) {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.asks.fetch_add(asks as u64, Ordering::Relaxed);
        self.busy_us.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }
}

/// The thread's state; [`StrategyThread::run`] is its life.
pub(super) struct StrategyThread {
    strategist: Box<dyn Strategist>,
    seats: Vec<Seat>,
    /// The group to look at next.
    turn: usize,
    unpark: Unpark,
    control: Arc<Control>,
}

impl StrategyThread {
    pub(super) fn new(strategist: Box<dyn Strategist>, unpark: Unpark, control: Arc<Control>) -> StrategyThread {
        StrategyThread { strategist, seats: Vec::new(), turn: 0, unpark, control }
    }

    /// Works until the node stops it and nothing waits any more.
    pub(super) fn run(mut self) {
        self.unpark.is_me();
        loop {
            self.seats.retain(|seat| !seat.is_closed());
            self.seats.append(&mut lock(&self.control.newcomers));
            let batch = self.gather();
            if !batch.is_empty() {
                self.answer(batch);
            } else if self.control.stop.load(Ordering::Acquire) {
                return;
            } else {
                self.sleep();
            }
        }
    }

    /// Takes what waits, of each group in turn; without what nobody waits for any more.
    fn gather(&mut self) -> Vec<(usize, StrategyAsk)> {
        let (mut batch, mut empty) = (Vec::new(), 0);
        let now = Instant::now();
        while empty < self.seats.len() && batch.len() < BATCH_MAX {
            self.turn = (self.turn + 1) % self.seats.len();
            let seat = &mut self.seats[self.turn];
            match seat.asks.take() {
                None => empty += 1,
                Some(late) if late.deadline <= now => _ = self.control.unseen.fetch_add(1, Ordering::Relaxed),
                Some(pending) => {
                    empty = 0;
                    let (group, names) = (Arc::clone(&seat.group), Arc::clone(&seat.names));
                    batch.push((self.turn, StrategyAsk { group, names, question: pending.question }));
                }
            }
        }
        batch
    }

    /// Runs the strategy and sends its answers.
    fn answer(&mut self, batch: Vec<(usize, StrategyAsk)>) {
        let (seats, asks): (Vec<usize>, Vec<StrategyAsk>) = batch.into_iter().unzip();
        let begun = Instant::now();
        let chosen = self.guarded(&asks);
        self.control.count(asks.len(), begun.elapsed());
        let verdicts = chosen.unwrap_or_else(|failure| {
            lock(&self.control.failure).get_or_insert(failure.what);
            vec![Verdict::Failed; asks.len()]
        });
        for ((seat, ask), verdict) in seats.into_iter().zip(asks).zip(verdicts) {
            let (id, number) = (ask.question.id, ask.question.number);
            self.seats[seat].answers.send(Answer { id, number, verdict });
        }
        self.flush();
    }

    /// A panic of the strategy's code is its failure, not the node's.
    fn guarded(&mut self, asks: &[StrategyAsk]) -> Result<Vec<Verdict>, StrategyFailure> {
        let chosen = catch_unwind(AssertUnwindSafe(|| self.strategist.choose(asks)));
        let failure = |what: String| Err(StrategyFailure { what });
        match chosen {
            Ok(Ok(verdicts)) if verdicts.len() == asks.len() => Ok(verdicts),
            Ok(Ok(verdicts)) => failure(format!("{} answers to {} questions", verdicts.len(), asks.len())),
            Ok(Err(error)) => Err(error),
            Err(_) => failure("the strategy panicked".into()),
        }
    }

    fn flush(&mut self) {
        self.seats.iter_mut().map(|seat| &mut seat.answers).for_each(Lane::flush);
    }

    fn sleep(&mut self) {
        self.control.bell.prepare();
        let has_work = self.seats.iter().any(|seat| !seat.asks.is_empty()) || !lock(&self.control.newcomers).is_empty();
        // What had no room at a shard is tried again here: it rings when it has taken something.
        self.flush();
        if !has_work && !self.control.stop.load(Ordering::Acquire) {
            std::thread::park_timeout(SLEEP_MAX);
        }
        self.control.bell.awake();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that is done under these locks leaves a half of it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
