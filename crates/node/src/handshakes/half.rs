//! A connection whose handshake is not done.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::time::Instant;

use lapwing_transport::{Refusal, Socket};

use crate::listeners::ListenerId;
use crate::strangers::Stranger;

/// Bytes read and thrown away at a time after a refusal.
const DISCARD_BYTES: usize = 4096;
/// Bytes that a peer may send after it was refused.
const DISCARDED_BYTES_MAX: usize = 64 << 10;

/// One unfinished handshake and its socket.
#[derive(Debug)]
pub(super) struct Half {
    pub(super) socket: Socket,
    pub(super) listener: ListenerId,
    pub(super) accepted_at: Instant,
    /// Its place among strangers, which goes on with it to a shard.
    pub(super) stranger: Box<Stranger>,
    /// Whose place it has; none as long as a proxy has not said it.
    pub(super) source: Option<IpAddr>,
    /// Stands among those that can go on.
    pub(super) queued: bool,
    /// Something was done for it: its peer may have an answer.
    pub(super) has_begun: bool,
    /// Refused, and read on until the peer ends too or its time is over, so that it gets to hear why: so many bytes at most.
    leaves_after_bytes: Option<usize>,
}

/// How far a handshake came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is done: the connection is a shard's.
    Done,
    /// It waits for its peer.
    Waits,
    /// It can go on at once.
    Goes,
    /// It waits for its peer's end; the first time with what it was refused for.
    Leaves(Option<Refusal>),
    /// It is over: the socket is of no use any more.
    Over,
}

impl Half {
    /// `socket`: as it came from its listener.
    pub(super) fn new(socket: Socket, listener: ListenerId, stranger: Stranger, source: Option<IpAddr>) -> Self {
        let accepted_at = Instant::now();
        let stranger = Box::new(stranger);
        Half {
            socket,
            listener,
            accepted_at,
            stranger,
            source,
            queued: false,
            has_begun: false,
            leaves_after_bytes: None,
        }
    }

    /// Goes on as far as the peer's bytes let it; one signature at most.
    pub(super) fn go_on(&mut self) -> Step {
        if self.leaves_after_bytes.is_some() {
            return self.discard();
        }
        self.has_begun |= !self.socket.awaits_header();
        match self.socket.shake_hands() {
            Ok(true) => Step::Done,
            Ok(false) => Step::Goes,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if self.socket.may_hold_more() && !self.socket.has_unsent() { Step::Goes } else { Step::Waits }
            }
            Err(error) => match Refusal::of(&error) {
                None => Step::Over,
                Some(refusal) => {
                    self.socket.shutdown();
                    self.leaves_after_bytes = Some(DISCARDED_BYTES_MAX);
                    Step::Leaves(Some(refusal))
                }
            },
        }
    }

    /// What comes behind a refusal is thrown away: closed with bytes unread, the kernel would take back our last words.
    fn discard(&mut self) -> Step {
        let mut bytes = [0; DISCARD_BYTES];
        loop {
            let left = self.leaves_after_bytes.unwrap_or(0);
            match self.socket.discard(&mut bytes) {
                Ok(n) if n > 0 && n < left => self.leaves_after_bytes = Some(left - n),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Leaves(None),
                _ => return Step::Over,
            }
        }
    }

    /// Whether it waits for its peer's end only.
    pub(super) fn is_leaving(&self) -> bool {
        self.leaves_after_bytes.is_some()
    }
}
