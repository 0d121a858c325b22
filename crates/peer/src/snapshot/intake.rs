//! Taking in a snapshot: which chunk comes next, and whether all came.

use super::{SnapshotBegin, SnapshotChunk, SnapshotEnd, SnapshotRefusal};
use crate::{Fault, FaultKind};

/// How large a snapshot a node takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// Bytes of all its chunks.
    pub bytes_max: u64,
    /// Its chunks.
    pub chunks_max: u32,
}

/// How far a snapshot has come. Whoever keeps this beside the chunks goes on behind them over another connection, or after a
/// restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotProgress {
    /// Which snapshot.
    pub snapshot: u64,
    /// The number of the next chunk.
    pub next_chunk: u32,
    /// Bytes of the chunks before it.
    pub bytes: u64,
    /// The CRC-32C of those.
    pub crc: u32,
}

/// The books of one snapshot; the bytes go to the caller's disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotIntake {
    progress: SnapshotProgress,
    bytes_max: u64,
    state_chunks: u32,
    chunks_max: u32,
}

impl SnapshotIntake {
    /// A snapshot begins, or goes on: `before` is what is there of an earlier one of the same group, if anything is. Of another
    /// snapshot it is of no use, and the caller deletes its chunks ([`next_chunk`](Self::next_chunk) is 0 then).
    ///
    /// The answer to the leader is [`Verdict::From`](crate::Verdict::From) the next chunk.
    /// # Errors
    /// `TooLarge`.
    pub fn begin(
        begin: &SnapshotBegin<'_>,
        limits: SnapshotLimits,
        before: Option<SnapshotProgress>,
    ) -> Result<Self, SnapshotRefusal> {
        if begin.bytes > limits.bytes_max || begin.state_chunks > limits.chunks_max {
            return Err(SnapshotRefusal::TooLarge);
        }
        let nothing = SnapshotProgress { snapshot: begin.snapshot, next_chunk: 0, bytes: 0, crc: 0 };
        let fits = |progress: &SnapshotProgress| progress.snapshot == begin.snapshot && progress.bytes <= begin.bytes;
        Ok(SnapshotIntake {
            progress: before.filter(fits).unwrap_or(nothing),
            bytes_max: begin.bytes,
            state_chunks: begin.state_chunks,
            chunks_max: limits.chunks_max,
        })
    }

    /// The number of the chunk that comes next.
    pub const fn next_chunk(&self) -> u32 {
        self.progress.next_chunk
    }

    /// How far it has come.
    pub const fn progress(&self) -> SnapshotProgress {
        self.progress
    }

    /// Whether the next chunk is one of the state; otherwise it has records.
    pub const fn is_state_next(&self) -> bool {
        self.progress.next_chunk < self.state_chunks
    }

    /// Counts a chunk, which the caller then writes down.
    /// # Errors
    /// `Gap`: it is not the next one. `TooLong`: there are more of them, or more bytes, than may be. Nothing was counted.
    pub fn chunk(&mut self, chunk: &SnapshotChunk<'_>) -> Result<(), Fault> {
        let SnapshotProgress { snapshot, next_chunk, bytes, crc } = self.progress;
        if chunk.number != next_chunk {
            return Err(Fault::new(FaultKind::Gap, "a chunk that is not the next one", 0).with(chunk.number.into()));
        }
        let bytes = bytes + chunk.bytes.len() as u64;
        if bytes > self.bytes_max || next_chunk == self.chunks_max {
            return Err(Fault::new(FaultKind::TooLong, "a snapshot that is larger than it may be", 0).with(bytes));
        }
        let crc = crc32c::crc32c_append(crc, chunk.bytes);
        self.progress = SnapshotProgress { snapshot, next_chunk: next_chunk + 1, bytes, crc };
        Ok(())
    }

    /// All chunks came, and are what was sent.
    /// # Errors
    /// `Gap`: some are missing; they can be asked for over another connection. `Checksum`: what is there is of no use, and the
    /// leader is told [`Damaged`](SnapshotRefusal::Damaged).
    pub fn end(&self, end: &SnapshotEnd) -> Result<(), Fault> {
        let SnapshotProgress { next_chunk, crc, .. } = self.progress;
        if end.chunks != next_chunk || next_chunk < self.state_chunks {
            return Err(
                Fault::new(FaultKind::Gap, "the end of a snapshot that is not whole", 0).with(end.chunks.into())
            );
        }
        if end.crc != crc {
            return Err(Fault::new(FaultKind::Checksum, "a snapshot that is not what was sent", 0).with(crc.into()));
        }
        Ok(())
    }
}
