//! Where a QoS 2 message came from.
//!
//! ```text
//! data group, session, use number: numbers
//! ```

use crate::wire::{Input, put_number};
use crate::{Fault, KeeperId};

/// One QoS 2 message of one durable session: the same in every data group that it touches, and when it is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The data group of the publisher's session.
    pub group: u16,
    /// The publisher's session.
    pub session: KeeperId,
    /// The session's own count of QoS 2 messages: 1, 2, ...
    pub use_number: u64,
}

impl Origin {
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_number(u64::from(self.group), out);
        put_number(self.session.0, out);
        put_number(self.use_number, out);
    }

    pub(crate) fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let what = "the origin of a message is cut off or too large";
        Ok(Origin {
            group: input.number_u16(what)?,
            session: KeeperId(input.number(what)?),
            use_number: input.number(what)?,
        })
    }
}
