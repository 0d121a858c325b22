//! One message of a Raft engine, as plain numbers.
//!
//! ```text
//!  0 group u8   1 kind u8   2 from u8   3 to u8   4 flags u8 (1: reject, 2: transfer, 4: context)   5 zero u8
//!  6 term u64  14 log term u64  22 index u64  30 commit u64  38 commit term u64  46 reject hint u64  54 context u64
//! 62 entries: count u16, each as in `entry`
//! ```

use super::{EntryHeader, MessageKind};
use crate::bounds::{ENTRIES_MAX, NUMBER_MAX};
use crate::wire::{Input, List, Pack, check_number, put_zeros};
use crate::{EncodeError, Fault, GroupNumber, NodeId};

const REJECT: u8 = 1;
const TRANSFER: u8 = 2;
const CONTEXT: u8 = 4;
/// Bytes of a message without entries.
const HEAD_BYTES: usize = 64;
/// An index and all the entries behind it are numbers.
const _: () = assert!(NUMBER_MAX < u64::MAX - ENTRIES_MAX as u64);

/// A message; what a field means for each kind is Raft's, and what has no meaning there is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Whose engine it is for.
    pub group: GroupNumber,
    /// What it is.
    pub kind: MessageKind,
    /// Who says it.
    pub from: NodeId,
    /// To whom.
    pub to: NodeId,
    /// The sender's term.
    pub term: u64,
    /// The term of the entry at `index`.
    pub log_term: u64,
    /// A Raft index: of the entry before the first of `entries`, or the last one that is known.
    pub index: u64,
    /// The Raft index that is committed.
    pub commit: u64,
    /// The term of the entry at `commit`.
    pub commit_term: u64,
    /// The answer is no.
    pub reject: bool,
    /// Where the two logs may still be the same.
    pub reject_hint: u64,
    /// A vote is asked for at the leader's wish: who hears that leader may agree nevertheless.
    pub transfer: bool,
    /// Any number, which an answer brings back.
    pub context: Option<u64>,
    /// Entries to append: of [`MessageKind::Append`] only, one behind the other from `index` on, of terms that do not fall. The
    /// batches that they name have come before.
    pub entries: List<'a, EntryHeader<'a>>,
}

impl Message<'_> {
    /// Bytes of the message in a frame.
    pub fn encoded_bytes(&self) -> usize {
        HEAD_BYTES + self.entries.iter().map(|entry| entry.encoded_bytes()).sum::<usize>()
    }

    fn flags(&self) -> u8 {
        let flags = [(self.reject, REJECT), (self.transfer, TRANSFER), (self.context.is_some(), CONTEXT)];
        flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum()
    }

    fn numbers(&self) -> [u64; 6] {
        [self.term, self.log_term, self.index, self.commit, self.commit_term, self.reject_hint]
    }

    /// The entries are a piece of a log that goes on behind `index`.
    fn check_entries(&self) -> Result<(), &'static str> {
        if self.kind != MessageKind::Append && !self.entries.is_empty() {
            return Err("entries in a message that brings none");
        }
        let (mut index, mut term) = (self.index, self.log_term);
        for entry in self.entries.iter() {
            index += 1;
            if entry.raft_index != index {
                return Err("entries that do not follow each other");
            }
            if entry.term < term || entry.term > self.term {
                return Err("entries of terms that no log has");
            }
            term = entry.term;
        }
        Ok(())
    }
}

impl<'a> Pack<'a> for Message<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        // First, so that the indexes behind it are numbers.
        check_number(&self.numbers())?;
        self.check_entries().map_err(EncodeError::Impossible)?;
        self.group.put(out)?;
        self.kind.put(out)?;
        self.from.put(out)?;
        self.to.put(out)?;
        out.push(self.flags());
        put_zeros::<1>(out);
        for number in self.numbers() {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.context.unwrap_or(0).to_le_bytes());
        self.entries.put(ENTRIES_MAX, "entries of a message", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let here = *input;
        let (group, kind) = (GroupNumber::take(input)?, MessageKind::take(input)?);
        let (from, to) = (NodeId::take(input)?, NodeId::take(input)?);
        let flags = take_flags(input)?;
        let message = Message {
            group,
            kind,
            from,
            to,
            term: input.number("a term")?,
            log_term: input.number("the term of an entry")?,
            index: input.number("an index")?,
            commit: input.number("a commit index")?,
            commit_term: input.number("the term of a commit index")?,
            reject: flags & REJECT != 0,
            reject_hint: input.number("a hint")?,
            transfer: flags & TRANSFER != 0,
            context: take_context(input, flags)?,
            entries: List::take(input, ENTRIES_MAX, "entries of a message")?,
        };
        message.check_entries().map_err(|what| here.malformed(what))?;
        Ok(message)
    }
}

fn take_flags(input: &mut Input<'_>) -> Result<u8, Fault> {
    let here = *input;
    let flags = input.u8("flags")?;
    if flags & !(REJECT | TRANSFER | CONTEXT) != 0 {
        return Err(here.malformed("flags that no encoder sets").with(flags.into()));
    }
    input.zeros::<1>()?;
    Ok(flags)
}

fn take_context(input: &mut Input<'_>, flags: u8) -> Result<Option<u64>, Fault> {
    let here = *input;
    match input.u64("a context")? {
        context if flags & CONTEXT != 0 => Ok(Some(context)),
        0 => Ok(None),
        context => Err(here.malformed("a context that the flags say is none").with(context)),
    }
}
