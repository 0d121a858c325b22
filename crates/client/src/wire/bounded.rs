//! A socket that gives its time by turns: what lies above it (TLS, WebSocket) reads until it has something to say, and a peer
//! that sends single bytes, or records and frames without content, would have it read for as long as that peer likes.

use super::left;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

/// Reads of one turn that do not look at the clock: what is there already is heard, and no more than this. TLS asks for 4 KiB at a
/// time, so that this is a turn's 64 KiB.
const READS_FREE: u32 = 16;

/// A socket with the bounds of the turn that it is in. What goes beyond them is refused as if nothing had come in time.
///
/// Writes are bounded by what there is to say; where they wait, they end with the turn.
#[derive(Debug)]
pub(crate) struct Bounded {
    tcp: TcpStream,
    /// When a turn that waits ends. None: nothing waits in it.
    until: Option<Instant>,
    /// Reads that may still be made, whatever the time.
    reads_left: u32,
}

impl Bounded {
    /// A socket that waits, in its first turn.
    pub fn new(tcp: TcpStream, until: Instant) -> Self {
        Self { tcp, until: Some(until), reads_left: READS_FREE }
    }

    /// The socket itself, for polls.
    pub fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    /// A new turn, in which reads and writes wait until then, all of them together. For a socket that blocks.
    pub fn wait_until(&mut self, until: Instant) {
        (self.until, self.reads_left) = (Some(until), READS_FREE);
    }

    /// A new turn in which nothing waits. For a socket that does not block.
    pub fn read_now(&mut self) {
        (self.until, self.reads_left) = (None, READS_FREE);
    }

    /// The same, and nothing is read: who writes does not look whether TLS has read something meanwhile, and no poll shows it.
    pub fn write_now(&mut self) {
        (self.until, self.reads_left) = (None, 0);
    }

    fn begin_read(&mut self) -> io::Result<()> {
        match (self.until, self.reads_left.checked_sub(1)) {
            (Some(until), None) if Instant::now() >= until => return Err(ErrorKind::TimedOut.into()),
            (None, None) => return Err(ErrorKind::WouldBlock.into()),
            (_, reads_left) => self.reads_left = reads_left.unwrap_or(0),
        }
        self.until.map_or(Ok(()), |until| self.tcp.set_read_timeout(Some(left(until))))
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.begin_read()?;
        self.tcp.read(buffer)
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.until.map_or(Ok(()), |until| self.tcp.set_write_timeout(Some(left(until))))?;
        self.tcp.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::time::Duration;

    const PATIENCE: Duration = Duration::from_secs(30);

    /// A socket, and its peer, which has sent so many bytes.
    fn sent(bytes: u32) -> (Bounded, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(&vec![7; bytes as usize]).unwrap();
        let bounded = Bounded::new(tcp, Instant::now() + PATIENCE);
        // They are there.
        assert_eq!(bounded.tcp.peek(&mut [0; 1]).unwrap(), 1);
        (bounded, peer)
    }

    /// How many single bytes one turn reads, and how it says that it reads no more.
    fn reads(bounded: &mut Bounded) -> (u32, ErrorKind) {
        let mut count = 0;
        loop {
            match bounded.read(&mut [0; 1]) {
                Ok(1) => count += 1,
                Ok(other) => panic!("{other} bytes"),
                Err(error) => return (count, error.kind()),
            }
        }
    }

    /// Is what is there heard when time is over, and no more than a turn's share of it; and all of it in time?
    #[test]
    fn a_turn_that_waits() {
        let (mut bounded, _peer) = sent(3 * READS_FREE);
        bounded.wait_until(Instant::now());
        assert_eq!(reads(&mut bounded), (READS_FREE, ErrorKind::TimedOut));
        bounded.wait_until(Instant::now() + PATIENCE);
        for _ in 0..2 * READS_FREE {
            assert_eq!(bounded.read(&mut [0; 1]).unwrap(), 1);
        }
        bounded.wait_until(Instant::now());
        assert_eq!(reads(&mut bounded).0, 0, "nothing is left");
    }

    /// Does a turn of who has others to serve end, however much there is, and read nothing while it writes?
    #[test]
    fn a_turn_that_does_not_wait() {
        let (mut bounded, mut peer) = sent(2 * READS_FREE);
        bounded.tcp.set_nonblocking(true).unwrap();
        bounded.write_now();
        assert_eq!(reads(&mut bounded), (0, ErrorKind::WouldBlock));
        assert_eq!(bounded.write(&[1, 2]).unwrap(), 2);
        peer.read_exact(&mut [0; 2]).unwrap();
        for _ in 0..2 {
            bounded.read_now();
            assert_eq!(reads(&mut bounded), (READS_FREE, ErrorKind::WouldBlock));
        }
    }
}
