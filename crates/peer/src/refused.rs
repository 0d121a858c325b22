//! The last frame: a node is not spoken to, and why.
//!
//! ```text
//! 0 code u8  1 zero u8  2 words: length u16, text
//! ```
//!
//! A folder that was copied, or restored, does not know it: whoever knows tells, and the node ends with these words.

use crate::bounds::WORDS_BYTES_MAX;
use crate::wire::{Input, Pack, put_text, put_zeros};
use crate::{EncodeError, Fault};

/// Why the other node does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused<'a> {
    /// [`Refusal::code`](crate::Refusal::code); of a newer node it may be another one.
    pub code: u8,
    /// What was wrong and what to do, for people: visible ASCII and spaces.
    pub words: &'a str,
}

impl<'a> Pack<'a> for Refused<'a> {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.push(self.code);
        put_zeros::<1>(out);
        put_text(self.words, WORDS_BYTES_MAX, "words of a refusal", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        let code = input.u8("the code of a refusal")?;
        input.zeros::<1>()?;
        Ok(Refused { code, words: input.words(WORDS_BYTES_MAX, "words of a refusal")? })
    }
}
