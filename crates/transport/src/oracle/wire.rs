//! One side of a stream in memory, which gives and takes in pieces.

use std::io::{self, ErrorKind, IoSlice, Read, Write};

/// A peer's bytes, and what it was told.
pub(super) struct Wire<'a> {
    incoming: &'a [u8],
    /// The most that one read gives and one write takes; at least 1.
    piece: usize,
    pub(super) outgoing: Vec<u8>,
    /// The next write is taken: every second one is not, where pieces are small.
    takes: bool,
}

impl<'a> Wire<'a> {
    pub(super) fn new(incoming: &'a [u8], piece: usize) -> Self {
        // Room enough, so that what is written is not counted as memory of the reader.
        Wire { incoming, piece: piece.max(1), outgoing: Vec::with_capacity(16 << 10), takes: true }
    }

    /// Bytes that nobody has read.
    pub(super) fn unread_bytes(&self) -> usize {
        self.incoming.len()
    }
}

impl Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.incoming.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let count = buffer.len().min(self.piece).min(self.incoming.len());
        let (now, later) = self.incoming.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.incoming = later;
        Ok(count)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.piece < usize::MAX && !std::mem::replace(&mut self.takes, false) {
            self.takes = true;
            return Err(ErrorKind::WouldBlock.into());
        }
        let mut room = self.piece;
        for slice in slices {
            let taken = slice.len().min(room);
            self.outgoing.extend_from_slice(&slice[..taken]);
            room -= taken;
        }
        Ok(self.piece - room)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
