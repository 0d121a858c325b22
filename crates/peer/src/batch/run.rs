//! Records one behind the other, without anything between them.

use super::Record;
use crate::bounds::BATCH_BYTES_MAX;
use crate::wire::{List, Pack, check_len};
use crate::{EncodeError, Fault};

/// Reads a batch that is whole; nothing is copied.
/// # Errors
/// `CutShort`, `Malformed`: offsets count from the first byte of the run.
pub fn read_records(bytes: &[u8]) -> Result<List<'_, Record<'_>>, Fault> {
    List::take_all(bytes)
}

/// Appends records to `out` as batches have them. Returns how many bytes these are.
/// # Errors
/// They are more than a batch may have; `out` is as it was.
pub fn write_records(records: &List<'_, Record<'_>>, out: &mut Vec<u8>) -> Result<u32, EncodeError> {
    write_run(records, BATCH_BYTES_MAX as usize, out).map(|bytes| bytes as u32)
}

/// Appends items without their number, `bytes_max` bytes at most. Returns how many bytes these are.
pub(crate) fn write_run<'a, T: Pack<'a>>(
    items: &List<'a, T>,
    bytes_max: usize,
    out: &mut Vec<u8>,
) -> Result<usize, EncodeError> {
    let start = out.len();
    let put = items.put_items(out).and_then(|()| check_len(out.len() - start, bytes_max, "bytes of records"));
    if put.is_err() {
        out.truncate(start);
    }
    put.map(|()| out.len() - start)
}
