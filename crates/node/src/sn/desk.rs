//! What lies at hand while something is done for one client.

use lapwing_sn::EncodeError;

use super::counters::{Dropped, SnCounters};
use super::terms::Terms;

/// Terms and time, and where answers gather.
pub(super) struct Desk<'a> {
    pub(super) terms: &'a Terms,
    pub(super) counters: &'a SnCounters,
    pub(super) now_ms: u64,
    /// Messages for the client, one after the other.
    pub(super) out: &'a mut Vec<u8>,
}

impl Desk<'_> {
    /// An answer that does not fit a datagram is counted: none does where the limit is below the smallest that there may be.
    pub(super) fn check(&self, said: Result<(), EncodeError>) {
        if said.is_err() {
            self.counters.dropped(Dropped::TooLargeOut);
        }
    }
}
