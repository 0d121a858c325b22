//! Reading on behind damage: record by record, without the commits that hold them together.

use std::ops::ControlFlow;

use crate::error::StoreError;
use crate::record::{self, HEADER_BYTES, RecordHeader};
use crate::scan::{Walked, candidates};
use crate::window::Window;

/// What lies next in a segment.
#[derive(Debug)]
pub(crate) enum Piece<'p> {
    /// A verified record.
    Record { at: u64, bytes: u64, header: RecordHeader, body: &'p [u8] },
    /// Bytes that are no record of this segment.
    Gap { from: u64, until: u64 },
}

/// Bytes that are searched at once.
const STEP_BYTES: usize = 128 << 10;

/// Hands over what lies from `from` on, where a record starts, or damage, up to the limit or `Break`; returns where it
/// goes on.
///
/// # Errors
/// `Io` only.
pub(crate) fn salvage(
    walked: Walked<'_>,
    from: u64,
    each: &mut dyn FnMut(Piece<'_>) -> ControlFlow<()>,
) -> Result<u64, StoreError> {
    let mut window = Window::new(walked.file, walked.path, walked.limit);
    let (salt, mut at) = (walked.start.salt, from);
    while at < walked.limit {
        let flow = match step(&mut window, at, salt, each)? {
            Some((bytes, flow)) => {
                at += bytes;
                flow
            }
            None => {
                let until = next_record(&mut window, at + 1, (walked.limit, salt))?;
                let flow = each(Piece::Gap { from: at, until });
                at = until;
                flow
            }
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(at)
}

/// Hands over the record at `at`, if there is one; its bytes, and whether to go on.
fn step(
    window: &mut Window<'_>,
    at: u64,
    salt: u32,
    each: &mut dyn FnMut(Piece<'_>) -> ControlFlow<()>,
) -> Result<Option<(u64, ControlFlow<()>)>, StoreError> {
    let Ok(total) = record::peek_bytes(window.slice(at, HEADER_BYTES)?) else { return Ok(None) };
    let Ok((header, body)) = record::decode(window.slice(at, total)?, salt) else { return Ok(None) };
    let bytes = total as u64;
    Ok(Some((bytes, each(Piece::Record { at, bytes, header, body }))))
}

/// Where the first record at or behind `from` begins; the limit when there is none. Records begin at multiples of 8.
fn next_record(window: &mut Window<'_>, from: u64, (limit, salt): (u64, u32)) -> Result<u64, StoreError> {
    let mut at = from.next_multiple_of(8);
    while at < limit {
        let bytes = window.slice(at, STEP_BYTES)?;
        if bytes.is_empty() {
            break;
        }
        let read = bytes.len() as u64;
        for candidate in candidates(bytes, at) {
            if step(window, candidate, salt, &mut |_| ControlFlow::Continue(()))?.is_some() {
                return Ok(candidate);
            }
        }
        at += read;
    }
    Ok(limit)
}
