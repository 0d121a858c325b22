//! The bound of a fleet's queue: who offers waits here until there is room.
//!
//! It holds what is accepted and not due yet. What is due leaves it, whatever the broker does then: a slow broker must not
//! hold the schedule up (`open` bounds that).

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[derive(Debug, Default)]
struct Held {
    messages: usize,
    bytes: usize,
    /// Tasks that left and are not over: no bound here, but `finish` waits for them.
    open: usize,
    closed: bool,
}

/// Counts tasks accepted and not taken up. One lock per offer and per turn of a lane, not per message.
#[derive(Debug)]
pub(super) struct Gate {
    held: Mutex<Held>,
    room: Condvar,
    messages_max: usize,
    bytes_max: usize,
}

/// What a lane has done in a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// Tasks whose time came.
    pub taken_up: usize,
    /// Their payloads.
    pub taken_up_bytes: usize,
    /// Tasks that are over: answered, refused, or done at once.
    pub over: usize,
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

    /// Tasks were taken up, which makes room, and tasks are over.
    pub fn leave(&self, turn: &Turn) {
        let mut held = self.lock();
        held.messages -= turn.taken_up.min(held.messages);
        held.bytes -= turn.taken_up_bytes.min(held.bytes);
        held.open = (held.open + turn.taken_up).saturating_sub(turn.over);
        drop(held);
        self.room.notify_all();
    }

    /// Waits until every task is over, or `deadline`.
    pub fn wait_until_all_over(&self, deadline: Instant) {
        let mut held = self.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if held.messages + held.open == 0 || held.closed || left.is_zero() {
                return;
            }
            held = self.room.wait_timeout(held, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Tasks accepted and not over.
    pub fn unfinished(&self) -> usize {
        let held = self.lock();
        held.messages + held.open
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

    fn taken_up(messages: usize, bytes: usize) -> Turn {
        Turn { taken_up: messages, taken_up_bytes: bytes, over: 0 }
    }

    /// Does what was taken up make room at once, and is it unfinished until it is over?
    #[test]
    fn what_is_taken_up_takes_no_room() {
        let gate = Gate::new(1, 100);
        gate.enter(1, 100);
        gate.leave(&taken_up(1, 100));
        assert!(matches!(gate.wait_for_room(100, Instant::now()), Room::For { messages: 1, bytes: 100, .. }));
        assert_eq!(gate.unfinished(), 1);
        gate.leave(&Turn { over: 1, ..Turn::default() });
        assert_eq!(gate.unfinished(), 0);
    }

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
        gate.leave(&taken_up(1, 90));
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
            gate.leave(&taken_up(1, 1));
            assert!(matches!(waits.join(), Ok(Room::For { .. })));
        });
    }
}
