//! A client whose connection a thread of its own keeps: for consumers and publishers.
//!
//! Rules of this room:
//!
//! - The thread reads and writes in batches and never calls the caller's code. Caller and thread meet in one [`State`]
//!   behind a lock that is held for a few moves, never across I/O.
//! - Nothing grows without a bound: what waits for the caller has two marks (`receive`), what waits for the broker has
//!   a size (`send`). Above the high mark the socket is not read until the low one.
//! - A message is acknowledged when the caller says so, with what it says (`finish`), on the connection it came on.
//!   A message whose connection is gone is not: the broker gives it out again.
//! - A connection that breaks is made again with growing pauses. What was published at QoS 1 and 2 and is unanswered
//!   goes again. What the broker will never change its mind about ends the link with that error.

mod back_off;
mod bell;
mod connection;
mod counters;
mod incoming;
mod load;
mod publication;
mod refusal;
mod serving;
mod settings;
mod shared;
mod state;
mod thread;
mod token;
mod waiting;

pub use bell::Bell;
pub use counters::Counters;
pub use publication::Publication;
pub use refusal::Refusal;
pub use settings::{Acknowledge, Filters, LinkOptions, Marks, Reports, SendLimits};
pub use state::{Phase, Taken};

use crate::address::Address;
use crate::error::ClientError;
use crate::over_sn;
use crate::rejections::Rejections;
use shared::{Shared, Waiter};
use state::{Closing, State};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A handle on the thread; dropped without `close` it breaks the connection.
#[derive(Debug)]
pub struct Link {
    shared: Arc<Shared>,
}

impl Link {
    /// Starts the thread, which connects; `wait_up` tells how that went.
    ///
    /// # Errors
    /// `Invalid`: a URL, filter or limit that cannot be; the system gives no thread or no descriptor.
    pub fn start(options: LinkOptions) -> Result<Self, ClientError> {
        let address = Address::parse(&options.url)?;
        let is_sn = address.scheme.is_sn();
        options.check(is_sn)?;
        options.connect.check()?;
        let options = LinkOptions { connect: over_sn::checked(&options.connect, &address)?, ..options };
        let shared = Arc::new(Shared::new(&options, is_sn)?);
        let thread = thread::Thread::new(address, options, Arc::clone(&shared));
        let started = std::thread::Builder::new().name("lapwing-link".to_owned()).spawn(move || thread.run());
        started.map_err(|error| ClientError::Invalid(format!("no thread for a connection: {error}")))?;
        Ok(Self { shared })
    }

    /// Waits until the link is connected (and subscribed); false when `timeout` came first.
    ///
    /// # Errors
    /// What ended the link.
    pub fn wait_up(&self, timeout: Duration) -> Result<bool, Arc<ClientError>> {
        let up = |state: &State| state.phase != Phase::Starting;
        let state = self.shared.wait(Waiter::Change, timeout, up);
        match (state.phase, &state.failure) {
            (Phase::Over, Some(error)) => Err(Arc::clone(error)),
            (phase, _) => Ok(phase == Phase::Up),
        }
    }

    /// Takes up to `max` messages: waits up to `timeout` for the first, then up to `linger` for the others.
    ///
    /// What is taken counts as being worked on until `finish`. None: none came in time, or none will; see `is_dry`.
    pub fn take(&self, max: usize, timeout: Duration, linger: Duration) -> Vec<Taken> {
        let mut state = self.shared.wait(Waiter::Messages, timeout, State::has_news_for_takers);
        if !linger.is_zero() && state.has_messages() && !state.has_batch(max) {
            drop(state);
            state = self.shared.wait(Waiter::Messages, linger, |state| state.has_batch(max));
        }
        let taken = state.take(max);
        self.shared.ring_if_due(&mut state);
        taken
    }

    /// Finishes one message and takes the next, as `finish` and `take` do.
    pub fn turn(&self, finished: Option<&Taken>, timeout: Duration) -> Option<Taken> {
        if let Some(taken) = finished {
            let mut state = self.shared.lock();
            if state.ends(taken) {
                state.finish(taken, 1, None, Instant::now());
                let next = state.take_one();
                self.shared.ring_if_due(&mut state);
                if next.is_some() || timeout.is_zero() {
                    return next;
                }
            }
        }
        let mut state = self.shared.wait(Waiter::Messages, timeout, State::has_news_for_takers);
        let next = state.take_one();
        self.shared.ring_if_due(&mut state);
        next
    }

    /// True once nothing waits and nothing more will come: the link drains or is closed.
    ///
    /// # Errors
    /// What ended the link.
    pub fn is_dry(&self) -> Result<bool, Arc<ClientError>> {
        let state = self.shared.lock();
        match (&state.failure, state.is_dry()) {
            (Some(error), true) => Err(Arc::clone(error)),
            (_, is_dry) => Ok(is_dry),
        }
    }

