//! What was here was damaged.
//!
//! ```text
//! zeros up to the end
//! ```

use super::Body;
use crate::Fault;
use crate::wire::Input;

/// Stands in the place of an entry that could not be read any more, after somebody has accepted its loss: the indexes of the
/// others stay as they are. It changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Bytes that fill the place.
    pub room: usize,
}

impl Lost {
    /// The whole entry in exactly `bytes` bytes, of which it needs two.
    pub fn filling(bytes: usize) -> Vec<u8> {
        let mut out = vec![Self::KIND, <Self as Body<'_>>::VERSION];
        out.resize(bytes.max(2), 0);
        out
    }
}

impl Body<'_> for Lost {
    // Apart from the kinds that say that something happened.
    const KIND: u8 = 63;
    const WHAT: &'static str = "an entry `Lost`";

    fn put(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.resize(out.len() + self.room, 0);
        Ok(())
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Fault> {
        let (here, what) = (*input, "an entry that was given up holds something");
        let zeros = input.take(input.rest().len(), what)?;
        if zeros.iter().any(|byte| *byte != 0) {
            return Err(here.fault(what));
        }
        Ok(Lost { room: zeros.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataGroupState, Entry};

    /// Does it fill any place, read back, and change nothing but its own count?
    #[test]
    fn it_takes_a_place_and_nothing_else() {
        let mut state = DataGroupState::new();
        for bytes in 2..40 {
            let filling = Lost::filling(bytes);
            assert_eq!(filling.len(), bytes);
            let entry = Entry::Lost(Lost { room: bytes - 2 });
            assert_eq!(Entry::decode(&filling), Ok(entry));
            let mut again = vec![];
            entry.encode(&mut again).unwrap();
            assert_eq!(again, filling);
            state.apply(bytes as u64, &filling).unwrap();
        }
        assert_eq!((state.lost(), state.strays(), state.applied()), (38, 0, 39));
        assert!(Entry::decode(&[63, 1, 0, 1]).is_err(), "nobody writes something into it");
    }
}
