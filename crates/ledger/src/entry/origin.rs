//! Where a QoS 2 message came from.
//!
//! ```text
//! data group, session, packet id, use number, use number less `settled`: numbers
//! ```

use crate::wire::{Input, put_number};
use crate::{Fault, KeeperId};

/// One QoS 2 message of one durable session: the same in every data group that it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The data group of the publisher's session.
    pub data_group: u16,
    /// The publisher's session.
    pub session: KeeperId,
    /// Its packet id.
    pub packet_id: u16,
    /// The session's own count of QoS 2 messages: 1, 2, ...
    pub use_number: u64,
    /// The session's own data group knows of all messages before this one: they never come again. At most `use_number`.
    pub settled: u64,
}

impl Origin {
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_number(u64::from(self.data_group), out);
        put_number(self.session.0, out);
        put_number(u64::from(self.packet_id), out);
        put_number(self.use_number, out);
        put_number(self.use_number.saturating_sub(self.settled), out);
    }

    pub(crate) fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let what = "the origin of a message is cut off or impossible";
        let (data_group, session) = (input.number_u16(what)?, KeeperId(input.number(what)?));
        let (packet_id, use_number) = (input.number_u16(what)?, input.number(what)?);
        let here = *input;
        let settled = use_number.checked_sub(input.number(what)?).ok_or(here.fault(what))?;
        Ok(Origin { data_group, session, packet_id, use_number, settled })
    }
}