    /// Says that the work on `taken` is done, or that it is refused; `at` is when. What was finished before is not
    /// touched, nor what another link took: that counts as late.
    pub fn finish<'a>(&self, taken: impl ExactSizeIterator<Item = &'a Taken>, refusal: Option<&Refusal>, at: Instant) {
        let mut state = self.shared.lock();
        let share = u32::try_from(taken.len().max(1)).unwrap_or(u32::MAX);
        for one in taken {
            if state.ends(one) {
                state.finish(one, share, refusal, at);
            }
        }
        self.shared.ring_if_due(&mut state);
    }

    /// Gives `taken` up unanswered: the broker will send it again, to us after a reconnection or to somebody else.
    pub fn leave<'a>(&self, taken: impl Iterator<Item = &'a Taken>) {
        let mut state = self.shared.lock();
        for one in taken {
            if state.ends(one) {
                state.leave();
            }
        }
    }

    /// Hands a message over and gives its number, 1 for the first; gives it back when there was no room within `timeout`.
    ///
    /// # Errors
    /// `Invalid`: a message that cannot be; what ended the link; `NotConnected` after `close`.
    pub fn publish(
        &self,
        publication: Publication,
        timeout: Duration,
    ) -> Result<Result<u64, Publication>, Arc<ClientError>> {
        publication.check(self.shared.version)?;
        if self.shared.is_sn {
            over_sn::check_publish(&publication.topic, &publication.payload)?;
        }
        let mut state = self.shared.wait(Waiter::Room, timeout, |state| state.has_room() || state.is_closed());
        if state.is_closed() {
            return Err(state.failure.clone().unwrap_or_else(|| Arc::new(ClientError::NotConnected)));
        }
        if !state.has_room() {
            state.wants_room = true;
            return Ok(Err(publication));
        }
        let number = state.publish(publication);
        self.shared.ring_if_due(&mut state);
        Ok(Ok(number))
    }

    /// Waits until the broker has answered every publish; false when `timeout` came first.
    ///
    /// # Errors
    /// `Unpublished`: the broker refused some since the last call; what ended the link while some were unanswered.
    pub fn flush(&self, timeout: Duration) -> Result<bool, Arc<ClientError>> {
        let mut state = self.shared.wait(Waiter::Change, timeout, |state| state.is_answered() || state.is_over());
        match (state.is_answered(), &state.failure) {
            (true, _) => match state.take_rejections() {
                none if none.is_empty() => Ok(true),
                rejections => Err(Arc::new(ClientError::Unpublished(rejections))),
            },
            (false, Some(error)) => Err(Arc::clone(error)),
            (false, None) if state.is_over() => Err(Arc::new(ClientError::NotConnected)),
            (false, None) => Ok(false),
        }
    }

    /// What the broker refused since the last call, of this or of [`Link::flush`]; waits for nothing.
    pub fn rejections(&self) -> Rejections {
        self.shared.lock().take_rejections()
    }

    /// Tells the broker how things stand: a sign of life while one message takes long.
    pub fn report(&self) {
        let mut state = self.shared.lock();
        state.report();
        self.shared.ring_if_due(&mut state);
    }

    /// Declares what this consumer is (a JSON object, as a report), on this connection and those to come.
    pub fn declare(&self, declaration: String) {
        let mut state = self.shared.lock();
        state.declare(declaration);
        self.shared.ring_if_due(&mut state);
    }

    /// Takes in no more: what comes from now on stays the broker's. What waits here can still be taken.
    pub fn drain(&self) {
        let mut state = self.shared.lock();
        state.drain();
        self.shared.ring_if_due(&mut state);
        self.shared.wake_all(&mut state);
    }

    /// Ends the link: sends what is finished and published, waits for the answers, says goodbye. Returns when that is
    /// done or after `timeout`; the connection is closed then in either case. True when all was answered.
    pub fn close(&self, timeout: Duration) -> bool {
        let until = Instant::now() + timeout.min(settings::LONGEST);
        self.begin_close(Closing::Until(until));
        // A little longer than the thread: it says goodbye when its time is over.
        let patience = timeout.min(settings::LONGEST) + settings::GOODBYE;
        let state = self.shared.wait(Waiter::Change, patience, State::is_over);
        state.is_over() && state.is_answered()
    }

    /// Breaks the connection without a word.
    pub fn abort(&self) {
        self.begin_close(Closing::Abort);
    }

    fn begin_close(&self, closing: Closing) {
        let mut state = self.shared.lock();
        state.drain();
        if !state.is_over() {
            state.closing = closing;
        }
        self.shared.ring(&mut state);
        self.shared.wake_all(&mut state);
    }

    /// How things stand.
    pub fn counters(&self) -> Counters {
        self.shared.lock().counters()
    }

    /// A descriptor that becomes readable when there is news for somebody who does not wait in a call; see `heard`.
    pub fn watch(&self) -> BorrowedFd<'_> {
        self.shared.lock().watched = true;
        self.shared.news.fd()
    }

    /// The caller looks now: the next news makes the descriptor readable again.
    pub fn heard(&self) {
        let mut state = self.shared.lock();
        self.shared.news.clear();
        state.told = false;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.abort();
    }
}
