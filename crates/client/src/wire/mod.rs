//! A connection with deadlines, and the buffers before and behind it: TCP or TLS, WebSocket over either, or MQTT-SN.

mod bounded;
mod carrier;
mod datagrams;
mod socket;
#[cfg(test)]
mod tests;
mod tls;
mod websocket;

use crate::address::Address;
use crate::error::ClientError;
use crate::tls_options::TlsOptions;
use bounded::Bounded;
use carrier::Carrier;
use datagrams::Datagrams;
use lapwing_codec::Ack;
use socket::Socket;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};
use websocket::WebSocketStream;

/// Bytes asked of the socket at a time.
const READ_BYTES: usize = 64 << 10;
/// What an alert of TLS begins with: its type, and the first half of any version.
const TLS_ALERT: [u8; 2] = [0x15, 0x03];

#[derive(Debug)]
pub(crate) struct Wire {
    stream: Stream,
    /// TLS or WebSocket hold bytes that the socket did not take.
    held: bool,
    /// Nothing has come as yet.
    is_unheard: bool,
    pub input: Vec<u8>,
    pub output: Vec<u8>,
}

/// What carries the bytes of MQTT.
#[derive(Debug)]
enum Stream {
    Bytes(Carrier),
    Messages(Box<WebSocketStream>),
    Datagrams(Box<Datagrams>),
}

impl Wire {
    /// Connects to the first address of `address` that answers, and shakes hands as its scheme says.
    pub fn connect(address: &Address, options: &TlsOptions, deadline: Instant) -> Result<Self, ClientError> {
        if address.scheme.is_sn() {
            return Datagrams::open(address).map(|datagrams| Self::over(Stream::Datagrams(Box::new(datagrams))));
        }
        // Before any packet leaves: a wrong file is the caller's mistake, whoever listens there.
        let config = if address.scheme.is_secure() { Some(tls::client_config(options)?) } else { None };
        let tcp = Bounded::new(connect_tcp(address, deadline)?, deadline);
        let carrier = match config {
            None => Carrier::Tcp(tcp),
            Some(config) => Carrier::Tls(Box::new(tls::shake_hands(tcp, config, address, deadline)?)),
        };
        let stream = if address.scheme.is_websocket() {
            Stream::Messages(Box::new(WebSocketStream::open(carrier, address, deadline)?))
        } else {
            Stream::Bytes(carrier)
        };
        Ok(Self::over(stream))
    }

    fn over(stream: Stream) -> Self {
        Self { stream, held: false, is_unheard: true, input: Vec::new(), output: Vec::new() }
    }

    /// Whether there are bytes that have not gone yet: the socket took no more, or over MQTT-SN their turn has not come.
    pub fn is_unsent(&self) -> bool {
        self.held || !self.output.is_empty() || self.datagrams().is_some_and(Datagrams::is_unsent)
    }

    /// Whether the socket is to be polled for room.
    pub fn wants_room(&self) -> bool {
        match self.datagrams() {
            Some(datagrams) => datagrams.is_full(),
            None => self.is_unsent(),
        }
    }

    /// Whether what is unsent may wait for answers, which somebody has to read: MQTT-SN sends one message at a time.
    pub fn waits_for_answers(&self) -> bool {
        self.datagrams().is_some()
    }

    /// Bytes of packets that have not gone.
    pub fn backlog(&self) -> usize {
        self.output.len() + self.datagrams().map_or(0, Datagrams::waiting_bytes)
    }

    /// When `write_now` has something to send again, over MQTT-SN.
    pub fn next_wake(&self) -> Option<Instant> {
        self.datagrams()?.next_wake()
    }

