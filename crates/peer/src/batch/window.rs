//! How much of batches is under way on a connection.

use crate::{Fault, FaultKind};

/// What a batch costs beside its bytes: the memory that names it on the other side. Small ones are bounded by it.
const BATCH_COST_BYTES: u64 = 64;

/// The books of one direction; both sides keep the same. The sender asks [`has_room`](Self::has_room) before it begins a batch
/// and hears from each Raft frame what is done; the receiver holds the sender to that.
///
/// A batch that is larger than the window is begun when nothing else is under way: no size of it keeps a message back for
/// ever. What a batch costs is under way from its first part until it is written on the other side, or not wanted there:
/// so a disk that lags holds back the leader, and not memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    bytes_max: u64,
    begun: u64,
    done: u64,
}

impl Window {
    /// A window of a new connection; `bytes_max` is what the receiver's hello says.
    pub const fn new(bytes_max: u64) -> Self {
        Window { bytes_max, begun: 0, done: 0 }
    }

    /// What is under way, in bytes.
    pub const fn under_way_bytes(&self) -> u64 {
        self.begun - self.done
    }

    /// Whether a batch of `bytes` may begin.
    pub const fn has_room(&self, bytes: u32) -> bool {
        let under_way = self.under_way_bytes();
        under_way == 0 || under_way.saturating_add(cost(bytes)) <= self.bytes_max
    }

    /// A batch of `bytes` begins; the caller has asked whether it may.
    pub const fn begin(&mut self, bytes: u32) {
        self.begun += cost(bytes);
    }

    /// At the receiver: a batch of `bytes` is written, or not wanted.
    pub const fn finish(&mut self, bytes: u32) {
        let done = self.done + cost(bytes);
        assert!(done <= self.begun, "what is finished was begun");
        self.done = done;
    }

    /// What is done with since the connection began, in bytes: [`Raft::done_bytes`](crate::Raft::done_bytes).
    pub const fn done(&self) -> u64 {
        self.done
    }

    /// At the sender: the receiver has said that `done` bytes are done with.
    /// # Errors
    /// `Window`: more than was begun, or less than before.
    pub fn hear(&mut self, done: u64) -> Result<(), Fault> {
        if done < self.done || done > self.begun {
            return Err(Fault::new(FaultKind::Window, "more is done than was sent, or less than before", 0).with(done));
        }
        self.done = done;
        Ok(())
    }
}

const fn cost(bytes: u32) -> u64 {
    bytes as u64 + BATCH_COST_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_what_is_not_under_way() {
        let mut window = Window::new(1000);
        assert!(window.has_room(u32::MAX), "alone any batch has room");
        window.begin(400);
        assert!(window.has_room(472) && !window.has_room(473), "464 and 536 are 1,000");
        window.begin(472);
        assert!(!window.has_room(24) && window.under_way_bytes() == 1000);
        window.finish(400);
        assert_eq!((window.done(), window.under_way_bytes()), (464, 536));
        assert!(window.has_room(400));
    }

    #[test]
    fn who_says_too_much_or_too_little_is_at_fault() {
        let mut window = Window::new(1000);
        window.begin(100);
        let kind = |heard: Result<(), Fault>| heard.map_err(|fault| fault.kind);
        assert_eq!(kind(window.hear(165)), Err(FaultKind::Window));
        assert_eq!(kind(window.hear(164)), Ok(()));
        assert_eq!(kind(window.hear(163)), Err(FaultKind::Window));
        assert_eq!((kind(window.hear(164)), window.under_way_bytes()), (Ok(()), 0));
    }
}
