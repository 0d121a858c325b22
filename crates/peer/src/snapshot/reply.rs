//! What a follower says of a snapshot.
//!
//! ```text
//! 0 snapshot u64   8 group u8   9 verdict u8   10 reason u8   11 zero u8   12 chunk u32
//! ```

use super::SnapshotRefusal;
use crate::wire::{Input, Pack, put_zeros};
use crate::{EncodeError, Fault, GroupNumber};

/// The answer to a [`SnapshotBegin`](crate::SnapshotBegin), and later to a [`SnapshotEnd`](crate::SnapshotEnd).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotReply {
    /// Whose snapshot.
    pub group: GroupNumber,
    /// Which one.
    pub snapshot: u64,
    /// What becomes of it.
    pub verdict: Verdict,
}

/// What becomes of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is wanted, from this chunk on: 0 where nothing of it is there.
    From(u32),
    /// It is on disk, and counts.
    Accepted,
    /// It is not taken.
    Refused(SnapshotRefusal),
}

impl Pack<'_> for SnapshotReply {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let (verdict, reason, chunk) = match self.verdict {
            Verdict::From(chunk) => (1, 0, chunk),
            Verdict::Accepted => (2, 0, 0),
            Verdict::Refused(reason) => (3, reason as u8, 0),
        };
        out.extend_from_slice(&self.snapshot.to_le_bytes());
        self.group.put(out)?;
        out.extend_from_slice(&[verdict, reason]);
        put_zeros::<1>(out);
        out.extend_from_slice(&u32::to_le_bytes(chunk));
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let snapshot = input.u64("the number of a snapshot")?;
        let group = GroupNumber::take(input)?;
        Ok(SnapshotReply { group, snapshot, verdict: take_verdict(input)? })
    }
}

fn take_verdict(input: &mut Input<'_>) -> Result<Verdict, Fault> {
    let here = *input;
    let (verdict, reason) = (input.u8("a verdict")?, input.u8("the reason of a verdict")?);
    input.zeros::<1>()?;
    let chunk = input.u32("the number of a chunk")?;
    match (verdict, reason, chunk) {
        (1, 0, chunk) => Ok(Verdict::From(chunk)),
        (2, 0, 0) => Ok(Verdict::Accepted),
        (3, reason, 0) => {
            let unknown = here.malformed("a reason that there is not").with(reason.into());
            SnapshotRefusal::from_u8(reason).map(Verdict::Refused).ok_or(unknown)
        }
        _ => Err(here.malformed("a verdict that there is not").with(verdict.into())),
    }
}
