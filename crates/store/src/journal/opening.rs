//! How a segment of the journal begins: the opening record, and in all but segments of kept entries a checkpoint.

use std::path::Path;

use super::checkpoint::Checkpoint;
use super::data_group::Layout;
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::info::StreamUuid;
use crate::record::{self, Fault, HEADER_BYTES, LIFETIME_JOURNAL, LIFETIME_KEPT, SegmentStart};
use crate::segment_file::read_start;
use crate::window::Window;

/// The beginning of a segment.
#[derive(Debug)]
pub(crate) struct Opening {
    pub start: SegmentStart,
    pub layout: Layout,
    /// Bytes of all opening records: where the first commit lies.
    pub start_bytes: u64,
    pub checkpoint: Option<Checkpoint>,
}

impl Opening {
    /// Reads the beginning of the segment `sequence` of the journal `uuid`.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub(crate) fn read(file: &dyn DiskFile, path: &Path, uuid: StreamUuid, sequence: u64) -> Result<Self, StoreError> {
        let (start, start_bytes) = read_start(file, path)?;
        let layout = Layout::of(start.partitions.len()).filter(|_| (start.uuid, start.sequence) == (uuid, sequence));
        let Some(layout) = layout else {
            return Err(StoreError::corrupt(path, 0, "the segment belongs to another journal or place"));
        };
        match start.lifetime {
            LIFETIME_KEPT => Ok(Self { start, layout, start_bytes, checkpoint: None }),
            LIFETIME_JOURNAL => {
                let (checkpoint, bytes) = read_checkpoint(file, path, layout, (start_bytes, start.salt))?;
                Ok(Self { start, layout, start_bytes: start_bytes + bytes, checkpoint: Some(checkpoint) })
            }
            _ => Err(StoreError::corrupt(path, 0, "the segment does not belong to the journal")),
        }
    }
}

fn read_checkpoint(
    file: &dyn DiskFile,
    path: &Path,
    layout: Layout,
    (at, salt): (u64, u32),
) -> Result<(Checkpoint, u64), StoreError> {
    let bytes = file.bytes().map_err(|error| StoreError::io("measure", path, error))?;
    let mut window = Window::new(file, path, bytes).with_chunk(0);
    // Of the opening, which is no part of a segment that can be given up: at its byte.
    let corrupt = |fault: Fault| StoreError::corrupt(path, 0, format!("its checkpoint, at byte {at}: {fault}"));
    let total = record::peek_bytes(window.slice(at, HEADER_BYTES)?).map_err(corrupt)?;
    let (header, body) = record::decode(window.slice(at, total)?, salt).map_err(corrupt)?;
    Ok((Checkpoint::decode(layout, header.kind, body).map_err(corrupt)?, total as u64))
}
