//! The will of a session, inside the entry that brought it.
//!
//! ```text
//! flags u8: bit 0 a Message Expiry Interval is there      delay, [message expiry]: numbers, seconds      frame: bytes
//! ```

use crate::Fault;
use crate::bounds::FRAME_BYTES_MAX;
use crate::wire::{Input, put_bytes, put_number};

const EXPIRY_BIT: u8 = 1;

/// What is published when the client goes without saying goodbye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Will<'a> {
    /// A PUBLISH as MQTT 5.0 writes it; opaque here.
    pub frame: &'a [u8],
    /// From the end of the connection.
    pub delay_s: u32,
    /// From the moment when it is published.
    pub message_expiry_s: Option<u32>,
}

impl<'a> Will<'a> {
    pub(super) fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.push(if self.message_expiry_s.is_some() { EXPIRY_BIT } else { 0 });
        put_number(u64::from(self.delay_s), out);
        if let Some(expiry_s) = self.message_expiry_s {
            put_number(u64::from(expiry_s), out);
        }
        put_bytes(self.frame, FRAME_BYTES_MAX, "a will", out)
    }

    pub(super) fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let flags = input.flags(EXPIRY_BIT)?;
        let delay_s = input.number_u32("the delay of a will is cut off or too large")?;
        let message_expiry_s = match flags & EXPIRY_BIT {
            0 => None,
            _ => Some(input.number_u32("the expiry of a will is cut off or too large")?),
        };
        let frame = input.bytes(FRAME_BYTES_MAX, "a will is cut off or too long")?;
        Ok(Will { frame, delay_s, message_expiry_s })
    }
}
