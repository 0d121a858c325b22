//! The bound of a fleet's queue: who offers waits here until there is room.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[derive(Debug, Default)]
struct Held {
    messages: usize,
    bytes: usize,
    closed: bool,
}

/// Counts tasks accepted and not done. One lock per offer and per turn of a lane, not per message.
#[derive(Debug)]
pub(super) struct Gate {
    held: Mutex<Held>,
    room: Condvar,
    messages_max: usize,
    bytes_max: usize,
}

/// What may be accepted now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// So many tasks and bytes. An empty queue takes one task of any size.
    For { messages: usize, bytes: usize, empty: bool },
    /// None came in time.
    TimedOut,
    /// The fleet has ended.
    Closed,
}

impl Gate {
    pub fn new(messages_max: usize, bytes_max: usize) -> Self {
        Self { held: Mutex::default(), room: Condvar::new(), messages_max, bytes_max }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        // Plain numbers: a panic elsewhere leaves them as good as before.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a task of `bytes` fits, or `deadline`.
    pub fn wait_for_room(&self, bytes: usize, deadline: Instant) -> Room {
        let mut held = self.lock();
        loop {
            let room = Room::For {
                messages: self.messages_max.saturating_sub(held.messages),
                bytes: self.bytes_max.saturating_sub(held.bytes),
                empty: held.messages == 0,
            };
            let left = deadline.saturating_duration_since(Instant::now());
            match room {
                _ if held.closed => return Room::Closed,
                Room::For { empty: true, .. } => return room,
                Room::For { messages: 1.., bytes: free, .. } if free >= bytes => return room,
                _ if left.is_zero() => return Room::TimedOut,
                _ => held = self.room.wait_timeout(held, left).unwrap_or_else(PoisonError::into_inner).0,
            }
        }
    }

    pub fn enter(&self, messages: usize, bytes: usize) {
        let mut held = self.lock();
        held.messages += messages;
        held.bytes += bytes;
    }

    pub fn leave(&self, messages: usize, bytes: usize) {
        let mut held = self.lock();
        held.messages -= messages.min(held.messages);
        held.bytes -= bytes.min(held.bytes);
        drop(held);
        self.room.notify_all();
    }

    /// Waits until no more than `messages` are held, or `deadline`; gives how many are.
    pub fn wait_until_at_most(&self, messages: usize, deadline: Instant) -> usize {
        let mut held = self.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if held.messages <= messages || held.closed || left.is_zero() {
                return held.messages;
            }
            held = self.room.wait_timeout(held, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub fn held(&self) -> usize {
        self.lock().messages
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.room.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Is what is full refused, what left makes room, and an end an end?
    #[test]
    fn bounds() {
        let gate = Gate::new(2, 100);
        let now = Instant::now;
        assert!(
            matches!(gate.wait_for_room(1000, now()), Room::For { empty: true, .. }),
            "any size into an empty queue"
        );
        gate.enter(1, 90);
        assert_eq!(gate.wait_for_room(11, now()), Room::TimedOut);
        assert_eq!(gate.wait_for_room(10, now()), Room::For { messages: 1, bytes: 10, empty: false });
        gate.enter(1, 0);
        assert_eq!(gate.wait_for_room(0, now()), Room::TimedOut);
        gate.leave(1, 90);
        assert!(matches!(gate.wait_for_room(50, now()), Room::For { messages: 1, bytes: 100, .. }));
        gate.close();
        assert_eq!(gate.wait_for_room(0, now() + Duration::from_secs(60)), Room::Closed);
    }

    /// Does somebody who waits get the room another gives up?
    #[test]
    fn wakes_who_waits() {
        let gate = Gate::new(1, 1);
        gate.enter(1, 1);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| gate.wait_for_room(1, Instant::now() + Duration::from_secs(60)));
            gate.leave(1, 1);
            assert!(matches!(waits.join(), Ok(Room::For { .. })));
        });
    }
}