    /// Publishes that the broker refused since the last call, over MQTT-SN; elsewhere a packet says so.
    pub fn take_refusals(&mut self) -> Vec<Ack<'static>> {
        if let Stream::Datagrams(datagrams) = &mut self.stream { datagrams.take_refusals() } else { Vec::new() }
    }

    fn datagrams(&self) -> Option<&Datagrams> {
        if let Stream::Datagrams(datagrams) = &self.stream { Some(datagrams) } else { None }
    }

    /// Writes all of `output`; false when the deadline came first. Over MQTT-SN the answers are read that this needs, and
    /// what else comes with them lies in `input`: that is for who says goodbye.
    pub fn flush(&mut self, deadline: Instant) -> Result<bool, ClientError> {
        if let Stream::Datagrams(datagrams) = &mut self.stream {
            return flush_datagrams(datagrams, &mut self.output, &mut self.input, deadline);
        }
        while self.is_unsent() {
            self.wait_until(deadline)?;
            let before = self.output.len();
            match self.write_once() {
                // TLS has read something while the socket took nothing: that may go on for ever.
                Ok(()) if self.is_unsent() && self.output.len() == before && Instant::now() >= deadline => {
                    return Ok(false);
                }
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) && Instant::now() >= deadline => return Ok(false),
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(tls::lost(error)),
            }
        }
        Ok(true)
    }

    /// Writes what the socket takes without waiting; false when that was nothing.
    pub fn write_some(&mut self) -> Result<bool, ClientError> {
        let before = self.output.len();
        self.unblock()?;
        let written = match &mut self.stream {
            Stream::Datagrams(datagrams) => {
                let written = datagrams.write(&mut self.output);
                self.block()?;
                return written.map(|()| true);
            }
            _ => self.write_once(),
        };
        self.block()?;
        match written {
            Ok(()) => Ok(true),
            Err(error) if is_timeout(&error) || error.kind() == ErrorKind::Interrupted => {
                Ok(self.output.len() < before)
            }
            Err(error) => Err(tls::lost(error)),
        }
    }

    /// Reads what is there, or waits for it; false when the deadline came first, also where what comes all the while says
    /// nothing (records without content, half a message).
    pub fn fill(&mut self, deadline: Instant) -> Result<bool, ClientError> {
        self.wait_until(deadline)?;
        self.read_once()
    }

    fn read_once(&mut self) -> Result<bool, ClientError> {
        let read = match &mut self.stream {
            Stream::Bytes(carrier) => read_bytes(carrier, &mut self.input).map(Some),
            Stream::Messages(socket) => socket.read(&mut self.input),
            Stream::Datagrams(datagrams) => return datagrams.read(&mut self.input),
        };
        match read {
            Ok(Some(0)) => Err(ClientError::Lost(ErrorKind::UnexpectedEof.into())),
            Ok(_) => self.hear().map(|()| true),
            Err(error) if is_timeout(&error) || error.kind() == ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(tls::lost(error)),
        }
    }

    /// The first bytes of a broker say whether something else is spoken there: TLS answers a plain CONNECT with an alert,
    /// HTTP with a status line.
    fn hear(&mut self) -> Result<(), ClientError> {
        let is_first = std::mem::replace(&mut self.is_unheard, false);
        if !is_first || !matches!(self.stream, Stream::Bytes(Carrier::Tcp(_))) {
            return Ok(());
        }
        if self.input.starts_with(&TLS_ALERT) {
            return Err(ClientError::Tls(
                "the broker speaks TLS at this address: use tls:// (wss:// for pages)".to_owned(),
            ));
        }
        if self.input.starts_with(b"HTTP/") {
            let what = "HTTP is spoken at this address: use the one that the broker prints for MQTT (ws:// for pages)";
            return Err(ClientError::Invalid(what.to_owned()));
        }
        Ok(())
    }

    /// From now on reads and writes never wait: `read_now` and `write_now` are for a thread that polls `fd`.
    pub fn unblock(&mut self) -> Result<(), ClientError> {
        self.begin(Bounded::write_now);
        self.socket().set_nonblocking(true).map_err(ClientError::Lost)
    }

    /// Undoes `unblock`.
    pub fn block(&mut self) -> Result<(), ClientError> {
        self.socket().set_nonblocking(false).map_err(ClientError::Lost)
    }

    /// What to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket().fd()
    }

    /// Reads a turn's share of what is there, about 64 KiB; false when nothing has come of it as yet. After `unblock`.
    pub fn read_now(&mut self) -> Result<bool, ClientError> {
        self.begin(Bounded::read_now);
        self.read_once()
    }

    /// Writes what the socket takes. After `unblock`, or where nobody minds to wait a moment.
    pub fn write_now(&mut self) -> Result<(), ClientError> {
        if let Stream::Datagrams(datagrams) = &mut self.stream {
            return datagrams.write(&mut self.output);
        }
        self.begin(Bounded::write_now);
        while self.is_unsent() {
            match self.write_once() {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => return Ok(()),
                Err(error) => return Err(tls::lost(error)),
            }
        }
        Ok(())
    }

    /// One write, and the flush of what a layer below holds.
    fn write_once(&mut self) -> io::Result<()> {
        let Self { stream, held, output, .. } = self;
        match stream {
            Stream::Bytes(Carrier::Tcp(tcp)) => drop(output.drain(..some(tcp.write(output)?)?)),
            Stream::Bytes(Carrier::Tls(tls)) => {
                // What waits goes first: otherwise what TLS holds would grow with every call.
                tls.flush()?;
                if !output.is_empty() {
                    let written = some(tls.write(output)?)?;
                    output.drain(..written);
                    *held = true;
                }
                tls.flush()?;
                // Where the socket takes nothing it is read, and a flush that has read says that it is done.
                *held = tls.conn.wants_write();
            }
            Stream::Messages(socket) => {
                socket.flush()?;
                if !output.is_empty() {
                    let written = socket.write(output)?;
                    output.drain(..written);
                    *held = true;
                }
                socket.flush()?;
                *held = false;
            }
            // Its writes say more than an error of I/O can: see who calls this.
            Stream::Datagrams(_) => {}
        }
        Ok(())
    }

    /// Reads and writes wait until then, all of them together.
    fn wait_until(&mut self, deadline: Instant) -> Result<(), ClientError> {
        self.begin(|socket| socket.wait_until(deadline));
        self.datagrams().map_or(Ok(()), |datagrams| datagrams.wait_until(deadline))
    }

    /// Begins a turn of the socket. Over MQTT-SN there are none: one call reads one datagram.
    fn begin(&mut self, turn: impl FnOnce(&mut Bounded)) {
        match &mut self.stream {
            Stream::Bytes(carrier) => turn(carrier.socket_mut()),
            Stream::Messages(socket) => turn(socket.socket_mut()),
            Stream::Datagrams(_) => {}
        }
    }

    fn socket(&self) -> Socket<'_> {
        match &self.stream {
            Stream::Bytes(carrier) => Socket::Tcp(carrier.socket().tcp()),
            Stream::Messages(socket) => Socket::Tcp(socket.socket().tcp()),
            Stream::Datagrams(datagrams) => datagrams.socket(),
        }
    }
}

