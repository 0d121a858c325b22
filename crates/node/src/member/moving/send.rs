//! Sending a snapshot to one follower: a thread, which connects again and goes on where it was when the connection breaks.

use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lapwing_peer::{
    Frame, GroupNumber, HEADER_BYTES, Link, NodeId, SnapshotBegin, SnapshotChunk, SnapshotEnd, SnapshotRefusal,
    SnapshotReply, Stage, Verdict,
};
use lapwing_replica::whole_membership_bytes;
use lapwing_store::journal::JournalReader;
use lapwing_transport::PeerTls;
use thiserror::Error;

use super::chunks::Chunks;
use super::wire::{Broken, Wire};
use crate::member::links::Own;
use crate::replica::{Moved, ReplicaError, raft_id};

/// How often a connection may break, one after the other, without a chunk that has gone in between.
const TRIES_MAX: u32 = 8;
/// The pause before the next one.
const PAUSE: Duration = Duration::from_millis(250);
/// How long the other node may think about what it was asked.
const REPLY_MAX: Duration = Duration::from_secs(20);
/// How long it may take to make durable what it has, and to have it count.
const INSTALL_MAX: Duration = Duration::from_secs(300);

/// What is to be sent, to whom, by whom.
pub(super) struct Sending {
    pub(super) own: Own,
    /// The feature level that is in force.
    pub(super) level: u16,
    pub(super) tls: Arc<PeerTls>,
    pub(super) reader: JournalReader,
    pub(super) group: GroupNumber,
    pub(super) leader_term: u64,
    pub(super) to: NodeId,
    pub(super) addresses: Vec<String>,
    /// Drawn for this transfer.
    pub(super) snapshot: u64,
    pub(super) bytes_per_s: u64,
    pub(super) stopping: Arc<AtomicBool>,
}

/// Why a snapshot was not sent. The engine tells again that it is needed.
#[derive(Debug, Error)]
pub(crate) enum Unsent {
    /// There is none, or none that the follower belongs to: one is to be made.
    #[error("there is no snapshot that the follower belongs to")]
    None,
    /// The follower does not take it.
    #[error("{0}")]
    Refused(SnapshotRefusal),
    /// There is no way to it.
    #[error("{0}")]
    Broken(String),
    /// This node's own log.
    #[error("{0}")]
    Own(ReplicaError),
}

/// What has gone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) bytes: u64,
    /// How often it went on over another connection.
    pub(crate) resumed: u64,
}

impl Sending {
    pub(super) fn run(&self) -> Result<Sent, Unsent> {
        let moved = Moved::newest(&self.reader, self.group).map_err(Unsent::Own)?.ok_or(Unsent::None)?;
        if !moved.preface.membership.contains(raft_id(lapwing_cluster::NodeId(self.to.value()))) {
            return Err(Unsent::None);
        }
        let mut chunks = Chunks::new(self.reader.clone(), moved).map_err(Unsent::Own)?;
        let (mut sent, mut tries) = (Sent::default(), 0);
        loop {
            let before = sent.bytes;
            let broken = match self.over_one_connection(&mut chunks, &mut sent) {
                Ok(Verdict::Accepted) => return Ok(sent),
                // Whoever had the connection before may not have noticed that it is over.
                Ok(Verdict::Refused(SnapshotRefusal::Busy)) => Broken::Silent,
                Ok(Verdict::Refused(refusal)) => return Err(Unsent::Refused(refusal)),
                Ok(Verdict::From(_)) => Broken::Ended,
                Err(Failed::Own(error)) => return Err(Unsent::Own(error)),
                Err(Failed::Broken(broken)) => broken,
            };
            tries = if sent.bytes > before { 1 } else { tries + 1 };
            if tries > TRIES_MAX || matches!(broken, Broken::Stopping) {
                return Err(Unsent::Broken(broken.to_string()));
            }
            sleep(PAUSE);
        }
    }

