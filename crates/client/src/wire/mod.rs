//! A connection with deadlines, and the buffers before and behind it: TCP or TLS, and WebSocket over either.

mod carrier;
mod tls;
mod websocket;

use crate::address::Address;
use crate::error::ClientError;
use crate::tls_options::TlsOptions;
use carrier::Carrier;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
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
}

impl Wire {
    /// Connects to the first address of `address` that answers, and shakes hands as its scheme says.
    pub fn connect(address: &Address, options: &TlsOptions, deadline: Instant) -> Result<Self, ClientError> {
        // Before any packet leaves: a wrong file is the caller's mistake, whoever listens there.
        let config = if address.scheme.is_secure() { Some(tls::client_config(options)?) } else { None };
        let tcp = connect_tcp(address, deadline)?;
        let carrier = match config {
            None => Carrier::Tcp(tcp),
            Some(config) => Carrier::Tls(Box::new(tls::shake_hands(tcp, config, address, deadline)?)),
        };
        let stream = if address.scheme.is_websocket() {
            Stream::Messages(Box::new(WebSocketStream::open(carrier, address, deadline)?))
        } else {
            Stream::Bytes(carrier)
        };
        Ok(Self { stream, held: false, is_unheard: true, input: Vec::new(), output: Vec::new() })
    }

    /// Whether there are bytes that the socket has not got yet.
    pub fn is_unsent(&self) -> bool {
        self.held || !self.output.is_empty()
    }

    /// Writes all of `output`; false when the deadline came first.
    pub fn flush(&mut self, deadline: Instant) -> Result<bool, ClientError> {
        while self.is_unsent() {
            limit(self.tcp(), deadline).map_err(ClientError::Lost)?;
            match self.write_once() {
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
        self.tcp().set_nonblocking(true).map_err(ClientError::Lost)?;
        let written = self.write_once();
        self.tcp().set_nonblocking(false).map_err(ClientError::Lost)?;
        match written {
            Ok(()) => Ok(true),
            Err(error) if is_timeout(&error) || error.kind() == ErrorKind::Interrupted => {
                Ok(self.output.len() < before)
            }
            Err(error) => Err(tls::lost(error)),
        }
    }

    /// Reads what is there, or waits for it; false when the deadline came first.
    pub fn fill(&mut self, deadline: Instant) -> Result<bool, ClientError> {
        limit(self.tcp(), deadline).map_err(ClientError::Lost)?;
        self.read_once()
    }

    fn read_once(&mut self) -> Result<bool, ClientError> {
        let read = match &mut self.stream {
            Stream::Bytes(carrier) => read_bytes(carrier, &mut self.input),
            Stream::Messages(socket) => socket.read(&mut self.input),
        };
        match read {
            Ok(0) => Err(ClientError::Lost(ErrorKind::UnexpectedEof.into())),
            Ok(_) => self.hear().map(|()| true),
            Err(error) if is_timeout(&error) || error.kind() == ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(tls::lost(error)),
        }
    }

    /// The first bytes of a broker say whether TLS is spoken there: it answers a plain CONNECT with an alert.
    fn hear(&mut self) -> Result<(), ClientError> {
        let is_alert = matches!(self.stream, Stream::Bytes(Carrier::Tcp(_))) && self.input.starts_with(&TLS_ALERT);
        if std::mem::replace(&mut self.is_unheard, false) && is_alert {
            return Err(ClientError::Tls(
                "the broker speaks TLS at this address: use tls:// (wss:// for pages)".to_owned(),
            ));
        }
        Ok(())
    }

    /// From now on reads and writes never wait: `read_now` and `write_now` are for a thread that polls `fd`.
    pub fn unblock(&mut self) -> Result<(), ClientError> {
        self.tcp().set_nonblocking(true).map_err(ClientError::Lost)
    }

    /// Undoes `unblock`.
    pub fn block(&mut self) -> Result<(), ClientError> {
        self.tcp().set_nonblocking(false).map_err(ClientError::Lost)
    }

    /// What to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.tcp().as_fd()
    }

    /// Reads what is there, at most 64 KiB; false when that was nothing. After `unblock`.
    pub fn read_now(&mut self) -> Result<bool, ClientError> {
        self.read_once()
    }

    /// Writes what the socket takes. After `unblock`.
    pub fn write_now(&mut self) -> Result<(), ClientError> {
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
                *held = false;
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
        }
        Ok(())
    }

    fn tcp(&self) -> &TcpStream {
        match &self.stream {
            Stream::Bytes(carrier) => carrier.tcp(),
            Stream::Messages(socket) => socket.tcp(),
        }
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

/// Reads and writes end at `deadline`: TLS does both in either.
fn limit(tcp: &TcpStream, deadline: Instant) -> io::Result<()> {
    let left = Some(left(deadline));
    tcp.set_read_timeout(left)?;
    tcp.set_write_timeout(left)
}

/// What is left until `deadline`; never zero, which std would take for "for ever".
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_micros(1))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
