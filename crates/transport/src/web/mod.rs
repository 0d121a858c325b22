//! WebSocket, RFC 6455, as MQTT uses it: the upgrade, then binary frames whose boundaries mean nothing to us
//! \[MQTT-6.0.0-2\]; towards clients, each packet has a frame of its own.
//!
//! Why the frames are ours and not a library's: they lie on the message path, and every library at hand gathers whole
//! messages in buffers of its own, per connection. Here the payload is unmasked where the caller's buffer has it and
//! nothing is kept but the state of the frame, so a frame of any length costs no memory and an idle connection none.
//! The HTTP head is `httparse`'s work.

mod answer;
mod frame;
mod hosts;
mod incoming;
mod outgoing;
mod upgrade;

use std::io::{self, Read, Write};
use std::sync::Arc;

use crate::refusal::Refusal;
use incoming::{Incoming, Told, Violation};
use outgoing::Outgoing;
use upgrade::Judged;

pub(crate) use upgrade::WebRules;

/// Times that one read asks the stream below; so a peer that sends empty frames keeps nobody else waiting.
const READS_MAX: usize = 16;

/// The server's side of one WebSocket.
#[derive(Debug)]
pub(crate) struct WebSocket {
    /// Until the upgrade is done: what came of its head, and what it is judged by.
    upgrading: Option<(Vec<u8>, Arc<WebRules>)>,
    incoming: Incoming,
    outgoing: Outgoing,
    end: End,
    /// The head named a proxy on its way.
    is_forwarded: bool,
}

/// How the peer's side ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It has not.
    Open,
    /// In order, or without a word.
    Closed,
    /// By what it did; it was told.
    Refused(Refusal),
}

impl WebSocket {
    pub(crate) fn new(rules: Arc<WebRules>) -> Self {
        let upgrading = Some((Vec::new(), rules));
        let (incoming, outgoing) = (Incoming::default(), Outgoing::default());
        WebSocket { upgrading, incoming, outgoing, end: End::Open, is_forwarded: false }
    }

    /// Memory for a head that is not whole.
    pub(crate) fn held_bytes(&self) -> usize {
        self.upgrading.as_ref().map_or(0, |(head, _)| head.capacity())
    }

    /// Whether a proxy has forwarded the upgrade; false until it is done.
    pub(crate) fn is_forwarded(&self) -> bool {
        self.is_forwarded
    }

    /// Reads payload of binary frames into `buffer`; handshake and control frames are dealt with on the way.
    ///
    /// # Errors
    /// `WouldBlock`: nothing now, though there may be more below. A [`Refusal`]: the peer was told, as far as possible.
    pub(crate) fn read(&mut self, lower: &mut (impl Read + Write), buffer: &mut [u8]) -> io::Result<usize> {
        for _ in 0..READS_MAX {
            match self.end {
                End::Open => {}
                End::Closed => return Ok(0),
                End::Refused(refusal) => return Err(refusal.into()),
            }
            let read_bytes = lower.read(buffer)?;
            if read_bytes == 0 {
                self.end = End::Closed;
            }
            let raw_bytes = self.upgrade(buffer, read_bytes);
            let payload_bytes = self.unframe(&mut buffer[..raw_bytes]);
            unless_blocked(self.outgoing.send_control(lower))?;
            if payload_bytes > 0 {
                return Ok(payload_bytes);
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Takes the head off the first `read_bytes` of `buffer`; returns how many bytes of frames then lie at its beginning.
    fn upgrade(&mut self, buffer: &mut [u8], read_bytes: usize) -> usize {
        let Some((head, rules)) = &mut self.upgrading else { return read_bytes };
        match upgrade::judge(head, &buffer[..read_bytes], rules) {
            Judged::Incomplete => 0,
            Judged::Accepted { answer, behind_bytes, is_forwarded } => {
                self.upgrading = None;
                self.is_forwarded = is_forwarded;
                self.outgoing.say(&answer);
                buffer.copy_within(read_bytes - behind_bytes..read_bytes, 0);
                behind_bytes
            }
            Judged::Refused { answer, refusal } => {
                self.outgoing.say(&answer);
                self.end = End::Refused(refusal);
                0
            }
        }
    }

    /// Leaves of `raw` the payload of data frames, at its beginning; returns its length.
    fn unframe(&mut self, raw: &mut [u8]) -> usize {
        let (mut at, mut kept) = (0, 0);
        while at < raw.len() && self.end == End::Open {
            match self.incoming.advance(raw, &mut at, &mut kept) {
                Ok(Told::Nothing) => {}
                Ok(Told::Ping(payload)) => self.outgoing.pong(payload),
                Ok(Told::Close(code)) => {
                    self.outgoing.close(code);
                    self.end = End::Closed;
                }
                Err(Violation { code, refusal }) => {
                    self.outgoing.close(code);
                    self.end = End::Refused(refusal);
                }
            }
        }
        kept
    }

    /// Writes `bytes` as payload of binary frames; see [`crate::Socket::write`].
    pub(crate) fn write(&mut self, lower: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
        self.outgoing.write(lower, bytes)
    }

    pub(crate) fn has_unsent(&self) -> bool {
        self.outgoing.has_control()
    }

    pub(crate) fn flush(&mut self, lower: &mut impl Write) -> io::Result<()> {
        self.outgoing.send_control(lower)
    }

    /// Says that nothing more will come, as far as `lower` takes it.
    pub(crate) fn close(&mut self, lower: &mut impl Write) {
        if self.upgrading.is_none() {
            self.outgoing.close(incoming::CODE_NORMAL);
        }
        // The peer may be gone already; then there is nobody to tell.
        let _ = self.outgoing.send_control(lower);
    }
}

/// What [`upgrade::judge`] says, for the oracle: the answer, bytes behind the head where it is taken, and whether it was forwarded.
#[cfg(any(test, feature = "oracle"))]
pub(crate) fn judged(head: &mut Vec<u8>, piece: &[u8], rules: &WebRules) -> Option<(Vec<u8>, Option<usize>, bool)> {
    match upgrade::judge(head, piece, rules) {
        Judged::Incomplete => None,
        Judged::Accepted { answer, behind_bytes, is_forwarded } => Some((answer, Some(behind_bytes), is_forwarded)),
        Judged::Refused { answer, .. } => Some((answer, None, false)),
    }
}

/// A full kernel buffer is no failure here: what it did not take is kept.
fn unless_blocked(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests;