    /// Sends what the other node wants of it; its last word.
    fn over_one_connection(&self, chunks: &mut Chunks, sent: &mut Sent) -> Result<Verdict, Failed> {
        let mut wire = self.connect()?;
        self.begin(&mut wire, chunks)?;
        let from = match reply(&mut wire, REPLY_MAX)? {
            Verdict::From(from) => from,
            other => return Ok(other),
        };
        if !chunks.seek(from)? {
            return Ok(Verdict::Refused(SnapshotRefusal::Damaged));
        }
        sent.resumed += u64::from(from > 0);
        let (mut chunk, mut frame, begun, mut bytes) = (vec![], vec![], Instant::now(), 0);
        while chunks.next(&mut chunk)? {
            let number = chunks.given().0 - 1;
            frame.clear();
            let encoded = Frame::SnapshotChunk(SnapshotChunk { number, bytes: &chunk });
            encoded.encode(chunk.len() + HEADER_BYTES, &mut frame).map_err(Broken::from)?;
            wire.send_bytes(&frame)?;
            bytes += chunk.len() as u64;
            sent.bytes += chunk.len() as u64;
            // No faster than it may go.
            let due = Duration::from_secs_f64(bytes as f64 / self.bytes_per_s.max(1) as f64);
            sleep(due.saturating_sub(begun.elapsed()).min(Duration::from_secs(1)));
        }
        let (chunks, crc) = chunks.given();
        wire.send(&Frame::SnapshotEnd(SnapshotEnd { chunks, crc }))?;
        let verdict = reply(&mut wire, INSTALL_MAX)?;
        wire.end();
        Ok(verdict)
    }

    fn connect(&self) -> Result<Wire, Failed> {
        let mut last = Broken::Silent;
        for address in self.addresses.iter().filter_map(|address| address.to_socket_addrs().ok()?.next()) {
            match Wire::connect((self.to, address), &self.tls, self.stopping.clone()) {
                Ok(mut wire) => {
                    let mut hello = vec![];
                    self.own.say(self.level, Link::Snapshot, &mut hello);
                    wire.send_bytes(&hello)?;
                    let is_it = wire.receive(Stage::Hello, REPLY_MAX, |frame| match frame {
                        Frame::Hello(theirs) => theirs.node == self.to && theirs.cluster == self.own.cluster,
                        _ => false,
                    })?;
                    return if is_it { Ok(wire) } else { Err(Broken::OtherNode.into()) };
                }
                Err(broken) => last = broken,
            }
        }
        Err(last.into())
    }

    fn begin(&self, wire: &mut Wire, chunks: &Chunks) -> Result<(), Broken> {
        let moved = chunks.moved();
        wire.send(&Frame::SnapshotBegin(SnapshotBegin {
            group: self.group,
            snapshot: self.snapshot,
            leader_term: self.leader_term.max(moved.covered.term),
            raft_index: moved.covered.raft_index,
            term: moved.covered.term,
            last_sequence: moved.covered.index,
            state_chunks: chunks.of_state(),
            entries: moved.live.len() as u64,
            bytes: chunks.bytes_max(),
            membership: &whole_membership_bytes(&moved.preface.membership),
        }))
    }
}

fn reply(wire: &mut Wire, patience: Duration) -> Result<Verdict, Broken> {
    let verdict = wire.receive(Stage::Snapshot, patience, |frame| match frame {
        Frame::SnapshotReply(SnapshotReply { verdict, .. }) => Some(*verdict),
        _ => None,
    })?;
    verdict.ok_or(Broken::OtherNode)
}

/// Whose fault it is that a connection did not do.
enum Failed {
    Own(ReplicaError),
    Broken(Broken),
}

impl From<ReplicaError> for Failed {
    fn from(error: ReplicaError) -> Self {
        Failed::Own(error)
    }
}

impl From<Broken> for Failed {
    fn from(broken: Broken) -> Self {
        Failed::Broken(broken)
    }
}
