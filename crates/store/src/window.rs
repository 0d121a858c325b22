//! A forward-moving view of a file: one buffer, few reads.

use std::path::Path;

use crate::disk::DiskFile;
use crate::error::StoreError;

/// Shows any part of a file below `limit`; what lies side by side is read in chunks.
#[derive(Debug)]
pub(crate) struct Window<'f> {
    file: &'f dyn DiskFile,
    path: &'f Path,
    limit: u64,
    chunk_bytes: usize,
    buffer: Vec<u8>,
    start: u64,
    filled: usize,
}

impl<'f> Window<'f> {
    /// Large enough that the system call does not count, small enough for the processor's cache.
    const CHUNK_BYTES: usize = 256 << 10;

    /// A view of the bytes below `limit`.
    pub(crate) fn new(file: &'f dyn DiskFile, path: &'f Path, limit: u64) -> Self {
        Self { file, path, limit, chunk_bytes: Self::CHUNK_BYTES, buffer: Vec::new(), start: 0, filled: 0 }
    }

    /// The same with a first guess of how much will be read.
    pub(crate) fn with_chunk(mut self, chunk_bytes: u64) -> Self {
        self.chunk_bytes = chunk_bytes.clamp(4 << 10, Self::CHUNK_BYTES as u64) as usize;
        self
    }

    /// The bytes from `at`: `wanted` of them, fewer only at the limit or where the file ends.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn slice(&mut self, at: u64, wanted: usize) -> Result<&[u8], StoreError> {
        let wanted = wanted.min(usize::try_from(self.limit.saturating_sub(at)).unwrap_or(usize::MAX));
        let inside = at >= self.start && at - self.start + wanted as u64 <= self.filled as u64;
        if !inside {
            self.fill(at, wanted)?;
        }
        let from = (at - self.start) as usize;
        Ok(&self.buffer[from..self.filled.min(from + wanted)])
    }

    fn fill(&mut self, at: u64, wanted: usize) -> Result<(), StoreError> {
        let below_limit = usize::try_from(self.limit - at.min(self.limit)).unwrap_or(usize::MAX);
        let bytes = wanted.max(self.chunk_bytes).min(below_limit);
        if self.buffer.len() < bytes {
            self.buffer.resize(bytes, 0);
        }
        self.filled = 0;
        self.start = at;
        let read = self.file.read_at(&mut self.buffer[..bytes], at);
        self.filled = read.map_err(|error| StoreError::io("read", self.path, error))?;
        Ok(())
    }
}
