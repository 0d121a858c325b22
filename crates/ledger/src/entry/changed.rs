//! Something of a session is different now.
//!
//! ```text
//! session: number      flags u8: bit 0 expiry, bit 1 identity, bit 2 the will, bit 3 there is one, bit 4 presence, bit 5 connected
//! [expiry (seconds): number]      [identity: bytes]      [will]      [at (ms): number]
//! ```

use super::{Body, Will};
use crate::bounds::IDENTITY_BYTES_MAX;
use crate::wire::{Input, Pack, put_bytes, put_number};
use crate::{Fault, KeeperId};

const EXPIRY_BIT: u8 = 1;
const IDENTITY_BIT: u8 = 1 << 1;
const WILL_BIT: u8 = 1 << 2;
const SOME_WILL_BIT: u8 = 1 << 3;
const PRESENCE_BIT: u8 = 1 << 4;
const CONNECTED_BIT: u8 = 1 << 5;
const ALL_BITS: u8 = (1 << 6) - 1;

/// What is `None` stays as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed<'a> {
    /// The session.
    pub session: KeeperId,
    /// How long it outlives its connection; `u32::MAX` = for ever.
    pub expiry_s: Option<u32>,
    /// Whose it is; at most [`IDENTITY_BYTES_MAX`](crate::IDENTITY_BYTES_MAX).
    pub identity: Option<&'a [u8]>,
    /// `Some(None)`: it has no will any more.
    pub will: Option<Option<Will<'a>>>,
    /// Its client has come or gone.
    pub presence: Option<Presence>,
}

/// Whether a client is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    /// It is.
    pub connected: bool,
    /// Since when, milliseconds, on the clock of the node.
    pub at_ms: u64,
}

impl Changed<'_> {
    /// Nothing of `session` has changed: to be filled in.
    pub const fn of(session: KeeperId) -> Self {
        Changed { session, expiry_s: None, identity: None, will: None, presence: None }
    }

    fn flags(&self) -> u8 {
        let bit = |condition, bit| if condition { bit } else { 0 };
        bit(self.expiry_s.is_some(), EXPIRY_BIT)
            | bit(self.identity.is_some(), IDENTITY_BIT)
            | bit(self.will.is_some(), WILL_BIT)
            | bit(self.will.flatten().is_some(), SOME_WILL_BIT)
            | bit(self.presence.is_some(), PRESENCE_BIT)
            | bit(self.presence.is_some_and(|presence| presence.connected), CONNECTED_BIT)
    }
}

impl<'a> Body<'a> for Changed<'a> {
    const KIND: u8 = 2;
    const WHAT: &'static str = "an entry `Changed`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.session.put(out)?;
        out.push(self.flags());
        if let Some(expiry_s) = self.expiry_s {
            put_number(u64::from(expiry_s), out);
        }
        if let Some(identity) = self.identity {
            put_bytes(identity, IDENTITY_BYTES_MAX, "an identity", out)?;
        }
        if let Some(will) = self.will.flatten() {
            will.put(out)?;
        }
        if let Some(presence) = self.presence {
            put_number(presence.at_ms, out);
        }
        Ok(())
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let mut changed = Changed::of(KeeperId::take(input)?);
        let here = *input;
        let flags = input.flags(ALL_BITS)?;
        let has = |bit| flags & bit != 0;
        if (has(SOME_WILL_BIT) && !has(WILL_BIT)) || (has(CONNECTED_BIT) && !has(PRESENCE_BIT)) {
            return Err(here.fault("flags that no encoder sets"));
        }
        if has(EXPIRY_BIT) {
            changed.expiry_s = Some(input.number_u32("a session's expiry is cut off or too large")?);
        }
        if has(IDENTITY_BIT) {
            changed.identity = Some(input.bytes(IDENTITY_BYTES_MAX, "an identity is cut off or too long")?);
        }
        if has(WILL_BIT) {
            changed.will = Some(if has(SOME_WILL_BIT) { Some(Will::take(input)?) } else { None });
        }
        if has(PRESENCE_BIT) {
            let at_ms = input.number("the time of a connection is cut off")?;
            changed.presence = Some(Presence { connected: has(CONNECTED_BIT), at_ms });
        }
        Ok(changed)
    }
}
