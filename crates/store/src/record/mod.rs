//! The one record of the log: a header of 64 bytes, a body, zeros up to the next multiple of 8.
//!
//! Little endian, format version 1:
//!
//! ```text
//!  0 magic u32        4 crc u32          8 body bytes u32   12 version u8  13 kind u8  14 lifetime u8  15 zero u8
//! 16 slot u16        18 data group u16  20 partition u32    24 term u64    32 index u64
//! 40 message id u64  48 offset u64      56 appended at i64, microseconds since the epoch
//! ```
//!
//! The CRC-32C covers bytes 8.. and the body. It starts from the segment's salt, a random number that no client knows:
//! a payload that holds the image of a record is not taken for one when recovery searches behind a torn tail.
//! Term and index belong to entries of data groups; streams leave them 0. The journal has a Raft index in the offset, 0 where
//! there is no cluster.

mod commit;
mod kind;
mod segment_start;
mod stream_meta;

pub(crate) use commit::{CommitBody, Run};
pub(crate) use kind::RecordKind;
pub(crate) use segment_start::{PartitionStart, SegmentStart};
pub(crate) use stream_meta::StreamMeta;

use crate::error::StoreError;

/// The format version of headers, bodies of the log's own records, and folder layout.
pub(crate) const FORMAT_VERSION: u8 = 1;
pub(crate) const HEADER_BYTES: usize = 64;
pub(crate) const MAGIC: u32 = 0x3152_774C;
/// No body is larger: the largest MQTT packet and room for what the envelope adds.
pub(crate) const BODY_BYTES_MAX: usize = 272 << 20;
/// No index, offset, sequence or position is larger, so what adds to one of them does not come to the end of numbers. A node
/// that writes a million entries a second gets there in 146,000 years.
pub(crate) const NUMBER_MAX: u64 = 1 << 62;
/// Salt of records outside segments, and of the record that brings the salt.
pub(crate) const NO_SALT: u32 = 0;

/// How long a record lives, hence in which segments it lies. Streams: until retention deletes the segment.
pub(crate) const LIFETIME_STREAM: u8 = 1;
/// The journal's records as they come: until compaction looks at the segment.
pub(crate) const LIFETIME_JOURNAL: u8 = 2;
/// Entries that compaction found alive once.
pub(crate) const LIFETIME_KEPT: u8 = 3;

/// In a stream, the message id of a `Lost` record that takes the place of one offset; any other fills a place only.
pub(crate) const LOST_OFFSET: u64 = 1;

/// The header's fields; the length is that of the body it comes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    pub kind: RecordKind,
    pub lifetime: u8,
    pub slot: u16,
    pub data_group: u16,
    pub partition: u32,
    pub term: u64,
    pub index: u64,
    pub message_id: u64,
    pub offset: u64,
    pub appended_at_us: i64,
}

/// Why bytes are not a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There are fewer bytes than the record has.
    Short,
    /// The magic number is missing.
    Magic,
    /// The length is impossible.
    Length(u32),
    /// The checksum does not fit.
    Checksum,
    /// The checksum fits, the version is another.
    Version(u8),
    /// The checksum fits, the kind is unknown.
    Kind(u8),
    /// Bytes behind the body are not zero.
    Padding,
    /// The checksum fits, and an index or offset is one that no node comes to.
    Number(u64),
    /// A good record in the wrong place.
    Misplaced(&'static str),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Short => f.write_str("the file ends inside a record"),
            Self::Magic => f.write_str("no record starts here"),
            Self::Length(bytes) => write!(f, "a record claims a body of {bytes} bytes"),
            Self::Checksum => f.write_str("the checksum does not fit the record"),
            Self::Version(version) => write!(f, "record version {version}, this program reads {FORMAT_VERSION}"),
            Self::Kind(kind) => write!(f, "unknown record kind {kind}"),
            Self::Padding => f.write_str("bytes behind the record are not zero"),
            Self::Number(number) => write!(f, "the number {number}, which no log comes to"),
            Self::Misplaced(what) => f.write_str(what),
        }
    }
}

