//! What other nodes say, and what goes to them.

use lapwing_peer::{EncodeError, Frame, GroupNumber, NodeId};

use super::{Replica, place};
use crate::group::Group;
use crate::lag::{Lacking, NamedBatch};
use crate::link::Link;
use crate::receiver::{FrameFault, Receiver};
use crate::sender::Sender;
use crate::tail::Tail;

impl Replica {
    /// There is a connection to another node, whose hello has said the two bounds. One that was there before is over.
    pub fn connected(&mut self, peer: NodeId, frame_bytes_max: usize, window_bytes: u64) {
        self.connections += 1;
        let sender = Sender::new(frame_bytes_max, window_bytes);
        let receiver = Receiver::new(self.config.node, peer, self.config.window_bytes);
        self.links.insert(peer, Link { connection: self.connections, sender, receiver });
    }

    /// The connection is over, and with it all that was on its way.
    pub fn disconnected(&mut self, peer: NodeId) {
        self.links.remove(&peer);
    }

    /// A frame of another node has come over the connection for Raft.
    ///
    /// # Errors
    /// It is nobody's that we know: cut the connection and count it.
    pub fn frame(&mut self, peer: NodeId, frame: &Frame<'_>) -> Result<(), FrameFault> {
        let Some(link) = self.links.get_mut(&peer) else { return Ok(()) };
        match frame {
            Frame::BatchPart(part) => link.receiver.part(part),
            Frame::Raft(raft) => {
                link.sender.heard(raft.done_bytes)?;
                let (connection, messages) = (link.connection, link.receiver.messages(raft)?);
                let mut done = Vec::new();
                for incoming in messages {
                    let group = &mut self.groups[place(incoming.group)];
                    let stepped = group.step(incoming.message, incoming.batches, connection, &mut done);
                    self.counters.refused += u64::from(stepped.is_err());
                }
                self.finish(done);
                Ok(())
            }
            _ => Err(FrameFault::OtherLink),
        }
    }

    /// Appends what goes to a node to `out`, until that has `bytes_max` bytes or nothing more may go. Says what is lacking here,
    /// if that is why.
    ///
    /// # Errors
    /// A message that no frame can have: a defect of ours.
    pub fn fill(&mut self, peer: NodeId, bytes_max: usize, out: &mut Vec<u8>) -> Result<Option<Lacking>, EncodeError> {
        let Some(link) = self.links.get_mut(&peer) else { return Ok(None) };
        let before = link.sender.begun_bytes();
        let tail_of = tail_of(&self.groups);
        let lacking = link.sender.fill(&tail_of, link.receiver.done_bytes(), bytes_max, out)?;
        *self.appended_bytes.entry(peer).or_default() += link.sender.begun_bytes() - before;
        Ok(lacking)
    }

    /// What was lacking for a node was read from the journal, as far as it is there.
    pub fn provide(&mut self, peer: NodeId, lacking: Lacking, found: Vec<NamedBatch>) {
        let tail_of = tail_of(&self.groups);
        if let Some(link) = self.links.get_mut(&peer) {
            link.sender.provide(lacking, found, &tail_of);
        }
    }

    /// Bytes of batches that are under way to a node and not done with there; `None`: it is not connected.
    pub fn under_way_bytes(&self, peer: NodeId) -> Option<u64> {
        self.links.get(&peer).map(|link| link.sender.under_way_bytes())
    }
}

fn tail_of<'t>(groups: &'t [Group]) -> impl Fn(GroupNumber) -> Option<&'t Tail> {
    move |group| groups.get(place(group)).map(|group| &group.tail)
}
