//! One direction of a mailbox: a ring of batches, and at the sender a short queue of what the ring has no room for.
//!
//! Nothing sent is lost and the sender never waits: what finds no room stays in `pending`, and [`Lane::has_credit`] turns
//! false. Who may be held back (a connection that publishes) then is; what cannot be (a will, an answer) is small and waits.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use super::bell::Bell;
use super::ring::{Consumer, Producer, ring};

/// The sending end, owned by one thread.
pub(crate) struct Lane<T> {
    producer: Producer<T>,
    pending: VecDeque<T>,
    target: Bell,
    /// Set by the sender when it found the ring full; the receiver then rings `Inlet::sender`.
    starved: Arc<AtomicBool>,
}

/// The receiving end, owned by the target thread.
pub(crate) struct Inlet<T> {
    consumer: Consumer<T>,
    sender: Bell,
    starved: Arc<AtomicBool>,
}

/// A lane of `capacity` batches from the owner of the bell `sender` to the owner of the bell `target`.
pub(crate) fn lane<T>(capacity: usize, sender: Bell, target: Bell) -> (Lane<T>, Inlet<T>) {
    let (producer, consumer) = ring(capacity);
    let starved = Arc::new(AtomicBool::new(false));
    (Lane { producer, pending: VecDeque::new(), target, starved: starved.clone() }, Inlet { consumer, sender, starved })
}

impl<T> Lane<T> {
    /// Queues `batch` behind everything sent before; [`Lane::flush`] moves it on.
    pub(crate) fn send(&mut self, batch: T) {
        self.pending.push_back(batch);
    }

    /// The batch queued last, while it can still be added to.
    pub(crate) fn open_batch(&mut self) -> Option<&mut T> {
        self.pending.back_mut()
    }

    /// Moves as much as there is room for into the ring and wakes the target if it sleeps.
    pub(crate) fn flush(&mut self) {
        let before = self.pending.len();
        if before == 0 {
            return;
        }
        self.push_pending();
        if !self.pending.is_empty() {
            // Announce the hunger, then look again: the receiver may have made room just before it could see the flag.
            self.starved.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            self.push_pending();
        }
        if self.pending.len() < before {
            self.target.ring();
        }
    }

    fn push_pending(&mut self) {
        while let Some(batch) = self.pending.pop_front() {
            if let Err(back) = self.producer.push(batch) {
                self.pending.push_front(back);
                return;
            }
        }
    }

    /// Batches that wait for room.
    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// True when one more batch may be begun: nothing but the open one waits here. When this is false, the ring was
    /// found full in a flush, so the receiver wakes us as soon as it has taken something.
    pub(crate) fn has_credit(&self) -> bool {
        self.pending.len() <= 1
    }
}

impl<T> Inlet<T> {
    /// Takes the oldest batch; wakes the sender if it waits for the room.
    pub(crate) fn take(&mut self) -> Option<T> {
        let batch = self.consumer.pop()?;
        fence(Ordering::SeqCst);
        if self.starved.load(Ordering::Relaxed) && self.starved.swap(false, Ordering::AcqRel) {
            self.sender.ring();
        }
        Some(batch)
    }

    /// True when nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.consumer.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Wake;
    use super::*;
    use std::thread::{self, Thread};

    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(&self) {
            self.0.unpark();
        }
    }

    /// Can two threads that sleep whenever they have nothing to do exchange everything over lanes of one batch?
    #[test]
    fn no_wake_up_is_lost_with_capacity_one() {
        const BATCHES: u64 = 50_000;
        let receiver = thread::spawn(|| {
            thread::park();
            let (bell, mut inlet): (Bell, Inlet<u64>) = HANDOVER.lock().unwrap().take().unwrap();
            let mut expected = 0;
            while expected < BATCHES {
                while let Some(value) = inlet.take() {
                    assert_eq!(value, expected);
                    expected += 1;
                }
                bell.prepare();
                if inlet.is_empty() && expected < BATCHES {
                    thread::park();
                }
                bell.awake();
            }
        });
        let sender_bell = Bell::new(Unpark(thread::current()));
        let receiver_bell = Bell::new(Unpark(receiver.thread().clone()));
        let (mut lane, inlet) = lane(1, sender_bell.clone(), receiver_bell.clone());
        *HANDOVER.lock().unwrap() = Some((receiver_bell, inlet));
        receiver.thread().unpark();
        for n in 0..BATCHES {
            lane.send(n);
            lane.flush();
            while lane.pending() > 0 {
                sender_bell.prepare();
                lane.flush();
                if lane.pending() > 0 {
                    thread::park();
                }
                sender_bell.awake();
                lane.flush();
            }
        }
        receiver.join().unwrap();
    }

    static HANDOVER: std::sync::Mutex<Option<(Bell, Inlet<u64>)>> = std::sync::Mutex::new(None);
}
