//! Questions from the handle to one shard, and their answers.
//!
//! A question is put on the shard's desk and its bell is rung; the shard looks at the desk in every turn. What takes long
//! it answers by and by, and may ask whether anybody still waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How often somebody who waits looks whether the shards have ended.
const LOOK: Duration = Duration::from_millis(100);

/// Where one shard finds its questions.
pub(crate) struct Desk<T> {
    is_asked: AtomicBool,
    asked: Mutex<Vec<T>>,
}

impl<T> Default for Desk<T> {
    fn default() -> Self {
        Desk { is_asked: AtomicBool::new(false), asked: Mutex::new(Vec::new()) }
    }
}

impl<T> Desk<T> {
    /// Adds a question; the shard is to be woken.
    pub(crate) fn put(&self, question: T) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(question);
        self.is_asked.store(true, Ordering::Release);
    }

    /// Whether there is a question.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Acquire)
    }

    /// The questions since the last call; costs one load when there are none.
    pub(crate) fn take(&self) -> Vec<T> {
        if !self.is_asked() {
            return Vec::new();
        }
        self.is_asked.store(false, Ordering::Release);
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where an answer goes.
pub(crate) struct Reply<T> {
    sender: Sender<T>,
    waits: Weak<()>,
}

/// An answer that is to come.
pub(crate) struct Awaited<T> {
    receiver: Receiver<T>,
    /// While it lives, somebody waits.
    _waits: Arc<()>,
}

/// Both ends of one answer.
pub(crate) fn reply<T>() -> (Reply<T>, Awaited<T>) {
    let (sender, receiver) = channel();
    let waits = Arc::new(());
    (Reply { sender, waits: Arc::downgrade(&waits) }, Awaited { receiver, _waits: waits })
}

impl<T> Reply<T> {
    /// Whether anybody waits for it.
    pub(crate) fn is_awaited(&self) -> bool {
        self.waits.strong_count() > 0
    }

    /// Gives it to whoever waits; nobody may, any more.
    pub(crate) fn send(self, answer: T) {
        let _ = self.sender.send(answer);
    }
}

impl<T> Awaited<T> {
    /// The answer, if it comes before `until` and before the node `is_over`.
    pub(crate) fn receive(&self, until: Instant, is_over: impl Fn() -> bool) -> Option<T> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.receiver.recv_timeout(left.min(LOOK)) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() && !is_over() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a question come once, and does its answer find who waits?
    #[test]
    fn a_question_is_answered_once() {
        let desk = Desk::default();
        assert!(!desk.is_asked() && desk.take().is_empty());
        let (reply, awaited) = super::reply();
        desk.put(reply);
        assert!(desk.is_asked());
        let mut taken = desk.take();
        assert!(taken.len() == 1 && !desk.is_asked() && desk.take().is_empty());
        taken.remove(0).send(7);
        assert_eq!(awaited.receive(Instant::now() + Duration::from_secs(10), || false), Some(7));
    }

    /// Does the shard see that nobody waits any more, and who waits that the shard or the node has ended?
    #[test]
    fn each_side_sees_that_the_other_has_gone() {
        let far = Instant::now() + Duration::from_secs(60);
        let (reply, awaited) = super::reply::<u8>();
        assert!(reply.is_awaited());
        assert_eq!(awaited.receive(Instant::now(), || false), None);
        assert_eq!(awaited.receive(far, || true), None);
        drop(awaited);
        assert!(!reply.is_awaited());
        let (reply, awaited) = super::reply::<u8>();
        drop(reply);
        assert_eq!(awaited.receive(far, || false), None);
    }
}
