//! The record that opens a group commit.

use super::{Fault, RecordHeader, RecordKind, has_parts, u32_at, u64_at};

/// The records of one partition in a commit lie side by side: a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub partition: u32,
    pub records: u32,
    /// On disk, headers and padding included.
    pub bytes: u64,
}

/// What a commit record says: how far the segment was synced before it was written (the evidence that tells damage
/// from a torn tail), and which runs follow (so that a reader of one partition hops over the others).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommitBody {
    pub synced_before: u64,
    pub runs: Vec<Run>,
}

impl CommitBody {
    const FIXED_BYTES: usize = 16;
    const RUN_BYTES: usize = 16;

    /// Bytes of the body with this many runs: a multiple of 8.
    pub(crate) fn body_bytes(runs: usize) -> usize {
        Self::FIXED_BYTES + runs * Self::RUN_BYTES
    }

    /// Appends the record to `out`.
    pub(crate) fn encode(&self, appended_at_us: i64, salt: u32, out: &mut Vec<u8>) {
        let mut body = Vec::with_capacity(Self::body_bytes(self.runs.len()));
        body.extend_from_slice(&self.synced_before.to_le_bytes());
        body.extend_from_slice(&(self.runs.len() as u32).to_le_bytes());
        body.extend_from_slice(&[0; 4]);
        for run in &self.runs {
            body.extend_from_slice(&run.partition.to_le_bytes());
            body.extend_from_slice(&run.records.to_le_bytes());
            body.extend_from_slice(&run.bytes.to_le_bytes());
        }
        RecordHeader::own(RecordKind::Commit, appended_at_us).encode(&body, salt, out);
    }

    /// Reads the body of a verified record.
    pub(crate) fn decode(body: &[u8]) -> Result<Self, Fault> {
        let malformed = Fault::Misplaced("a commit record of the wrong length");
        if body.len() < Self::FIXED_BYTES || !has_parts(body, Self::FIXED_BYTES, u32_at(body, 8), Self::RUN_BYTES) {
            return Err(malformed);
        }
        let runs = body[Self::FIXED_BYTES..].chunks_exact(Self::RUN_BYTES);
        let run =
            |bytes: &[u8]| Run { partition: u32_at(bytes, 0), records: u32_at(bytes, 4), bytes: u64_at(bytes, 8) };
        Ok(Self { synced_before: u64_at(body, 0), runs: runs.map(run).collect() })
    }

    /// Bytes of all runs.
    pub(crate) fn runs_bytes(&self) -> u64 {
        self.runs.iter().fold(0, |sum, run| sum.saturating_add(run.bytes))
    }
}
