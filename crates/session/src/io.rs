//! What a session writes to.

use crate::Counters;

/// The outside of one session during one call.
#[derive(Debug)]
pub struct Io<'a> {
    /// The output buffer of the session's connection; packets are appended. Not looked at while there is no connection.
    pub out: &'a mut Vec<u8>,
    /// The shard's counters.
    pub counters: &'a mut Counters,
    /// Microseconds of a monotonic clock, when what is handled was read; only noted for bound messages. 0: not known.
    pub now_us: u64,
    /// Bytes of messages that a kept session may have in memory while they wait for a client that is there, and four times as much
    /// unacknowledged: what is more stays in the log, and so does all that comes for a client that is away. See
    /// [`crate::Session::wants_page`]. `None`: everything is in memory.
    pub at_hand_bytes_max: Option<u64>,
}

impl<'a> Io<'a> {
    /// Borrows both for one call, at no known time.
    pub const fn new(out: &'a mut Vec<u8>, counters: &'a mut Counters) -> Self {
        Io { out, counters, now_us: 0, at_hand_bytes_max: None }
    }

    /// The same at `now_us`.
    pub const fn at(out: &'a mut Vec<u8>, counters: &'a mut Counters, now_us: u64) -> Self {
        Io { out, counters, now_us, at_hand_bytes_max: None }
    }
}
