//! What comes from one other node over one connection.

use std::sync::Arc;

use lapwing_peer::{BatchHead, BatchIntake, BatchPart, Content, Fault, GroupNumber, Message as Framed, NodeId, Raft};
use lapwing_raft::Message;
use thiserror::Error;

use crate::lag::NamedBatch;
use crate::translate::from_frame;

/// Why a connection is cut: what came over it is no word of that node's engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameFault {
    /// A frame that may not be there.
    #[error("{0}")]
    Frame(#[from] Fault),
    /// It says that it is from or to somebody else.
    #[error("a message from node {from} to node {to} came from node {peer}")]
    Misaddressed {
        /// Who has sent it.
        peer: NodeId,
        /// Whom it says it is from.
        from: NodeId,
        /// Whom it is to.
        to: NodeId,
    },
    /// Of a kind that no engine says, or with a membership that is none.
    #[error("a message that no engine says, in group {group}")]
    NoMessage {
        /// Whose.
        group: GroupNumber,
    },
    /// A frame that has its place on another connection.
    #[error("a frame that is not for this connection")]
    OtherLink,
}

/// A message that has come, with the batches that it names.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) group: GroupNumber,
    pub(crate) message: Message,
    pub(crate) batches: Vec<NamedBatch>,
}

/// The receiving end of a connection.
#[derive(Debug)]
pub(crate) struct Receiver {
    own: NodeId,
    peer: NodeId,
    intake: BatchIntake,
}

impl Receiver {
    /// Of a new connection. `window_bytes`: what this node's hello said.
    pub(crate) fn new(own: NodeId, peer: NodeId, window_bytes: u64) -> Receiver {
        Receiver { own, peer, intake: BatchIntake::new(window_bytes) }
    }

    pub(crate) fn part(&mut self, part: &BatchPart<'_>) -> Result<(), FrameFault> {
        Ok(self.intake.part(part)?)
    }

    /// The messages of a turn. Whoever gets a batch [finishes](Self::finish) it in the end.
    pub(crate) fn messages(&mut self, raft: &Raft<'_>) -> Result<Vec<Incoming>, FrameFault> {
        raft.messages.iter().map(|framed| self.message(&framed)).collect()
    }

    fn message(&mut self, framed: &Framed<'_>) -> Result<Incoming, FrameFault> {
        let (group, from, to) = (framed.group, framed.from, framed.to);
        if from != self.peer || to != self.own {
            return Err(FrameFault::Misaddressed { peer: self.peer, from, to });
        }
        let message = from_frame(framed).ok_or(FrameFault::NoMessage { group })?;
        let mut batches = Vec::new();
        for header in framed.entries.iter() {
            if let Content::Batch(head) = header.content {
                let (raft_index, term) = (header.raft_index, header.term);
                let batch = Arc::new(self.intake.take(group, term, raft_index, head)?);
                batches.push(NamedBatch { raft_index, term, batch });
            }
        }
        Ok(Incoming { group, message, batches })
    }

    /// A batch is on disk, or not wanted.
    pub(crate) fn finish(&mut self, head: BatchHead) {
        self.intake.finish(head);
    }

    pub(crate) fn done_bytes(&self) -> u64 {
        self.intake.done_bytes()
    }
}
