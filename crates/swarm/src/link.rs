//! One non-blocking connection with its buffers, TCP or MQTT-SN; used by simulated clients and by the sink.
//!
//! Rules: the poll is edge triggered, so a caller reads until `Drained` and writes until `backlog` is 0 or the
//! socket is full. Bytes of a packet that is not whole wait in `rest`, so an idle connection holds no buffer.

use crate::datagrams::{DATAGRAM_BYTES, Datagrams};
use lapwing_client::ClientError;
use lapwing_sn::peer::Phase;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

/// Bytes asked of the socket at a time, at least.
const READ_BYTES: usize = 64 << 10;
/// A buffer that grew beyond this is given back when it is empty.
const KEEP_BYTES: usize = 16 << 10;

/// Whether there may be more to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drained {
    Yes,
    No,
}

/// Where the gateway or the broker is, and what is spoken there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub address: SocketAddr,
    pub is_sn: bool,
}

#[derive(Debug)]
enum Carrier {
    Tcp(TcpStream),
    Sn(Box<Datagrams>),
}

#[derive(Debug)]
pub(crate) struct Link {
    carrier: Carrier,
    /// What is to be written; append here, then `flush`.
    pub output: Vec<u8>,
    written: usize,
    rest: Vec<u8>,
    /// The socket took no more; the next writable event clears it.
    full: bool,
}

impl Link {
    /// Begins to connect; the first writable event says that it is done, `established` whether it worked.
    pub fn dial(target: Target, source: Option<IpAddr>) -> io::Result<Self> {
        let Target { address, is_sn } = target;
        if is_sn {
            return Datagrams::open(address, source).map(|datagrams| Self::over(Carrier::Sn(Box::new(datagrams))));
        }
        let socket =
            Socket::new(Domain::for_address(address), Type::STREAM.nonblocking().cloexec(), Some(Protocol::TCP))?;
        if let Some(source) = source {
            // Without this the port is chosen at `bind`, when the kernel does not know yet that the pair
            // (source, destination) may use it again.
            choose_port_at_connect(&socket)?;
            socket.bind(&SocketAddr::new(source, 0).into())?;
        }
        match socket.connect(&address.into()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
            Err(error) => return Err(error),
        }
        Self::new(TcpStream::from_std(socket.into()))
    }

