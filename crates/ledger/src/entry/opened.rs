//! A durable session begins.
//!
//! ```text
//! flags u8: bit 0 a will is there      client id: text      identity: bytes      expiry (seconds), opened at (ms): numbers      [will]
//! ```

use super::{Body, Will};
use crate::Fault;
use crate::bounds::IDENTITY_BYTES_MAX;
use crate::wire::{Input, put_bytes, put_number, put_text};

const WILL_BIT: u8 = 1;

/// The index of this entry is the id of the session. A session of the same client id that is there ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened<'a> {
    /// The client identifier.
    pub client_id: &'a str,
    /// Who opened it, as the node writes it; at most [`IDENTITY_BYTES_MAX`](crate::IDENTITY_BYTES_MAX).
    pub identity: &'a [u8],
    /// How long it outlives its connection; `u32::MAX` = for ever.
    pub expiry_s: u32,
    /// Milliseconds, on the clock of the node.
    pub opened_at_ms: u64,
    /// The will of the connection that opened it.
    pub will: Option<Will<'a>>,
}

impl<'a> Body<'a> for Opened<'a> {
    const KIND: u8 = 1;
    const WHAT: &'static str = "an entry `Opened`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.push(if self.will.is_some() { WILL_BIT } else { 0 });
        put_text(self.client_id, "a client id", out)?;
        put_bytes(self.identity, IDENTITY_BYTES_MAX, "an identity", out)?;
        put_number(u64::from(self.expiry_s), out);
        put_number(self.opened_at_ms, out);
        self.will.map_or(Ok(()), |will| will.put(out))
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let flags = input.flags(WILL_BIT)?;
        let client_id = input.text("a client id is cut off, too long or not UTF-8")?;
        let identity = input.bytes(IDENTITY_BYTES_MAX, "an identity is cut off or too long")?;
        let expiry_s = input.number_u32("a session's expiry is cut off or too large")?;
        let opened_at_ms = input.number("a session's opening is cut off")?;
        let will = if flags & WILL_BIT != 0 { Some(Will::take(input)?) } else { None };
        Ok(Opened { client_id, identity, expiry_s, opened_at_ms, will })
    }
}