fn flush_datagrams(
    datagrams: &mut Datagrams,
    output: &mut Vec<u8>,
    input: &mut Vec<u8>,
    deadline: Instant,
) -> Result<bool, ClientError> {
    loop {
        datagrams.write(output)?;
        if !datagrams.is_unsent() {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        let until = datagrams.next_wake().map_or(deadline, |at| at.min(deadline));
        datagrams.wait_until(until)?;
        datagrams.read(input)?;
    }
}

fn connect_tcp(address: &Address, deadline: Instant) -> Result<TcpStream, ClientError> {
    let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
    for socket in address.resolve()? {
        match TcpStream::connect_timeout(&socket, left(deadline)) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(ClientError::Lost)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(address.unreachable(last))
}

fn read_bytes(carrier: &mut Carrier, input: &mut Vec<u8>) -> io::Result<usize> {
    let old = input.len();
    input.resize(old + READ_BYTES, 0);
    let read = carrier.read(&mut input[old..]);
    input.truncate(old + read.as_ref().map_or(0, |count| *count));
    read
}

fn some(written: usize) -> io::Result<usize> {
    if written == 0 { Err(ErrorKind::WriteZero.into()) } else { Ok(written) }
}

/// What is left until `deadline`; never zero, which std would take for "for ever".
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_micros(1))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
