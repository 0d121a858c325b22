//! What is at hand while something is done for a client.

use crate::{EncodeError, Message};

use super::Settings;

/// Terms and time, and where what goes to the client gathers.
#[derive(Debug)]
pub struct Context<'a> {
    /// Timers and limits.
    pub settings: &'a Settings,
    /// Milliseconds of one monotonic clock of the process.
    pub now_ms: u64,
    /// Messages for the client, appended one after the other; each is a datagram.
    pub out: &'a mut Vec<u8>,
}

impl Context<'_> {
    /// Appends one message.
    /// # Errors
    /// It does not fit a datagram, or cannot be said; nothing was appended.
    pub(super) fn send(&mut self, message: Message<'_>) -> Result<(), EncodeError> {
        message.encode(&self.settings.limits, self.out).map(drop)
    }
}
