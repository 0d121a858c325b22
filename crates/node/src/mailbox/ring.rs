//! A bounded queue between exactly two threads: order for free, no lock, no allocation.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value alone on its cache lines, so that producer and consumer do not slow each other.
#[repr(align(128))]
struct Padded<T>(T);

/// Slots and two cursors that only grow; the slot of cursor `c` is `c % capacity`.
///
/// Invariant: `tail - head <= capacity`; slots in `head..tail` are initialised and belong to the consumer, all others are
/// vacant and belong to the producer. Only the producer stores `tail`, only the consumer stores `head`.
struct Ring<T> {
    head: Padded<AtomicUsize>,
    tail: Padded<AtomicUsize>,
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

// SAFETY: a slot is touched by one thread at a time (see the invariant); values move between threads, hence `T: Send`.
unsafe impl<T: Send> Sync for Ring<T> {}
// SAFETY: as above; the ring owns its values.
unsafe impl<T: Send> Send for Ring<T> {}

/// The sending end.
pub(crate) struct Producer<T> {
    ring: Arc<Ring<T>>,
}

/// The receiving end.
pub(crate) struct Consumer<T> {
    ring: Arc<Ring<T>>,
}

/// A queue of `capacity` values (at least one).
pub(crate) fn ring<T>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    let slots = (0..capacity.max(1)).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
    let ring = Arc::new(Ring { head: Padded(AtomicUsize::new(0)), tail: Padded(AtomicUsize::new(0)), slots });
    (Producer { ring: ring.clone() }, Consumer { ring })
}

impl<T> Producer<T> {
    /// Appends `value`; gives it back when the queue is full.
    pub(crate) fn push(&mut self, value: T) -> Result<(), T> {
        let ring = &*self.ring;
        let tail = ring.tail.0.load(Ordering::Relaxed);
        if tail.wrapping_sub(ring.head.0.load(Ordering::Acquire)) == ring.slots.len() {
            return Err(value);
        }
        // SAFETY: the queue is not full, so the slot at `tail` is vacant and ours until `tail` moves past it.
        unsafe { (*ring.slots[tail % ring.slots.len()].get()).write(value) };
        ring.tail.0.store(tail.wrapping_add(1), Ordering::Release);
        Ok(())
    }
}

impl<T> Consumer<T> {
    /// Takes the oldest value.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let ring = &*self.ring;
        let head = ring.head.0.load(Ordering::Relaxed);
        if head == ring.tail.0.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: `head < tail`, so the slot is initialised and ours; it is vacant once `head` moves past it.
        let value = unsafe { (*ring.slots[head % ring.slots.len()].get()).assume_init_read() };
        ring.head.0.store(head.wrapping_add(1), Ordering::Release);
        Some(value)
    }

    /// True when nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.ring.head.0.load(Ordering::Relaxed) == self.ring.tail.0.load(Ordering::Acquire)
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        let (mut head, tail) = (*self.head.0.get_mut(), *self.tail.0.get_mut());
        let length = self.slots.len();
        while head != tail {
            // SAFETY: both ends are gone (we have `&mut`), and the slots in `head..tail` are initialised.
            unsafe { self.slots[head % length].get_mut().assume_init_drop() };
            head = head.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do thousands of values cross in order, with the smallest queue there is and an odd one? Each value is a change of
    /// threads: beside others that compute, more of them would take minutes.
    #[test]
    fn values_cross_in_order() {
        // Each that finds the ring full, or empty, waits for its turn of the core: on a busy machine for milliseconds.
        for (capacity, values) in [(1, 1_000), (7, 7_000)] {
            let (mut producer, mut consumer) = ring(capacity);
            let sender = std::thread::spawn(move || {
                for n in 0..values {
                    let mut value = n;
                    while let Err(back) = producer.push(value) {
                        value = back;
                        std::thread::yield_now();
                    }
                }
            });
            let mut expected = 0_u64;
            while expected < values {
                match consumer.pop() {
                    Some(value) => {
                        assert_eq!(value, expected);
                        expected += 1;
                    }
                    None => std::thread::yield_now(),
                }
            }
            sender.join().unwrap();
            assert!(consumer.is_empty());
        }
    }

    /// Is a full queue reported, and are values left behind dropped exactly once?
    #[test]
    fn values_left_behind_are_dropped() {
        let token = Arc::new(());
        let (mut producer, mut consumer) = ring(2);
        producer.push(token.clone()).unwrap();
        producer.push(token.clone()).unwrap();
        assert!(producer.push(token.clone()).is_err());
        drop(consumer.pop());
        assert_eq!(Arc::strong_count(&token), 2);
        drop((producer, consumer));
        assert_eq!(Arc::strong_count(&token), 1);
    }
}
