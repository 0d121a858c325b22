//! One client's connection: its socket and the bytes that wait on either side of it.

use std::io;

use lapwing_codec::Version;
use lapwing_session::{CommitToken, SessionKey};
use lapwing_transport::Socket;

use crate::identity_shares::HeldPlace;
use crate::listeners::ListenerId;
use crate::shard::connections::fences::Fences;
use crate::shard::connections::packet_ends::PacketEnds;
use crate::shard::connections::rate::Rate;
use crate::shard::connections::underway::Underway;
use crate::shard::rights::permissions::Permissions;
use crate::shard::verdicts::gate::Gate;
use crate::strangers::Stranger;

/// A connection on its shard. Idle, it holds no buffer.
pub(crate) struct Connection {
    pub(crate) socket: Socket,
    /// Where it was accepted.
    pub(crate) listener: ListenerId,
    pub(crate) stage: Stage,
    /// Its place among strangers, until it belongs to a session.
    pub(crate) stranger: Option<Box<Stranger>>,
    /// To whom it counts, once its client may come in.
    pub(crate) place: Option<HeldPlace>,
    /// Read but not yet a whole packet, or not yet handled.
    pub(crate) input: Vec<u8>,
    /// Encoded but not yet written, from `written` on.
    pub(crate) output: Vec<u8>,
    written: usize,
    /// Where the packets in it end.
    ends: PacketEnds,
    /// Where the output is fenced: from there on it waits for the disk. None: all of it may leave.
    fences: Option<Box<Fences>>,
    /// Stands in the list of connections whose output waits for the disk.
    pub(crate) waits_for_disk: bool,
    /// The kernel may have bytes for us.
    pub(crate) readable: bool,
    /// The peer has ended its side: read until the end is seen.
    pub(crate) ended: bool,
    /// The kernel takes no bytes for the peer any more: it is read as far as it has said something.
    pub(in crate::shard) write_failed: bool,
    /// `input` may hold whole packets that were not handled yet.
    pub(crate) unhandled: bool,
    /// Tells this connection from earlier ones in the same place of the table.
    pub(crate) born: u64,
    /// Stands in the list of connections to be read.
    pub(crate) queued: bool,
    /// Stands in the list of connections to be flushed.
    pub(crate) touched: bool,
    /// Why it is not read on; none while it is.
    pub(crate) paused: Option<Pause>,
    /// What it waits for at the gate, or was told there; none when it passes freely.
    pub(crate) gate: Option<Box<Gate>>,
    /// What is under way on it, if that is no whole packet.
    pub(in crate::shard) underway: Underway,
    /// What its client may publish and subscribe to; none while it connects, and where there are no rules.
    pub(crate) permissions: Option<Box<Permissions>>,
    /// Since when the kernel takes nothing, on the shard's clock; 0: it does.
    pub(crate) stalled_since_ms: u64,
    /// A timer looks after its stall.
    pub(crate) watched: bool,
    /// How much it may send, where that is limited.
    pub(crate) rate: Option<Box<Rate>>,
    /// Messages that it has published; counted where events tell of it.
    pub(crate) published: u64,
    /// Since when it belongs to a session, on the node's clock.
    pub(crate) open_since_ms: u64,
    /// What it has brought and taken.
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// Bytes of its buffers in the shard's account.
    pub(crate) counted_bytes: u32,
    /// It has said goodbye itself: nothing we say is waited for.
    pub(crate) has_left: bool,
}

// A broker may have a hundred thousand of them, of which most are idle: what few need, or for a moment, lies behind a pointer.
const _: () = assert!(size_of::<Connection>() <= 288);

/// How far the connection has come.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// Since when, on the node's clock: its CONNECT has to be through in its time.
    Connecting { accepted_ms: u64 },
    /// Belongs to a session.
    Open { session: SessionKey, version: Version },
    /// Written out, then closed; nothing is read any more.
    Closing,
}

/// Why a connection is not read on. Most pauses are for want of room: this says where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// In a mailbox of another shard.
    Mail,
    /// In the log.
    Log,
    /// In the connection's own output buffer.
    Output,
    /// Nowhere: a verdict is waited for.
    Gate,
    /// In the node's memory, for the rest of a large packet.
    Memory,
    /// In its own share of messages or bytes per second.
    Rate,
    /// In its own share of filters in a millisecond.
    Share,
    /// Nowhere any more: it is sent away once it has its acknowledgements.
    Drain,
}

/// What a flush left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// Everything is with the kernel.
    All,
    /// The kernel takes no more for now.
    Rest,
    /// The rest has to wait for the disk.
    Fenced,
    /// The connection is over.
    Broken,
}

