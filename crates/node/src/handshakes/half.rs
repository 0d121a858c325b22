//! A connection whose handshake is not done.

use std::io::ErrorKind;

use lapwing_transport::{Refusal, Socket};

use super::places::Seat;
use super::turns::{HandshakeId, Turns};
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
    /// On the node's clock.
    pub(super) accepted_ms: u64,
    /// Its place among strangers, which goes on with it to a shard.
    pub(super) stranger: Box<Stranger>,
    /// Its place among unfinished handshakes.
    pub(super) seat: Seat,
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
    pub(super) fn new(socket: Socket, listener: ListenerId, stranger: Stranger, seat: Seat, now_ms: u64) -> Self {
        let (accepted_ms, stranger) = (now_ms, Box::new(stranger));
        let (queued, has_begun, leaves_after_bytes) = (false, false, None);
        Half { socket, listener, accepted_ms, stranger, seat, queued, has_begun, leaves_after_bytes }
    }

    /// It can go on, when its turn comes.
    pub(super) fn queue(&mut self, id: HandshakeId, turns: &mut Turns, now_ms: u64) {
        if !std::mem::replace(&mut self.queued, true) {
            turns.add(self.stranger.source, id);
            self.note(now_ms);
        }
    }

    /// Tells both tables what it holds, and whether it waits for us.
    pub(super) fn note(&mut self, now_ms: u64) {
        self.seat.waits_for_us(self.queued);
        self.stranger.hold(self.socket.held_bytes() as u64, self.queued, now_ms);
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
