//! It does not join, or not here.
//!
//! ```text
//! 0 code u8  1 zero u8  2 words: length u16, text   leader: length u16, text
//! ```

use crate::bounds::{ADDRESS_BYTES_MAX, WORDS_BYTES_MAX};
use crate::wire::{Input, Pack, put_short_text, put_text, put_zeros};
use crate::{EncodeError, Fault};

/// Why not, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinRefused<'a> {
    /// A [`JoinCode`](crate::JoinCode); of a newer node it may be another one.
    pub code: u8,
    /// What was wrong and what to do, for people: visible ASCII and spaces.
    pub words: &'a str,
    /// HOST:PORT of the node to ask instead; empty: of none.
    pub leader: &'a str,
}

impl<'a> Pack<'a> for JoinRefused<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.push(self.code);
        put_zeros::<1>(out);
        put_text(self.words, WORDS_BYTES_MAX, "words of a refusal", out)?;
        put_short_text(self.leader, ADDRESS_BYTES_MAX, "the address of the leader", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let code = input.u8("the code of a refusal")?;
        input.zeros::<1>()?;
        let words = input.words(WORDS_BYTES_MAX, "words of a refusal")?;
        Ok(JoinRefused { code, words, leader: input.text(ADDRESS_BYTES_MAX, "the address of the leader")? })
    }
}
