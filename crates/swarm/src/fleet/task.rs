//! What a device is told to do, and when.

use lapwing_codec::QoS;
use std::cmp::Ordering;

/// Something a device does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Publish to the device's topic.
    Publish {
        /// What.
        payload: Box<[u8]>,
        /// With which quality.
        qos: QoS,
        /// Whether it is retained.
        retain: bool,
    },
    /// Connect, if it is not connected, and stay so.
    Join,
    /// Send what is due, wait for the answers, say goodbye.
    Leave,
    /// Break the connection without a word (the will goes out); what is due waits for the next `Join`.
    Drop,
}

/// An action, whose and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Index of the device in the configuration.
    pub device: u32,
    /// After the start, in microseconds. What is late goes at once.
    pub due_us: u64,
    /// What to do.
    pub action: Action,
}

impl Task {
    /// Payload bytes, for the bound of the queue.
    pub(super) fn bytes(&self) -> usize {
        self.action.bytes()
    }
}

impl Action {
    /// Payload bytes; 0 of what has none.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Publish { payload, .. } => payload.len(),
            _ => 0,
        }
    }
}

/// A task in a lane's queue: earliest first; of two at the same time, the one offered first.
#[derive(Debug)]
pub(super) struct Waiting {
    pub due_ns: u64,
    pub order: u64,
    pub device: u32,
    pub action: Action,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed: `BinaryHeap` gives the greatest first.
        (other.due_ns, other.order).cmp(&(self.due_ns, self.order))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}
