//! One connection: bytes out, packets in, each against its books; it never blocks.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Instant;

use lapwing_codec::{Limits, Packet, Sender, Version, decode};

use crate::books::{Books, Heard};
use crate::id_books::{IdBooks, Messages, told};
use crate::run::PATIENCE;

/// A connection of one of the client ids.
pub struct Line {
    /// Index of the client id.
    pub id: usize,
    /// The protocol.
    pub version: Version,
    /// What may come.
    pub books: Books,
    stream: TcpStream,
    /// Written with the next bytes.
    outbox: Vec<u8>,
    input: Vec<u8>,
    is_over: bool,
    /// The end came as a reset: bytes may be lost with it.
    is_reset: bool,
}

impl Line {
    /// Connects; nothing is said yet.
    ///
    /// # Errors
    /// The node does not listen.
    pub fn open(url: &str, id: usize, version: Version, books: Books) -> Result<Line, String> {
        let address: SocketAddr =
            url.trim_start_matches("tcp://").parse().map_err(|error| format!("{url}: {error}"))?;
        let stream = TcpStream::connect(address).map_err(|error| format!("connect: {error}"))?;
        stream.set_nodelay(true).map_err(|error| format!("socket: {error}"))?;
        stream.set_nonblocking(true).map_err(|error| format!("socket: {error}"))?;
        let (outbox, input) = (Vec::new(), Vec::new());
        Ok(Line { id, version, books, stream, outbox, input, is_over: false, is_reset: false })
    }

    /// Puts a packet behind what is to be written.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn put(&mut self, packet: &Packet<'_>) -> Result<(), String> {
        packet.encode(self.version, &mut self.outbox).map_err(|error| format!("{packet:?}: {error}"))
    }

    /// Puts bytes behind what is to be written.
    pub fn put_bytes(&mut self, bytes: &[u8]) {
        self.outbox.extend_from_slice(bytes);
    }

    /// Writes everything. What a node that closes does not take is lost, as it would be.
    ///
    /// # Errors
    /// The kernel's.
    pub fn flush(&mut self) -> Result<(), String> {
        let outbox = std::mem::take(&mut self.outbox);
        let mut rest = &outbox[..];
        let begun = Instant::now();
        while !rest.is_empty() && !self.is_over {
            match self.stream.write(rest) {
                Ok(written) => rest = &rest[written..],
                // The node may wait for us to read before it reads on.
                Err(error) if error.kind() == ErrorKind::WouldBlock && begun.elapsed() < PATIENCE => self.read()?,
                Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => break,
                Err(error) => return Err(format!("write: {error}")),
            }
        }
        Ok(())
    }

    /// The client's half of the stream ends.
    pub fn shut(&self) {
        // It may be closed from the other side already.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The stream has ended, and all that came is in the books.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Nothing is to be waited for: it has ended, or the client was greeted and all its PINGREQs are answered.
    pub fn is_settled(&self) -> bool {
        let causes = self.books.causes;
        let must_end = causes.left || causes.broke || causes.stopped;
        self.is_over || !must_end && self.books.greeted.is_some() && self.books.pings == 0
    }

    /// Takes what is there; returns whether something was.
    ///
    /// # Errors
    /// It cannot be right.
    pub fn listen(&mut self, id: &mut IdBooks, messages: &mut Messages, heard: &mut Heard) -> Result<bool, String> {
        if self.is_over {
            return Ok(false);
        }
        let before = self.input.len();
        self.read()?;
        let is_news = self.is_over || self.input.len() > before;
        let input = std::mem::take(&mut self.input);
        let mut at = 0;
        while at < input.len() {
            let decoded = decode(&input[at..], self.version, &Limits::PROTOCOL)
                .map_err(|error| format!("the node sends {:02x?}: {error}", &input[at..input.len().min(at + 64)]))?;
            let Some((packet, len)) = decoded else { break };
            let legal = packet.check_sender(Sender::Server).map_err(|error| error.to_string());
            legal
                .and_then(|()| self.books.hear(&packet, id, messages, heard))
                .map_err(|what| format!("client {} is sent {}: {what}", self.id, told(&packet)))?;
            at += len;
        }
        self.input = input[at..].to_vec();
        if self.is_over {
            self.judge_end()?;
        }
        Ok(is_news)
    }

    fn judge_end(&self) -> Result<(), String> {
        // What a stopped node or a reset cuts off is lost anywhere.
        if !self.input.is_empty() && !self.is_reset && !self.books.causes.stopped {
            return Err(format!("client {}: the stream ends within a packet: {:02x?}", self.id, self.input));
        }
        self.books.over().map_err(|what| format!("client {}: {what}", self.id))
    }

    /// Reads what is there, into `input`.
    fn read(&mut self) -> Result<(), String> {
        let mut chunk = [0; 16384];
        while !self.is_over {
            match self.stream.read(&mut chunk) {
                Ok(0) => self.is_over = true,
                Ok(read) => self.input.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => {
                    (self.is_over, self.is_reset) = (true, true);
                }
                Err(error) => return Err(format!("read: {error}")),
            }
        }
        Ok(())
    }
}
