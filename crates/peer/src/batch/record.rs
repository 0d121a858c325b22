//! One record of a data group, without what the entry that names its batch says already.
//!
//! ```text
//! 0 body bytes u32   4 slot u16   6 zero u16   8 message id u64   16 appended at i64   24 body
//! ```

use crate::bounds::BATCH_BYTES_MAX;
use crate::wire::{Input, Pack, check_len, put_zeros};
use crate::{EncodeError, Fault};

/// Bytes in front of a record's body.
pub(crate) const RECORD_HEAD_BYTES: usize = 24;

/// A record as the journal has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The slot of the publisher or session.
    pub slot: u16,
    /// The id that the broker gave the message.
    pub message_id: u64,
    /// When its owner appended it, microseconds since the epoch.
    pub appended_at_us: i64,
    /// The bytes to keep.
    pub body: &'a [u8],
}

impl Record<'_> {
    /// What it takes of its batch's bytes.
    pub const fn encoded_bytes(&self) -> usize {
        RECORD_HEAD_BYTES + self.body.len()
    }
}

impl<'a> Pack<'a> for Record<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_len(self.body.len(), BATCH_BYTES_MAX as usize, "bytes of a record")?;
        out.extend_from_slice(&(self.body.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.slot.to_le_bytes());
        put_zeros::<2>(out);
        out.extend_from_slice(&self.message_id.to_le_bytes());
        out.extend_from_slice(&self.appended_at_us.to_le_bytes());
        out.extend_from_slice(self.body);
        Ok(())
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let here = *input;
        let body_bytes = input.u32("the length of a record")?;
        let slot = input.u16("a slot")?;
        input.zeros::<2>()?;
        let message_id = input.u64("the id of a message")?;
        let appended_at_us = input.i64("when a record was appended")?;
        let cut_short = here.fault(crate::FaultKind::CutShort, "a record").with(body_bytes.into());
        let body_bytes = usize::try_from(body_bytes).map_err(|_| cut_short)?;
        let body = input.bytes(body_bytes, "the body of a record").map_err(|_| cut_short)?;
        Ok(Record { slot, message_id, appended_at_us, body })
    }
}