    /// Takes over a connected (or connecting) stream.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self::over(Carrier::Tcp(stream)))
    }

    fn over(carrier: Carrier) -> Self {
        Self { carrier, output: Vec::new(), written: 0, rest: Vec::new(), full: false }
    }

    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        match &mut self.carrier {
            Carrier::Tcp(stream) => registry.register(stream, token, interest),
            Carrier::Sn(datagrams) => registry.register(&mut datagrams.socket, token, interest),
        }
    }

    /// After the first writable event: connected, or why not; `false` when it is not decided yet.
    pub fn established(&self) -> io::Result<bool> {
        // Over MQTT-SN the answer to CONNECT says it.
        let Carrier::Tcp(stream) = &self.carrier else { return Ok(true) };
        if let Some(error) = stream.take_error()? {
            return Err(error);
        }
        match stream.peer_addr() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Bytes that wait for the socket, or for their turn.
    #[inline]
    pub fn backlog(&self) -> usize {
        let waiting = if let Carrier::Sn(datagrams) = &self.carrier { datagrams.waiting_bytes() } else { 0 };
        self.output.len() - self.written + waiting
    }

    /// Over MQTT-SN: sends again what is overdue.
    pub fn tick(&mut self) -> Result<(), ClientError> {
        if let Carrier::Sn(datagrams) = &mut self.carrier {
            self.full = !datagrams.tick()?;
        }
        Ok(())
    }

    /// Over MQTT-SN: goes to sleep for at most `duration_s`; the next flush says so.
    pub fn sleep(&mut self, duration_s: u16) -> Result<(), ClientError> {
        match &mut self.carrier {
            Carrier::Sn(datagrams) => datagrams.sleep(duration_s),
            Carrier::Tcp(_) => Err(ClientError::Invalid("only clients of MQTT-SN sleep".to_owned())),
        }
    }

    /// Over MQTT-SN: one that sleeps awakes; the next flush says so.
    pub fn awake(&mut self) -> Result<(), ClientError> {
        match &mut self.carrier {
            Carrier::Sn(datagrams) => datagrams.awake(),
            Carrier::Tcp(_) => Err(ClientError::Invalid("only clients of MQTT-SN sleep".to_owned())),
        }
    }

    /// Whether a client of MQTT-SN sleeps; one over TCP is active.
    pub fn state(&self) -> Phase {
        if let Carrier::Sn(datagrams) = &self.carrier { datagrams.state() } else { Phase::Active }
    }

    /// True while the socket takes no more.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// A writable event came.
    pub fn writable(&mut self) -> Result<(), ClientError> {
        self.full = false;
        self.flush()
    }

    /// Writes until nothing is left or the socket is full.
    pub fn flush(&mut self) -> Result<(), ClientError> {
        if self.full {
            return Ok(());
        }
        let stream = match &mut self.carrier {
            Carrier::Tcp(stream) => stream,
            Carrier::Sn(datagrams) => {
                self.full = !datagrams.write(&mut self.output)?;
                return Ok(());
            }
        };
        while self.written < self.output.len() {
            match stream.write(&self.output[self.written..]) {
                Ok(0) => return Err(ClientError::Lost(ErrorKind::WriteZero.into())),
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.output.drain(..self.written);
                    self.written = 0;
                    self.full = true;
                    return Ok(());
                }
                Err(error) => return Err(ClientError::Lost(error)),
            }
        }
        self.written = 0;
        reset(&mut self.output);
        Ok(())
    }

    /// Reads once; `handle` gets the bytes and the output, and says how many bytes it used up.
    pub fn receive(
        &mut self,
        scratch: &mut Vec<u8>,
        handle: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<usize, ClientError>,
    ) -> Result<Drained, ClientError> {
        let stream = match &mut self.carrier {
            Carrier::Tcp(stream) => stream,
            Carrier::Sn(datagrams) => {
                if scratch.len() < DATAGRAM_BYTES {
                    scratch.resize(DATAGRAM_BYTES, 0);
                }
                if !datagrams.read(scratch, &mut self.rest)? {
                    return Ok(Drained::Yes);
                }
                let used = handle(&self.rest, &mut self.output)?;
                self.rest.drain(..used);
                return self.flush().map(|()| Drained::No);
            }
        };
        let kept = self.rest.len();
        // As much again as there is already, so that a large packet is not copied once per read.
        let end = kept + READ_BYTES.max(kept);
        if scratch.len() < end {
            scratch.resize(end, 0);
        }
        scratch[..kept].copy_from_slice(&self.rest);
        match stream.read(&mut scratch[kept..end]) {
            Ok(0) => Err(ClientError::Lost(ErrorKind::UnexpectedEof.into())),
            Ok(count) => {
                let bytes = &scratch[..kept + count];
                let used = handle(bytes, &mut self.output)?;
                reset(&mut self.rest);
                self.rest.extend_from_slice(&bytes[used..]);
                Ok(if kept + count == end { Drained::No } else { Drained::Yes })
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Drained::Yes),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Drained::No),
            Err(error) => Err(ClientError::Lost(error)),
        }
    }
}

fn choose_port_at_connect(socket: &Socket) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open for as long as `socket` lives; the value is read during the call only, and its
    // size is the one given.
    let answer = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn reset(buffer: &mut Vec<u8>) {
    if buffer.capacity() > KEEP_BYTES * 8 {
        *buffer = Vec::with_capacity(KEEP_BYTES);
    } else {
        buffer.clear();
    }
}