impl Connection {
    pub(crate) fn new(socket: Socket, listener: ListenerId, accepted_ms: u64) -> Self {
        Connection {
            socket,
            listener,
            stage: Stage::Connecting { accepted_ms },
            stranger: None,
            place: None,
            input: Vec::new(),
            output: Vec::new(),
            written: 0,
            ends: PacketEnds::default(),
            fences: None,
            waits_for_disk: false,
            readable: true,
            ended: false,
            write_failed: false,
            unhandled: false,
            born: 0,
            open_since_ms: 0,
            bytes_in: 0,
            bytes_out: 0,
            queued: false,
            touched: false,
            paused: None,
            gate: None,
            underway: Underway::Nothing,
            permissions: None,
            stalled_since_ms: 0,
            watched: false,
            rate: None,
            published: 0,
            counted_bytes: 0,
            has_left: false,
        }
    }

    /// Whether its CONNECT is waited for, or not through.
    pub(crate) const fn is_connecting(&self) -> bool {
        matches!(self.stage, Stage::Connecting { .. })
    }

    /// Its place at the gate.
    pub(crate) fn gate_mut(&mut self) -> &mut Gate {
        self.gate.get_or_insert_default()
    }

    /// Bytes that wait to be written.
    pub(crate) fn output_bytes(&self) -> usize {
        self.output.len() - self.written
    }

    /// The same without the largest packet among them: one alone, however large, is no sign of a reader that is slow.
    pub(crate) fn output_bytes_besides_one(&self) -> usize {
        self.output_bytes() - self.ends.largest_rest(&self.output, self.written)
    }

    /// What was written to the output from `position` on must not leave before `token` is committed.
    ///
    /// Where nothing was written, nothing waits: a fence without bytes behind it would outlive the buffer whose positions it
    /// counts, and later stand in the midst of other bytes.
    pub(crate) fn fence_output(&mut self, position: usize, token: CommitToken) {
        if position < self.output.len() {
            self.fences.get_or_insert_default().add(position, token);
        }
    }

    /// True when a fence stands in the output: some of it waits for the disk.
    pub(crate) fn is_fenced(&self) -> bool {
        self.fences.is_some()
    }

    /// Takes what lies behind the first fence out of the output: the connection ends before it may leave.
    pub(crate) fn drop_fenced(&mut self, committed: CommitToken) {
        if let Some(mut fences) = self.fences.take() {
            self.output.truncate(fences.free(committed, self.output.len()));
        }
    }

    /// How much of the output may leave.
    fn free_output(&mut self, committed: CommitToken) -> usize {
        let len = self.output.len();
        let Some(fences) = &mut self.fences else { return len };
        let free = fences.free(committed, len);
        if fences.is_empty() {
            self.fences = None;
        }
        free
    }

    /// Writes what waits, as far as fences let it with everything up to `committed` on disk; returns how many bytes the
    /// kernel took, and what is left.
    pub(crate) fn flush(&mut self, now_ms: u64, committed: CommitToken) -> (u64, Flushed) {
        let mut taken = 0;
        let free = self.free_output(committed);
        while self.written < free {
            match self.socket.write(&self.output[self.written..free]) {
                Ok(0) => return (taken, Flushed::Broken),
                Ok(n) => {
                    self.written += n;
                    taken += n as u64;
                    self.stalled_since_ms = 0;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.keep_rest(now_ms);
                    return (taken, Flushed::Rest);
                }
                Err(_) => return (taken, Flushed::Broken),
            }
        }
        if free < self.output.len() {
            self.take_written();
            return (taken, Flushed::Fenced);
        }
        debug_assert!(self.fences.is_none(), "a fence behind which there is nothing");
        self.clear_output();
        (taken, self.flush_socket(now_ms))
    }

    /// Lets go what the socket itself still holds: the rest of a record, an answer to a ping.
    fn flush_socket(&mut self, now_ms: u64) -> Flushed {
        if !self.socket.has_unsent() {
            return Flushed::All;
        }
        match self.socket.flush() {
            Ok(()) => Flushed::All,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.keep_rest(now_ms);
                Flushed::Rest
            }
            Err(_) => Flushed::Broken,
        }
    }

    /// Nothing more is to be written.
    pub(crate) fn forget_output(&mut self) {
        self.clear_output();
        self.output = Vec::new();
    }

    /// Empties the output; fences are positions in it, so they go with it.
    fn clear_output(&mut self) {
        self.output.clear();
        self.written = 0;
        self.ends = PacketEnds::default();
        self.fences = None;
    }

    fn keep_rest(&mut self, now_ms: u64) {
        if self.stalled_since_ms == 0 {
            self.stalled_since_ms = now_ms.max(1);
        }
        self.take_written();
    }

    /// Moves the rest to the front once more than half of the buffer is dead, so that it stays bounded.
    fn take_written(&mut self) {
        if self.written > self.output.len() / 2 {
            self.ends.pass(&self.output, self.written);
            self.ends.shift(self.written);
            self.output.drain(..self.written);
            if let Some(fences) = &mut self.fences {
                fences.shift(self.written);
            }
            self.written = 0;
        }
    }
}

#[cfg(test)]
mod tests;
