//! The sparse index of one segment: where in the file a partition's offsets lie, every 16 KiB or so.
//!
//! It only saves time: everything in it can be found again by walking the segment.

use crate::record::{Fault, NO_SALT, RecordHeader, RecordKind, check_numbers, decode_only, u32_at, u64_at};

/// An offset and the file position of its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub offset: u64,
    pub position: u64,
}

/// Entries per partition, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SparseIndex {
    partitions: Vec<PartitionIndex>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PartitionIndex {
    entries: Vec<IndexEntry>,
    bytes_since_entry: u64,
}

impl SparseIndex {
    /// Bytes of one partition between two entries.
    pub(crate) const SPACING_BYTES: u64 = 16 << 10;

    /// Knows nothing yet.
    pub(crate) fn new(partitions: usize) -> Self {
        Self { partitions: vec![PartitionIndex::default(); partitions] }
    }

    /// Notes a record and how many bytes of its partition lie between it and the next one noted.
    pub(crate) fn note(&mut self, partition: u32, entry: IndexEntry, bytes: u64) {
        let index = &mut self.partitions[partition as usize];
        if index.entries.is_empty() || index.bytes_since_entry >= Self::SPACING_BYTES {
            index.entries.push(entry);
            index.bytes_since_entry = 0;
        }
        index.bytes_since_entry += bytes;
    }

    /// Forgets what lies at or behind file position `end`.
    pub(crate) fn cut(&mut self, end: u64) {
        for index in &mut self.partitions {
            index.entries.truncate(index.entries.partition_point(|entry| entry.position < end));
        }
    }

    /// Where to begin walking to find `offset`; nothing: at the segment's first commit.
    pub(crate) fn seek(&self, partition: u32, offset: u64) -> Option<IndexEntry> {
        let entries = &self.partitions.get(partition as usize)?.entries;
        let behind = entries.partition_point(|entry| entry.offset <= offset);
        behind.checked_sub(1).map(|place| entries[place])
    }
}

/// A sparse index as a file beside its sealed segment, tied to it by sequence, salt and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sidecar {
    pub sequence: u64,
    pub salt: u32,
    pub end: u64,
}

impl Sidecar {
    const FIXED_BYTES: usize = 24;

    /// The file's contents.
    pub(crate) fn encode(&self, index: &SparseIndex) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend_from_slice(&self.sequence.to_le_bytes());
        body.extend_from_slice(&self.end.to_le_bytes());
        body.extend_from_slice(&self.salt.to_le_bytes());
        body.extend_from_slice(&(index.partitions.len() as u32).to_le_bytes());
        for partition in &index.partitions {
            body.extend_from_slice(&(partition.entries.len() as u32).to_le_bytes());
            for entry in &partition.entries {
                body.extend_from_slice(&entry.offset.to_le_bytes());
                body.extend_from_slice(&entry.position.to_le_bytes());
            }
        }
        let mut out = Vec::new();
        RecordHeader::own(RecordKind::Index, 0).encode(&body, NO_SALT, &mut out);
        out
    }

    /// Reads the file's contents; they must belong to this very segment.
    pub(crate) fn decode(&self, bytes: &[u8], partitions: usize) -> Result<SparseIndex, Fault> {
        let (_, body) = decode_only(bytes, RecordKind::Index)?;
        if body.len() < Self::FIXED_BYTES || u32_at(body, 20) as usize != partitions {
            return Err(Fault::Misplaced("an index of the wrong length"));
        }
        let found = Self { sequence: u64_at(body, 0), end: u64_at(body, 8), salt: u32_at(body, 16) };
        if found != *self {
            return Err(Fault::Misplaced("the index of another segment"));
        }
        let mut rest = &body[Self::FIXED_BYTES..];
        let mut index = SparseIndex::new(partitions);
        for partition in &mut index.partitions {
            partition.entries = take_entries(&mut rest).ok_or(Fault::Misplaced("an index of the wrong length"))?;
            check_numbers(partition.entries.iter().flat_map(|entry| [entry.offset, entry.position]))?;
        }
        Ok(index)
    }
}

fn take_entries(rest: &mut &[u8]) -> Option<Vec<IndexEntry>> {
    let (count, behind) = rest.split_at_checked(4)?;
    let (entries, behind) = behind.split_at_checked((u32_at(count, 0) as usize).checked_mul(16)?)?;
    *rest = behind;
    let entry = |bytes: &[u8]| IndexEntry { offset: u64_at(bytes, 0), position: u64_at(bytes, 8) };
    Some(entries.chunks_exact(16).map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> SparseIndex {
        let mut index = SparseIndex::new(2);
        for record in 0..100 {
            let entry = IndexEntry { offset: 10 + record, position: 1000 + record * 1024 };
            index.note(1, entry, 1024);
        }
        index
    }

    #[test]
    fn a_seek_lands_at_or_before_the_offset_and_not_far() {
        let index = filled();
        for offset in 10..110 {
            let entry = index.seek(1, offset).expect("the first record is always noted");
            assert!(entry.offset <= offset && offset - entry.offset < 17, "{offset} {entry:?}");
        }
        assert_eq!(index.seek(1, 9), None);
        assert_eq!(index.seek(0, 50), None, "the other partition has no records");
    }

    #[test]
    fn a_cut_forgets_what_lies_behind() {
        let mut index = filled();
        index.cut(1000 + 50 * 1024);
        assert!(index.seek(1, 1000).is_some_and(|entry| entry.position < 1000 + 50 * 1024));
    }

    #[test]
    fn a_sidecar_reads_back_and_knows_its_segment() {
        let sidecar = Sidecar { sequence: 4, salt: 9, end: 200_000 };
        let bytes = sidecar.encode(&filled());
        let read = sidecar.decode(&bytes, 2).expect("as written");
        assert_eq!(read.seek(1, 60), filled().seek(1, 60));
        assert!(Sidecar { end: 1, ..sidecar }.decode(&bytes, 2).is_err());
        assert!(sidecar.decode(&bytes, 3).is_err());
        for length in 0..bytes.len() {
            assert!(sidecar.decode(&bytes[..length], 2).is_err());
        }
    }
}