/// Bytes of a record on disk whose body has `body_bytes`.
pub(crate) fn record_bytes(body_bytes: usize) -> usize {
    HEADER_BYTES + body_bytes.next_multiple_of(8)
}

impl RecordHeader {
    /// A header of the log's own records.
    pub(crate) fn own(kind: RecordKind, appended_at_us: i64) -> Self {
        Self {
            kind,
            lifetime: LIFETIME_STREAM,
            slot: 0,
            data_group: 0,
            partition: 0,
            term: 0,
            index: 0,
            message_id: 0,
            offset: 0,
            appended_at_us,
        }
    }

    /// Appends the record to `out`. `body` is at most [`BODY_BYTES_MAX`].
    pub(crate) fn encode(&self, body: &[u8], salt: u32, out: &mut Vec<u8>) {
        let (head, padding) = self.head(&[body], salt);
        out.reserve(record_bytes(body.len()));
        out.extend_from_slice(&head);
        out.extend_from_slice(body);
        out.extend_from_slice(padding);
    }

    /// The header of a record whose body lies in parts, together at most [`BODY_BYTES_MAX`], and the zeros that come behind them.
    pub(crate) fn head(&self, body: &[&[u8]], salt: u32) -> ([u8; HEADER_BYTES], &'static [u8]) {
        let body_bytes: usize = body.iter().map(|part| part.len()).sum();
        debug_assert!(body_bytes <= BODY_BYTES_MAX);
        let mut bytes = self.to_bytes(body_bytes as u32);
        let crc =
            body.iter().fold(crc32c::crc32c_append(salt, &bytes[8..]), |crc, part| crc32c::crc32c_append(crc, part));
        bytes[4..8].copy_from_slice(&crc.to_le_bytes());
        (bytes, &[0; 8][..body_bytes.next_multiple_of(8) - body_bytes])
    }

    /// Kind, partition and index that a header claims; nothing is verified.
    pub(crate) fn peek(header: &[u8]) -> Result<(RecordKind, u32, u64), Fault> {
        let kind = RecordKind::from_u8(header[13]).ok_or(Fault::Kind(header[13]))?;
        Ok((kind, u32_at(header, 20), u64_at(header, 32)))
    }

    fn to_bytes(self, body_bytes: u32) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8..12].copy_from_slice(&body_bytes.to_le_bytes());
        bytes[12..16].copy_from_slice(&[FORMAT_VERSION, self.kind as u8, self.lifetime, 0]);
        bytes[16..18].copy_from_slice(&self.slot.to_le_bytes());
        bytes[18..20].copy_from_slice(&self.data_group.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.partition.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.term.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.index.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.message_id.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.offset.to_le_bytes());
        bytes[56..64].copy_from_slice(&self.appended_at_us.to_le_bytes());
        bytes
    }
}

/// Whether a body has `fixed` bytes and so many parts of `each`, as it says itself: on a machine of 32 bits that may be more
/// than memory can have.
pub(crate) fn has_parts(body: &[u8], fixed: usize, parts: u32, each: usize) -> bool {
    body.len() as u64 == fixed as u64 + u64::from(parts) * each as u64
}

/// Bytes of the whole record whose header `bytes` begins with; nothing is verified but magic and length.
pub(crate) fn peek_bytes(bytes: &[u8]) -> Result<usize, Fault> {
    if bytes.len() < HEADER_BYTES {
        return Err(Fault::Short);
    }
    if u32_at(bytes, 0) != MAGIC {
        return Err(Fault::Magic);
    }
    let body_bytes = u32_at(bytes, 8);
    match body_bytes as usize {
        bytes if bytes <= BODY_BYTES_MAX => Ok(record_bytes(bytes)),
        _ => Err(Fault::Length(body_bytes)),
    }
}

