//! What is under way on one client's connection; most clients are idle, and have none of it.

use std::collections::VecDeque;

use lapwing_codec::PacketId;
use lapwing_sn::QoS;
use lapwing_sn::peer::{Receipt, SubscribeRequest};

use super::will::WillUpdate;

/// Both ways, until it is handled or answered.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    /// Read but not handled yet: less than a packet.
    pub(super) input: Box<[u8]>,
    /// What the shard has not taken.
    pub(super) output: Vec<u8>,
    /// PUBLISHes of the client that are not answered.
    pub(super) published: Vec<Receipt>,
    /// Messages of QoS 2 that the client did not release, and that are released for it: their PUBCOMPs are not its.
    pub(super) given_up: Vec<PacketId>,
    pub(super) subscribing: Vec<SubscribeRequest>,
    /// Another will, which the session has not taken yet.
    pub(super) changing: Option<Box<WillUpdate>>,
    /// PUBLISHes of the session that could not go yet, as they came.
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) under_way: Option<UnderWay>,
    /// PUBREL that waits until nothing else is in flight.
    pub(super) release: Option<PacketId>,
}

/// A PUBLISH of the session that has not gone.
#[derive(Debug)]
pub(super) struct Waiting {
    /// As it came.
    pub(super) packet: Box<[u8]>,
    /// It has gone, and the client knew its topic's id no more.
    pub(super) is_told_again: bool,
}

/// The message of QoS 1 or 2 that is under way to the client.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) packet_id: PacketId,
    pub(super) qos: QoS,
    /// The PUBLISH as the session has sent it; empty where the client has it, and PUBREL is under way.
    pub(super) packet: Box<[u8]>,
    /// The client has it, and PUBREL of the session has not come yet: whatever happens until then, it does not go again.
    pub(super) is_received: bool,
    /// Its topic was told to the client again, because it knew the id no more.
    pub(super) is_told_again: bool,
}

impl Waiting {
    /// Nobody has it but us: of a message of QoS 1 or 2 the session knows.
    pub(super) fn is_at_most_once(&self) -> bool {
        self.packet.first().is_some_and(|first| first & 0b0110 == 0)
    }
}

impl Traffic {
    /// Whether nothing is under way either way.
    pub(super) fn is_over(&self) -> bool {
        let is_answered = self.published.is_empty() && self.subscribing.is_empty() && self.changing.is_none();
        let is_handled = self.input.is_empty() && self.output.is_empty() && self.waiting.is_empty();
        is_handled && is_answered && self.given_up.is_empty() && !self.is_delivering()
    }

    /// Whether a message of QoS 1 or 2 is under way to the client.
    pub(super) const fn is_delivering(&self) -> bool {
        self.under_way.is_some() || self.release.is_some()
    }
}
