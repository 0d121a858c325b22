//! What a session writes to.

use crate::Counters;

/// The outside of one session during one call.
#[derive(Debug)]
pub struct Io<'a> {
    /// The output buffer of the session's connection; packets are appended. Not looked at while there is no connection.
    pub out: &'a mut Vec<u8>,
    /// The shard's counters.
    pub counters: &'a mut Counters,
}

impl<'a> Io<'a> {
    /// Borrows both for one call.
    pub const fn new(out: &'a mut Vec<u8>, counters: &'a mut Counters) -> Self {
        Io { out, counters }
    }
}