/// Verifies and reads the record that `bytes` begins with.
pub(crate) fn decode(bytes: &[u8], salt: u32) -> Result<(RecordHeader, &[u8]), Fault> {
    let total = peek_bytes(bytes)?;
    let record = bytes.get(..total).ok_or(Fault::Short)?;
    let body_end = HEADER_BYTES + u32_at(record, 8) as usize;
    if crc32c::crc32c_append(salt, &record[8..body_end]) != u32_at(record, 4) {
        return Err(Fault::Checksum);
    }
    if record[body_end..].iter().any(|byte| *byte != 0) {
        return Err(Fault::Padding);
    }
    if record[12] != FORMAT_VERSION {
        return Err(Fault::Version(record[12]));
    }
    let header = RecordHeader {
        kind: RecordKind::from_u8(record[13]).ok_or(Fault::Kind(record[13]))?,
        lifetime: record[14],
        slot: u16::from_le_bytes([record[16], record[17]]),
        data_group: u16::from_le_bytes([record[18], record[19]]),
        partition: u32_at(record, 20),
        term: u64_at(record, 24),
        index: u64_at(record, 32),
        message_id: u64_at(record, 40),
        offset: u64_at(record, 48),
        appended_at_us: u64_at(record, 56) as i64,
    };
    check_numbers([header.index, header.offset])?;
    Ok((header, &record[HEADER_BYTES..body_end]))
}

/// Whether all of these are numbers that a log may come to.
pub(crate) fn check_numbers(numbers: impl IntoIterator<Item = u64>) -> Result<(), Fault> {
    match numbers.into_iter().find(|number| *number > NUMBER_MAX) {
        Some(number) => Err(Fault::Number(number)),
        None => Ok(()),
    }
}

/// Whether a record may have this number: the next one's must be a number too, for a segment begins with it.
pub(crate) fn check_next(number: u64) -> Result<(), StoreError> {
    if number < NUMBER_MAX { Ok(()) } else { Err(StoreError::NumbersEnd { number }) }
}

/// Reads a file that is one record of this kind.
pub(crate) fn decode_only(bytes: &[u8], kind: RecordKind) -> Result<(RecordHeader, &[u8]), Fault> {
    let (header, body) = decode(bytes, NO_SALT)?;
    match header.kind == kind && bytes.len() == record_bytes(body.len()) {
        true => Ok((header, body)),
        false => Err(Fault::Misplaced("the file is not the one record it should be")),
    }
}

/// The four bytes at `at`; the caller has checked the length.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The eight bytes at `at`; the caller has checked the length.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> RecordHeader {
        RecordHeader {
            slot: 7,
            data_group: 3,
            partition: 9,
            term: 1 << 40,
            index: 2,
            message_id: 77,
            offset: 5,
            ..RecordHeader::own(RecordKind::Data, -1)
        }
    }

    #[test]
    fn a_record_reads_back_as_written() {
        for length in 0..40 {
            let body = vec![0xA5; length];
            let mut bytes = vec![];
            header().encode(&body, 42, &mut bytes);
            assert_eq!(bytes.len(), record_bytes(length));
            assert_eq!(decode(&bytes, 42), Ok((header(), &body[..])));
            assert_eq!(decode(&bytes, 43), Err(Fault::Checksum), "another salt is another segment");
        }
    }

    #[test]
    fn what_no_log_comes_to_is_no_record() {
        for (index, offset) in [(NUMBER_MAX + 1, 0), (0, u64::MAX)] {
            let mut bytes = vec![];
            RecordHeader { index, offset, ..header() }.encode(b"body", 42, &mut bytes);
            assert_eq!(decode(&bytes, 42), Err(Fault::Number(index.max(offset))));
        }
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_is_noticed() {
        let mut bytes = vec![];
        header().encode(b"thirteen char", 42, &mut bytes);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bytes, 42).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        for length in 0..bytes.len() {
            assert_eq!(decode(&bytes[..length], 42), Err(Fault::Short), "length {length}");
        }
    }
}
