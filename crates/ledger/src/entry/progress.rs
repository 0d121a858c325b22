//! What became of messages and packet ids, of many sessions and groups at once, in the order in which it happened.
//!
//! ```text
//! number of facts      per fact: head u8: bits 0-2 kind, bit 3 another session or group than before; [that one: number]; numbers
//! ```
//!
//! One list for all kinds, because their order counts: a packet id that was released may have been received again.

use std::fmt;

use super::{Body, Fact};
use crate::wire::{Input, put_number};
use crate::{Fault, KeeperId};

const KIND_BITS: u8 = 0b111;
const OTHER_BIT: u8 = 0b1000;

/// Facts of the sessions and groups of one data group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The facts, in their order.
    pub facts: Facts<'a>,
}

/// Facts, each with whose it is; checked when they were decoded.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    count: usize,
    bytes: &'a [u8],
}

/// Filled while a shard works, then given to the log as one entry; used again for the next one.
#[derive(Debug, Default)]
pub struct ProgressBuf {
    bytes: Vec<u8>,
    count: usize,
    last: Option<KeeperId>,
}

impl ProgressBuf {
    /// An empty one.
    pub const fn new() -> Self {
        ProgressBuf { bytes: Vec::new(), count: 0, last: None }
    }

    /// Adds a fact of a session or group.
    #[inline]
    pub fn push(&mut self, keeper: KeeperId, fact: Fact) {
        let other = self.last != Some(keeper);
        self.bytes.push(fact.kind() | if other { OTHER_BIT } else { 0 });
        if other {
            put_number(keeper.0, &mut self.bytes);
            self.last = Some(keeper);
        }
        fact.put(&mut self.bytes);
        self.count += 1;
    }

    /// How many facts there are.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes that the entry will have, about.
    pub const fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets all; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.count, self.last) = (0, None);
    }

    /// The entry.
    pub fn as_progress(&self) -> Progress<'_> {
        Progress { facts: Facts { count: self.count, bytes: &self.bytes } }
    }
}

impl<'a> Facts<'a> {
    /// How many there are.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Each with its session or group.
    pub fn iter(&self) -> impl Iterator<Item = (KeeperId, Fact)> + use<'a> {
        let (mut input, mut keeper) = (Input::new(self.bytes), None);
        // They were read once without an error, so this walk meets none.
        (0..self.count).map_while(move |_| take_fact(&mut input, &mut keeper).ok())
    }
}

#[inline]
fn take_fact(input: &mut Input<'_>, keeper: &mut Option<KeeperId>) -> Result<(KeeperId, Fact), Fault> {
    let here = *input;
    let head = input.flags(KIND_BITS | OTHER_BIT)?;
    if head & OTHER_BIT != 0 {
        *keeper = Some(KeeperId(input.number("the id of a session or group is cut off")?));
    }
    let keeper = keeper.ok_or(here.fault("the first fact is nobody's"))?;
    Ok((keeper, Fact::take(head & KIND_BITS, input)?))
}

impl PartialEq for Facts<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Facts<'_> {}

impl fmt::Debug for Facts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> Body<'a> for Progress<'a> {
    const KIND: u8 = 7;
    const WHAT: &'static str = "an entry `Progress`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        put_number(self.facts.count as u64, out);
        out.extend_from_slice(self.facts.bytes);
        Ok(())
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let count = input.count("the number of facts is cut off or impossible")?;
        let (from, mut keeper) = (*input, None);
        for _ in 0..count {
            take_fact(input, &mut keeper)?;
        }
        Ok(Progress { facts: Facts { count, bytes: &from.rest()[..input.at() - from.at()] } })
    }
}
