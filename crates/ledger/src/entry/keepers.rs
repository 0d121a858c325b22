//! The sessions that keep a message, packed as they are found.

use crate::wire::{List, Pack};
use crate::{DeliveryOptions, Fault, Keeper, KeeperId};

/// Filled while a message is routed, then given to [`Published`](crate::Published); used again for the next one.
#[derive(Debug, Default)]
pub struct KeepersBuf {
    bytes: Vec<u8>,
    count: usize,
}

impl KeepersBuf {
    /// An empty one.
    pub const fn new() -> Self {
        KeepersBuf { bytes: Vec::new(), count: 0 }
    }

    /// Adds a session. Each may be there once.
    /// # Errors
    /// `TooLong`: more subscription identifiers than can be kept; it is not added.
    #[inline]
    pub fn push(&mut self, id: KeeperId, options: DeliveryOptions<'_>) -> Result<(), Fault> {
        let start = self.bytes.len();
        let result = Keeper { id, options }.put(&mut self.bytes);
        match result {
            Ok(()) => self.count += 1,
            Err(_) => self.bytes.truncate(start),
        }
        result
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets all; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }

    /// For [`Published::keepers`](crate::Published::keepers).
    pub fn as_list(&self) -> List<'_, Keeper<'_>> {
        List::from_packed(self.count, &self.bytes)
    }
}
