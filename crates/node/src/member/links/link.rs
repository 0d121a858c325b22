//! One connection to another node: its handshake, the hellos, then frames.

use std::io::ErrorKind;
use std::time::Instant;

use lapwing_peer::{Frame, Link as LinkKind, NodeId, Parsed, Refused, Stage, parse};
use lapwing_transport::{PeerProtocol, PeerStream};

use super::guest::Guest;
use super::hello::{FRAME_BYTES_MAX, Introduced};
use super::{Cut, ForSnapshot, Hear};

/// Bytes read at a time.
const READ_BYTES: usize = 256 << 10;
/// Bytes that may wait for the kernel before nothing more is made for it.
const WAITING_BYTES_MAX: usize = 512 << 10;

/// A connection.
pub(super) struct Link {
    pub(super) stream: PeerStream,
    pub(super) begun: Instant,
    /// When something came last.
    pub(super) heard: Instant,
    /// Whom it was made to; `None`: somebody came.
    pub(super) dialled: Option<NodeId>,
    /// Both hellos were judged.
    pub(super) introduced: Option<Introduced>,
    /// The same, where it is for snapshots: it goes on elsewhere.
    pub(super) is_for_snapshot: bool,
    /// It came to join.
    pub(super) guest: Option<Guest>,
    has_said_hello: bool,
    /// Where is read to: made at the first reading, and kept.
    buffer: Vec<u8>,
    /// Read, and no whole frame yet.
    pub(super) input: Vec<u8>,
    /// To be written; the first `written` bytes are.
    pub(super) output: Vec<u8>,
    written: usize,
}

impl Link {
    pub(super) fn new(stream: PeerStream, dialled: Option<NodeId>, now: Instant) -> Link {
        Link {
            stream,
            begun: now,
            heard: now,
            dialled,
            introduced: None,
            is_for_snapshot: false,
            guest: None,
            has_said_hello: false,
            buffer: Vec::new(),
            input: Vec::new(),
            output: Vec::new(),
            written: 0,
        }
    }

    /// The node at the other end, once it has said so and was believed.
    pub(super) fn peer(&self) -> Option<NodeId> {
        self.introduced.as_ref().map(|introduced| introduced.node)
    }

    /// Takes everything that has come.
    ///
    /// # Errors
    /// Why the connection is over.
    pub(super) fn read(&mut self, hear: &mut impl Hear) -> Result<(), Cut> {
        self.buffer.resize(READ_BYTES, 0);
        while !self.is_for_snapshot {
            match self.stream.read(&mut self.buffer) {
                Ok(0) => return Err(Cut::Ended),
                Ok(count) => {
                    self.heard = Instant::now();
                    self.input.extend_from_slice(&self.buffer[..count]);
                    self.say_hello(hear)?;
                    self.take_frames(hear)?;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.say_hello(hear)?;
                    if !self.stream.may_hold_more() {
                        return Ok(());
                    }
                }
                Err(error) => return Err(Cut::of(error)),
            }
        }
        Ok(())
    }

    /// Says who this node is, once the other one is known by its certificate. Who has come says first what the connection is for.
    fn say_hello(&mut self, hear: &mut impl Hear) -> Result<(), Cut> {
        if self.has_said_hello || self.stream.is_shaking() {
            return Ok(());
        }
        match self.stream.protocol() {
            Some(PeerProtocol::Node) => {}
            Some(PeerProtocol::Join) => {
                self.guest.get_or_insert_default();
                return Ok(());
            }
            None => return Err(Cut::Protocol),
        }
        if self.dialled.is_none() {
            return Ok(());
        }
        self.answer_hello(LinkKind::Raft, hear)
    }

    fn answer_hello(&mut self, link: LinkKind, hear: &mut impl Hear) -> Result<(), Cut> {
        if std::mem::replace(&mut self.has_said_hello, true) {
            return Ok(());
        }
        hear.say_hello(link, &mut self.output);
        self.write()
    }

    /// What is left of it, for the thread that goes on with it.
    pub(super) fn for_snapshot(mut self) -> ForSnapshot {
        let output = self.output.split_off(self.written);
        ForSnapshot { stream: self.stream, input: self.input, output }
    }

    fn take_frames(&mut self, hear: &mut impl Hear) -> Result<(), Cut> {
        if self.guest.is_some() {
            return self.take_ask(hear);
        }
        let input = std::mem::take(&mut self.input);
        let mut taken = 0;
        while !self.is_for_snapshot {
            let stage = if self.introduced.is_some() { Stage::Raft } else { Stage::Hello };
            match parse(&input[taken..], stage, FRAME_BYTES_MAX).map_err(Cut::Frame)? {
                Parsed::Need(_) => break,
                Parsed::Frame(frame, bytes) => {
                    taken += bytes;
                    self.take_frame(&frame, hear)?;
                }
            }
        }
        self.input = input;
        self.input.drain(..taken);
        Ok(())
    }

    fn take_frame(&mut self, frame: &Frame<'_>, hear: &mut impl Hear) -> Result<(), Cut> {
        match (frame, self.peer()) {
            (Frame::Refused(Refused { code, words }), _) => {
                Err(Cut::RefusedByPeer { code: *code, words: (*words).to_owned() })
            }
            (Frame::Hello(hello), None) => {
                let named = self.stream.peer().map(|name| name.node());
                if named != Some(hello.node.value()) || self.dialled.is_some_and(|dialled| dialled != hello.node) {
                    return Err(Cut::OtherNode);
                }
                // Who was connected to is asked for nothing else.
                let link = if self.dialled.is_some() { LinkKind::Raft } else { hello.link };
                self.answer_hello(link, hear)?;
                let introduced = hear.judge(hello, link).map_err(|refusal| self.refuse(&refusal))?;
                if link == LinkKind::Snapshot {
                    self.is_for_snapshot = true;
                    return Ok(());
                }
                hear.opened(&introduced);
                self.introduced = Some(introduced);
                Ok(())
            }
            (frame, Some(peer)) => hear.frame(peer, frame).map_err(Cut::FrameFault),
            (_, None) => Err(Cut::OtherNode),
        }
    }

    /// Tells the other node why it is not spoken to.
    pub(super) fn refuse(&mut self, refusal: &lapwing_peer::Refusal) -> Cut {
        let words: String = refusal.to_string().chars().filter(|one| (' '..='~').contains(one)).collect();
        let refused = Frame::Refused(Refused { code: refusal.code(), words: &words });
        // As far as it takes it; it is cut in any case.
        if refused.encode(FRAME_BYTES_MAX, &mut self.output).is_ok() {
            let _ = self.write();
            self.stream.shutdown();
        }
        Cut::Refused(*refusal)
    }

    /// Has frames made for the other node while the kernel takes them.
    ///
    /// # Errors
    /// Why the connection is over.
    pub(super) fn fill(&mut self, hear: &mut impl Hear) -> Result<(), Cut> {
        let Some(peer) = self.peer() else { return self.answer_guest(hear) };
        loop {
            self.write()?;
            let before = self.output.len();
            if before < WAITING_BYTES_MAX {
                hear.fill(peer, WAITING_BYTES_MAX, &mut self.output);
            }
            if self.output.len() == before {
                return Ok(());
            }
        }
    }

    /// Writes what the kernel takes.
    pub(super) fn write(&mut self) -> Result<(), Cut> {
        while self.written < self.output.len() {
            match self.stream.write(&self.output[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(Cut::of(error)),
            }
        }
        if self.written > 0 {
            self.output.drain(..self.written);
            self.written = 0;
        }
        match self.stream.flush() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(Cut::of(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
