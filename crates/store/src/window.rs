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
    /// What a chunk is after a leap, when chunks grow while it goes on without one.
    leap_bytes: Option<usize>,
    buffer: Vec<u8>,
    start: u64,
    filled: usize,
}

impl<'f> Window<'f> {
    /// Large enough that the system call does not count, small enough for the processor's cache.
    const CHUNK_BYTES: usize = 256 << 10;

    /// A view of the bytes below `limit`.
    pub(crate) fn new(file: &'f dyn DiskFile, path: &'f Path, limit: u64) -> Self {
        Self {
            file,
            path,
            limit,
            chunk_bytes: Self::CHUNK_BYTES,
            leap_bytes: None,
            buffer: Vec::new(),
            start: 0,
            filled: 0,
        }
    }

    /// The same with a first guess of how much will be read.
    pub(crate) fn with_chunk(mut self, chunk_bytes: u64) -> Self {
        self.chunk_bytes = chunk_bytes.clamp(4 << 10, Self::CHUNK_BYTES as u64) as usize;
        self
    }

    /// For looking here and there: a leap reads little, and going on from there more and more.
    pub(crate) fn for_leaps(mut self, leap_bytes: usize) -> Self {
        (self.chunk_bytes, self.leap_bytes) = (leap_bytes, Some(leap_bytes));
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
        if let Some(leap_bytes) = self.leap_bytes {
            let goes_on = self.filled > 0 && (self.start..=self.start + self.filled as u64).contains(&at);
            self.chunk_bytes = if goes_on { (self.chunk_bytes * 2).min(Self::CHUNK_BYTES) } else { leap_bytes };
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Access, Disk, OsDisk};
    use std::io::IoSlice;

    #[test]
    fn any_part_below_the_limit_is_shown_however_it_is_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        let file = OsDisk.open(&path, Access::Create).expect("a file");
        let contents: Vec<u8> = (0..900_000u32).map(|number| (number * 7 / 3) as u8).collect();
        file.write_at(&[IoSlice::new(&contents)], 0).expect("written");
        let limit = 890_001;
        let plain = Window::new(&*file, &path, limit);
        let chunked = Window::new(&*file, &path, limit).with_chunk(5000);
        let leaping = Window::new(&*file, &path, limit).for_leaps(8 << 10);
        for mut window in [plain, chunked, leaping] {
            for at in [0, 10, 9000, 8999, 20_000, 60_000, 300_000, 400_000, 889_990, 5, 890_001, 999_999] {
                for wanted in [0, 1, 64, 10_000, 400_000] {
                    let expected = &contents
                        [at.min(limit as usize)..(at + wanted).min(limit as usize).max(at.min(limit as usize))];
                    assert_eq!(window.slice(at as u64, wanted).expect("read"), expected, "{wanted} at {at}");
                }
            }
        }
    }
}
