//! A TCP stream with deadlines, and the buffers before and behind it.

use crate::address::Address;
use crate::error::ClientError;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Bytes asked of the socket at a time.
const READ_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    pub input: Vec<u8>,
    pub output: Vec<u8>,
}

impl Wire {
    /// Connects to the first address of `address` that answers.
    pub fn connect(address: &Address, deadline: Instant) -> Result<Self, ClientError> {
        let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
        for socket in address.resolve()? {
            match TcpStream::connect_timeout(&socket, left(deadline)) {
                Ok(stream) => {
                    stream.set_nodelay(true).map_err(ClientError::Lost)?;
                    return Ok(Self { stream, input: Vec::new(), output: Vec::new() });
                }
                Err(error) => last = error,
            }
        }
        Err(address.unreachable(last))
    }

    /// Writes all of `output`; false when the deadline came first.
    pub fn flush(&mut self, deadline: Instant) -> Result<bool, ClientError> {
        while !self.output.is_empty() {
            self.stream.set_write_timeout(Some(left(deadline))).map_err(ClientError::Lost)?;
            match self.stream.write(&self.output) {
                Ok(0) => return Err(ClientError::Lost(ErrorKind::WriteZero.into())),
                Ok(written) => drop(self.output.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) && Instant::now() >= deadline => return Ok(false),
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(ClientError::Lost(error)),
            }
        }
        Ok(true)
    }

    /// Writes what the socket takes without waiting; false when that was nothing.
    pub fn write_some(&mut self) -> Result<bool, ClientError> {
        self.stream.set_nonblocking(true).map_err(ClientError::Lost)?;
        let written = self.stream.write(&self.output);
        self.stream.set_nonblocking(false).map_err(ClientError::Lost)?;
        match written {
            Ok(0) => Err(ClientError::Lost(ErrorKind::WriteZero.into())),
            Ok(written) => {
                self.output.drain(..written);
                Ok(true)
            }
            Err(error) if is_timeout(&error) || error.kind() == ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(ClientError::Lost(error)),
        }
    }

    /// Reads what is there, or waits for it; false when the deadline came first.
    pub fn fill(&mut self, deadline: Instant) -> Result<bool, ClientError> {
        let old = self.input.len();
        self.stream.set_read_timeout(Some(left(deadline))).map_err(ClientError::Lost)?;
        self.input.resize(old + READ_BYTES, 0);
        let read = self.stream.read(&mut self.input[old..]);
        self.input.truncate(old + read.as_ref().map_or(0, |count| *count));
        match read {
            Ok(0) => Err(ClientError::Lost(ErrorKind::UnexpectedEof.into())),
            Ok(_) => Ok(true),
            Err(error) if is_timeout(&error) || error.kind() == ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(ClientError::Lost(error)),
        }
    }
}

/// What is left until `deadline`; never zero, which std would take for "for ever".
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_micros(1))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
