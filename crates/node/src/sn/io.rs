//! What a client is handled with, and where its answers gather.

use lapwing_sn::EncodeError;
use lapwing_sn::peer::Context;

use super::address::Address;
use super::counters::{Dropped, SnCounters};
use super::terms::Terms;

/// The outside of one client during one call, as `lapwing_session::Io` is that of a session.
pub(super) struct Io<'a> {
    pub(super) terms: &'a Terms,
    pub(super) counters: &'a SnCounters,
    pub(super) now_ms: u64,
    /// Messages for the client, one after the other.
    pub(super) out: &'a mut Vec<u8>,
}

impl Io<'_> {
    /// The same for what decides about a client's messages; `address`: the client's.
    pub(super) fn of(&mut self, address: &Address<'_>) -> Context<'_> {
        Context { settings: self.terms.settings(address), now_ms: self.now_ms, out: self.out }
    }

    /// An answer that does not fit a datagram is counted: none does where the limit is below the smallest that there may be.
    pub(super) fn check(&self, said: Result<(), EncodeError>) {
        if said.is_err() {
            self.counters.dropped(Dropped::TooLargeOut);
        }
    }
}
