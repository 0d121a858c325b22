//! A handshake within its time: who sends one byte now and then ends no read, and would hold it up for as long as it likes.

use super::left;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

/// A socket whose reads and writes end at `deadline`, all of them together.
pub(super) struct Bounded<'a> {
    pub tcp: &'a TcpStream,
    pub deadline: Instant,
}

impl Bounded<'_> {
    fn begin(&self) -> io::Result<()> {
        if Instant::now() >= self.deadline {
            return Err(ErrorKind::TimedOut.into());
        }
        let left = Some(left(self.deadline));
        self.tcp.set_read_timeout(left).and_then(|()| self.tcp.set_write_timeout(left))
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.begin()?;
        self.tcp.read(buffer)
    }
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin()?;
        self.tcp.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}
