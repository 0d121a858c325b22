//! What a node says of itself from time to time: its room on disk, and what its clocks show.
//!
//! ```text
//!  0 wall clock ms u64   8 free bytes u64, all bits: unknown   16 room u8   17 zero [u8; 7]
//! 24 said at us u64     32 answers us u64, 0: nothing          40 held us u64
//! ```
//!
//! Whoever hears an answer to what it said itself knows the round trip: its clock now, less what it had said, less how long
//! the other one held that. Only those say it whose hellos agree on [`Told::SINCE_VERSION`].

use crate::wire::{Input, Pack, check_number, put_zeros};
use crate::{EncodeError, Fault};

const UNKNOWN: u64 = u64::MAX;

/// A node's word on itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its wall clock, in milliseconds since the epoch.
    pub wall_ms: u64,
    /// Bytes that are free where its data folder lies; `None`: it cannot tell.
    pub free_bytes: Option<u64>,
    /// What that comes to for its log.
    pub room: DiskRoom,
    /// Its monotonic clock, in microseconds, from 1 on.
    pub said_at_us: u64,
    /// The last of these that it has heard from whom it tells.
    pub answers: Option<Answered>,
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// [`Told::said_at_us`] of that one.
    pub said_at_us: u64,
    /// For how long it was held since it came.
    pub held_us: u64,
}

/// Whether a log can go on.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiskRoom {
    /// It can.
    #[default]
    Enough = 1,
    /// It can, and takes in nothing more but what frees space in the end.
    Low = 2,
    /// Nothing can be written.
    Full = 3,
}

impl Told {
    /// The first version of the protocol that has this frame.
    pub const SINCE_VERSION: u16 = 2;
}

impl DiskRoom {
    /// Each, in the order of their values.
    pub const ALL: [DiskRoom; 3] = [DiskRoom::Enough, DiskRoom::Low, DiskRoom::Full];

    /// A short name, for people and programs.
    pub const fn name(self) -> &'static str {
        match self {
            DiskRoom::Enough => "ok",
            DiskRoom::Low => "low",
            DiskRoom::Full => "full",
        }
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let here = *input;
        let value = input.u8("the room on a disk")?;
        let found = Self::ALL.into_iter().find(|room| *room as u8 == value);
        found.ok_or(here.malformed("a room that there is not").with(value.into()))
    }
}

impl Pack<'_> for Told {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let answered = self.answers.unwrap_or(Answered { said_at_us: 0, held_us: 0 });
        check_number(&[self.wall_ms, self.free_bytes.unwrap_or(0), self.said_at_us])?;
        check_number(&[answered.said_at_us, answered.held_us])?;
        if self.said_at_us == 0 || self.answers.is_some_and(|answers| answers.said_at_us == 0) {
            return Err(EncodeError::Impossible("a clock that begins with 0"));
        }
        out.extend_from_slice(&self.wall_ms.to_le_bytes());
        out.extend_from_slice(&self.free_bytes.unwrap_or(UNKNOWN).to_le_bytes());
        out.push(self.room as u8);
        put_zeros::<7>(out);
        for number in [self.said_at_us, answered.said_at_us, answered.held_us] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let wall_ms = input.number("a wall clock")?;
        let free_bytes = take_free_bytes(input)?;
        let room = DiskRoom::take(input)?;
        input.zeros::<7>()?;
        let here = *input;
        let said_at_us = input.number("a clock")?;
        if said_at_us == 0 {
            return Err(here.malformed("a clock that begins with 0"));
        }
        Ok(Told { wall_ms, free_bytes, room, said_at_us, answers: take_answers(input)? })
    }
}

fn take_free_bytes(input: &mut Input<'_>) -> Result<Option<u64>, Fault> {
    let mut ahead = *input;
    if ahead.u64("free bytes")? == UNKNOWN {
        *input = ahead;
        return Ok(None);
    }
    input.number("free bytes").map(Some)
}

fn take_answers(input: &mut Input<'_>) -> Result<Option<Answered>, Fault> {
    let here = *input;
    let (said_at_us, held_us) = (input.number("a clock that is answered")?, input.number("a time that was held")?);
    match (said_at_us, held_us) {
        (0, 0) => Ok(None),
        (0, _) => Err(here.malformed("nothing, held for a time")),
        _ => Ok(Some(Answered { said_at_us, held_us })),
    }
}
