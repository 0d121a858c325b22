//! What connections bring to the core, and what it has for them.

use std::time::Instant;

use lapwing_peer::{Frame, GroupNumber, Hello, JoinAsk, Link, NodeId, Refusal, Told};
use lapwing_replica::FrameFault;

use super::core::Core;
use super::error::MemberError;
use super::fetch;
use super::joining::Asked;
use super::links::{FRAME_BYTES_MAX, ForSnapshot, Hear, Introduced, level_of};
use super::members::wall_ms;

impl Hear for Core {
    fn say_hello(&self, link: Link, out: &mut Vec<u8>) {
        self.own.say(level_of(&self.cluster), link, out);
    }

    fn for_snapshot(&mut self, link: ForSnapshot) {
        self.for_snapshot.push(link);
    }

    fn judge(&self, hello: &Hello<'_>, link: Link) -> Result<Introduced, Refusal> {
        if self.is_out(lapwing_cluster::NodeId(hello.node.value())) {
            return Err(Refusal::Gone { node: hello.node });
        }
        let start = self.starts.get(&hello.node).filter(|(boot, _)| *boot == hello.boot).map(|(_, start)| *start);
        self.own.judge(hello, link, &self.cluster, start)
    }

    fn opened(&mut self, introduced: &Introduced) {
        let Introduced { node, boot, start, frame_bytes_max, window_bytes, .. } = introduced;
        self.starts.insert(*node, (*boot, *start));
        self.replica.connected(*node, *frame_bytes_max, *window_bytes);
        if introduced.version >= Told::SINCE_VERSION {
            self.telling.opened(*node);
        }
        self.introduced.insert(*node, introduced.clone());
    }

    fn closed(&mut self, peer: NodeId) {
        self.introduced.remove(&peer);
        self.telling.closed(peer);
        self.replica.disconnected(peer);
    }

    fn frame(&mut self, peer: NodeId, frame: &Frame<'_>) -> Result<(), FrameFault> {
        if let Frame::Told(told) = frame {
            self.telling.hear(peer, *told, Instant::now(), wall_ms());
            return Ok(());
        }
        self.replica.frame(peer, frame)
    }

    fn expects(&self, peer: NodeId) -> bool {
        let leader = self.replica.status(GroupNumber::METADATA).leader;
        leader == u64::from(peer.value()) || leader == u64::from(self.own.node.value())
    }

    fn are_joining(&self) -> bool {
        self.cluster.has_token(wall_ms())
    }

    fn asks(&mut self, ask: &JoinAsk<'_>) -> Option<u64> {
        self.desk.ask(Asked::of(ask))
    }

    fn take_answer(&mut self, number: u64) -> Option<Vec<u8>> {
        self.desk.take_answer(number)
    }

    fn left(&mut self, number: u64) {
        self.desk.left(number);
    }

    fn is_out(&self, peer: NodeId) -> bool {
        Core::is_out(self, lapwing_cluster::NodeId(peer.value()))
    }

    /// What has to be read from the journal is read once a turn: heartbeats do not wait for the rest.
    fn fill(&mut self, peer: NodeId, bytes_max: usize, out: &mut Vec<u8>) {
        if self.telling.is_due(peer)
            && let Some(told) = self.telling.say(peer, Instant::now(), wall_ms())
            && let Err(error) = Frame::Told(told).encode(FRAME_BYTES_MAX, out)
        {
            self.fail(MemberError::Frame(error));
        }
        match self.replica.fill(peer, bytes_max, out) {
            Ok(None) => {}
            Ok(Some(_)) if self.has_more => {}
            Ok(Some(lacking)) => match fetch::batches(&self.reader, lacking) {
                Ok(found) => {
                    self.has_more = true;
                    self.replica.provide(peer, lacking, found);
                }
                Err(error) => self.fail(error.into()),
            },
            Err(error) => self.fail(MemberError::Frame(error)),
        }
    }
}

impl Core {
    /// Who is connected is told of this node's disk and clocks when it is time.
    pub(super) fn tell(&mut self, now: Instant) {
        let understands = |said: &&Introduced| said.version >= Told::SINCE_VERSION;
        self.telling.tick(now, self.introduced.values().filter(understands).map(|said| said.node));
    }
}
