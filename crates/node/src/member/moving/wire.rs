//! A connection for snapshots, on a thread of its own that waits for it.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lapwing_peer::{EncodeError, Fault, Frame, NodeId, Parsed, Stage, parse};
use lapwing_transport::{PeerProtocol, PeerStream, PeerTls};
use mio::{Events, Poll, Token};
use thiserror::Error;

/// Bytes of the longest frame, behind its header: a chunk has one record at least, however large.
const FRAME_BYTES_MAX: usize = 560 << 20;
/// Bytes read at a time.
const READ_BYTES: usize = 256 << 10;
/// How often a thread that waits looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long the other node may take to take what was written.
const WRITE_MAX: Duration = Duration::from_secs(20);

/// Why a connection is over.
#[derive(Debug, Error)]
pub(super) enum Broken {
    /// The network, or TLS.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The other node has ended it.
    #[error("it has ended the connection")]
    Ended,
    /// It says nothing, or takes nothing.
    #[error("it is silent")]
    Silent,
    /// No frame, or not the one that comes here.
    #[error("{0}")]
    Fault(#[from] Fault),
    /// It is not the node that it should be.
    #[error("it is another node")]
    OtherNode,
    /// What no frame can have: a defect.
    #[error("{0}")]
    Encode(#[from] EncodeError),
    /// This node ends.
    #[error("this node ends")]
    Stopping,
}

/// The connection.
pub(super) struct Wire {
    stream: PeerStream,
    poll: Poll,
    events: Events,
    /// Read, and not taken.
    input: Vec<u8>,
    /// To be written.
    output: Vec<u8>,
    /// This node ends.
    stopping: Arc<AtomicBool>,
}

impl Wire {
    /// Goes on with a connection that somebody else has begun: `input` was read and not taken, `output` not written.
    pub(super) fn new(
        mut stream: PeerStream,
        (input, output): (Vec<u8>, Vec<u8>),
        stopping: Arc<AtomicBool>,
    ) -> Result<Wire, Broken> {
        let poll = Poll::new()?;
        stream.register(poll.registry(), Token(0))?;
        Ok(Wire { stream, poll, events: Events::with_capacity(4), input, output, stopping })
    }

    /// Connects to a node, and shakes hands.
    pub(super) fn connect(
        (node, address): (NodeId, SocketAddr),
        tls: &PeerTls,
        stopping: Arc<AtomicBool>,
    ) -> Result<Wire, Broken> {
        let stream = PeerStream::connect(address, tls, Some(node.value()))?;
        let mut wire = Wire::new(stream, (vec![], vec![]), stopping)?;
        let deadline = Instant::now() + WRITE_MAX;
        while wire.stream.is_shaking() {
            if !wire.read()? {
                wire.wait(deadline)?;
            }
        }
        let is_it = wire.stream.peer().is_some_and(|name| name.node() == node.value());
        match is_it && wire.stream.protocol() == Some(PeerProtocol::Node) {
            true => Ok(wire),
            false => Err(Broken::OtherNode),
        }
    }

    /// Sends a frame.
    pub(super) fn send(&mut self, frame: &Frame<'_>) -> Result<(), Broken> {
        frame.encode(FRAME_BYTES_MAX, &mut self.output)?;
        self.flush()
    }

    /// Sends a frame that others have made.
    pub(super) fn send_bytes(&mut self, frame: &[u8]) -> Result<(), Broken> {
        self.output.extend_from_slice(frame);
        self.flush()
    }

    /// Waits for a frame, `patience` at the longest between two signs of life.
    pub(super) fn receive<T>(
        &mut self,
        stage: Stage,
        patience: Duration,
        take: impl FnOnce(&Frame<'_>) -> T,
    ) -> Result<T, Broken> {
        let mut deadline = Instant::now() + patience;
        loop {
            if let Parsed::Frame(frame, bytes) = parse(&self.input, stage, FRAME_BYTES_MAX)? {
                let taken = take(&frame);
                self.input.drain(..bytes);
                return Ok(taken);
            }
            match self.read()? {
                true => deadline = Instant::now() + patience,
                false => self.wait(deadline)?,
            }
        }
    }

    /// Ends this side, behind what was written.
    pub(super) fn end(mut self) {
        self.stream.shutdown();
    }

    /// Reads what is there; false: nothing.
    fn read(&mut self) -> Result<bool, Broken> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(Broken::Ended),
                Ok(count) => {
                    self.input.extend_from_slice(&buffer[..count]);
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock && self.stream.may_hold_more() => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn flush(&mut self) -> Result<(), Broken> {
        let (mut written, mut deadline) = (0, Instant::now() + WRITE_MAX);
        loop {
            let before = written;
            while written < self.output.len() {
                match self.stream.write(&self.output[written..]) {
                    Ok(count) => written += count,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error.into()),
                }
            }
            match self.stream.flush() {
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
                _ if written == self.output.len() && !self.stream.wants_write() => break,
                _ => {}
            }
            if written > before {
                deadline = Instant::now() + WRITE_MAX;
            }
            self.wait(deadline)?;
        }
        self.output.clear();
        Ok(())
    }

    /// Waits for the kernel, and no longer than this.
    fn wait(&mut self, deadline: Instant) -> Result<(), Broken> {
        if self.stopping.load(Ordering::Relaxed) {
            return Err(Broken::Stopping);
        }
        if Instant::now() > deadline {
            return Err(Broken::Silent);
        }
        match self.poll.poll(&mut self.events, Some(LOOK_EVERY)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => Err(error.into()),
            _ => Ok(()),
        }
    }
}
