//! HOST:PORT of a node. Whether it leads anywhere is found out by connecting.

use crate::bounds::ADDRESS_BYTES_MAX;
use crate::wire::{Input, Pack, put_short_text};
use crate::{EncodeError, Fault};

impl<'a> Pack<'a> for &'a str {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_short_text(self, ADDRESS_BYTES_MAX, "an address", out)
    }

    fn take(input: &mut Input<'a>) -> Result<Self, Fault> {
        input.text(ADDRESS_BYTES_MAX, "an address")
    }
}
