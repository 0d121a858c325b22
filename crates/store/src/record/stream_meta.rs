//! The record that describes a stream, alone in its file.

use super::{Fault, NO_SALT, RecordHeader, RecordKind, decode_only, has_parts, u32_at};
use crate::info::StreamUuid;

/// What never changes about a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamMeta {
    pub uuid: StreamUuid,
    pub partitions: u32,
    pub name: String,
    pub created_at_us: i64,
}

impl StreamMeta {
    const FIXED_BYTES: usize = 24;

    /// The file's contents.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(Self::FIXED_BYTES + self.name.len());
        body.extend_from_slice(&self.uuid.0);
        body.extend_from_slice(&self.partitions.to_le_bytes());
        body.extend_from_slice(&(self.name.len() as u32).to_le_bytes());
        body.extend_from_slice(self.name.as_bytes());
        let mut out = Vec::new();
        RecordHeader::own(RecordKind::StreamMeta, self.created_at_us).encode(&body, NO_SALT, &mut out);
        out
    }

    /// Reads the file's contents.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Fault> {
        let (header, body) = decode_only(bytes, RecordKind::StreamMeta)?;
        let malformed = Fault::Misplaced("a stream record of the wrong length");
        if body.len() < Self::FIXED_BYTES || !has_parts(body, Self::FIXED_BYTES, u32_at(body, 20), 1) {
            return Err(malformed);
        }
        let mut uuid = StreamUuid([0; 16]);
        uuid.0.copy_from_slice(&body[..16]);
        let name = String::from_utf8_lossy(&body[Self::FIXED_BYTES..]).into_owned();
        Ok(Self { uuid, partitions: u32_at(body, 16), name, created_at_us: header.appended_at_us })
    }
}
