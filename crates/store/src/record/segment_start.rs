//! The record that opens a segment, and closes the books of the one before.

use super::{Fault, NO_SALT, RecordHeader, RecordKind, check_numbers, u32_at, u64_at};
use crate::info::StreamUuid;

/// Where a partition stands when a segment begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartitionStart {
    /// The first offset that this segment may hold.
    pub first_offset: u64,
    /// Bytes of the partition's records in the segment before.
    pub previous_bytes: u64,
}

/// The opening record. Because it closes the books of its predecessor, opening a log reads one small record per
/// segment, and a sealed segment that lost its tail is noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentStart {
    /// What lies in it: one of the `LIFETIME_` numbers.
    pub lifetime: u8,
    pub uuid: StreamUuid,
    pub sequence: u64,
    pub salt: u32,
    /// Bytes reserved for the file; an active file that is shorter was cut. 0 where space cannot be reserved.
    pub allocated_bytes: u64,
    pub created_at_us: i64,
    /// Where the predecessor ends; 0 when there is none.
    pub previous_end: u64,
    /// Append time of the predecessor's last record.
    pub previous_last_at_us: i64,
    pub partitions: Vec<PartitionStart>,
}

impl SegmentStart {
    const FIXED_BYTES: usize = 64;
    const PARTITION_BYTES: usize = 16;

    /// Appends the record to `out`.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::with_capacity(Self::FIXED_BYTES + self.partitions.len() * Self::PARTITION_BYTES);
        body.extend_from_slice(&self.uuid.0);
        body.extend_from_slice(&self.sequence.to_le_bytes());
        body.extend_from_slice(&self.allocated_bytes.to_le_bytes());
        body.extend_from_slice(&self.previous_end.to_le_bytes());
        body.extend_from_slice(&self.previous_last_at_us.to_le_bytes());
        body.extend_from_slice(&self.salt.to_le_bytes());
        body.extend_from_slice(&(self.partitions.len() as u32).to_le_bytes());
        body.extend_from_slice(&[0; 8]);
        for partition in &self.partitions {
            body.extend_from_slice(&partition.first_offset.to_le_bytes());
            body.extend_from_slice(&partition.previous_bytes.to_le_bytes());
        }
        let header = RecordHeader::own(RecordKind::SegmentStart, self.created_at_us);
        RecordHeader { lifetime: self.lifetime, ..header }.encode(&body, NO_SALT, out);
    }

    /// Reads the record that a segment begins with; also its length on disk.
    pub(crate) fn decode(bytes: &[u8]) -> Result<(Self, u64), Fault> {
        let (header, body) = super::decode(bytes, NO_SALT)?;
        let fits = |body: &[u8]| super::has_parts(body, Self::FIXED_BYTES, u32_at(body, 52), Self::PARTITION_BYTES);
        if header.kind != RecordKind::SegmentStart || body.len() < Self::FIXED_BYTES || !fits(body) {
            return Err(Fault::Misplaced("the segment does not begin with its opening record"));
        }
        let partitions = body[Self::FIXED_BYTES..].chunks_exact(Self::PARTITION_BYTES);
        let partition = |b: &[u8]| PartitionStart { first_offset: u64_at(b, 0), previous_bytes: u64_at(b, 8) };
        let mut uuid = StreamUuid([0; 16]);
        uuid.0.copy_from_slice(&body[..16]);
        let start = Self {
            lifetime: header.lifetime,
            uuid,
            sequence: u64_at(body, 16),
            allocated_bytes: u64_at(body, 24),
            previous_end: u64_at(body, 32),
            previous_last_at_us: u64_at(body, 40) as i64,
            salt: u32_at(body, 48),
            created_at_us: header.appended_at_us,
            partitions: partitions.map(partition).collect(),
        };
        check_numbers([start.sequence, start.allocated_bytes, start.previous_end])?;
        check_numbers(
            start.partitions.iter().flat_map(|partition| [partition.first_offset, partition.previous_bytes]),
        )?;
        Ok((start, super::record_bytes(body.len()) as u64))
    }
}
