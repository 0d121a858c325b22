//! The lock around the state, and who wakes whom.
//!
//! A wake-up is a system call: each is made only where somebody waits.

use super::bell::Bell;
use super::settings::{LONGEST, LinkOptions};
use super::state::State;
use crate::error::ClientError;
use lapwing_codec::Version;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a caller waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiter {
    /// Messages.
    Messages,
    /// Room for a publish.
    Room,
    /// The connection's coming and going; the last answer.
    Change,
}

/// A condition, and how many wait for it.
#[derive(Debug, Default)]
struct Condition {
    condvar: Condvar,
    waiting: std::sync::atomic::AtomicUsize,
}

/// Shared between the caller's threads and the link's.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    conditions: [Condition; 3],
    /// Wakes the link's thread.
    pub bell: Bell,
    /// Wakes a caller that polls.
    pub news: Bell,
    pub version: Version,
    /// MQTT-SN is spoken: a message has to fit a datagram.
    pub is_sn: bool,
}

impl Shared {
    pub fn new(options: &LinkOptions, is_sn: bool) -> Result<Self, ClientError> {
        Ok(Self {
            state: Mutex::new(State::new(options)),
            conditions: Default::default(),
            bell: Bell::new()?,
            news: Bell::new()?,
            version: options.connect.version,
            is_sn,
        })
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock is a bug of ours; what it left behind is still worth closing in order.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `done`, or for `timeout`; gives the state in either case.
    pub fn wait(&self, waiter: Waiter, timeout: Duration, done: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        if done(&state) || timeout.is_zero() {
            return state;
        }
        let until = Instant::now() + timeout.min(LONGEST);
        let Condition { condvar, waiting } = &self.conditions[waiter as usize];
        // Written and read under the lock.
        waiting.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        while !done(&state) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = condvar.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        waiting.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
        state
    }

    /// Wakes those who wait for `waiter`: one of them, or all. Called with the lock held.
    pub fn wake(&self, waiter: Waiter, all: bool) {
        let Condition { condvar, waiting } = &self.conditions[waiter as usize];
        match waiting.load(std::sync::atomic::Ordering::Relaxed) {
            0 => {}
            _ if all => condvar.notify_all(),
            _ => condvar.notify_one(),
        }
    }

    /// Wakes everybody.
    pub fn wake_all(&self, state: &mut State) {
        for waiter in [Waiter::Messages, Waiter::Room, Waiter::Change] {
            self.wake(waiter, true);
        }
        self.tell(state);
    }

    /// Makes the caller's descriptor readable, once until it has looked.
    pub fn tell(&self, state: &mut State) {
        if state.watched && !state.told {
            state.told = true;
            self.news.ring();
        }
    }

    /// Wakes the link's thread if it sleeps.
    pub fn ring(&self, state: &mut State) {
        if state.asleep {
            state.asleep = false;
            self.bell.ring();
        }
    }

    /// Wakes the link's thread if there is something for it to do.
    pub fn ring_if_due(&self, state: &mut State) {
        if state.asleep && state.is_due() {
            self.ring(state);
        }
    }

    /// Room was made, or the last answer came.
    pub fn tell_room(&self, state: &mut State) {
        let answered = state.is_answered();
        if answered {
            self.wake(Waiter::Change, true);
        }
        if state.has_much_room() || answered {
            self.wake(Waiter::Room, true);
            if std::mem::take(&mut state.wants_room) || answered {
                self.tell(state);
            }
        }
    }
}
