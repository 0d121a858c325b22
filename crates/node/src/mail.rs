//! What shards send each other.

mod retained_pages;

use std::sync::Arc;

use lapwing_codec::{Publish, QoS, Version};
use lapwing_session::{Bound, Grant, SessionKey};
use lapwing_transport::Socket;

pub(crate) use self::retained_pages::{Page, PageItem, PageRequest, Source};
use crate::holder::Holder;
use crate::listeners::ListenerId;
use crate::reserved_room::ReservedRoom;
use crate::shard::Origin;
use crate::strangers::Stranger;
use crate::words::{JoinRequest, Word};

/// What a message goes to another shard for, and how that one is to treat it; flags, because one copy serves all of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RouteFlags(u8);

impl RouteFlags {
    /// Its sessions want it.
    pub(crate) const SESSIONS: RouteFlags = RouteFlags(1);
    /// Shared groups that it owns want it.
    pub(crate) const GROUPS: RouteFlags = RouteFlags(2);
    /// It owns the retained message of this topic.
    pub(crate) const RETAIN: RouteFlags = RouteFlags(4);
    /// It may have to keep it on disk, and the sender waits until it does.
    pub(crate) const KEEP: RouteFlags = RouteFlags(8);
    /// It owns the hold that the message goes through.
    pub(crate) const HOLD: RouteFlags = RouteFlags(32);
    /// The owner of a hold offers it, and waits for an answer.
    pub(crate) const HELD: RouteFlags = RouteFlags(64);
    /// A table of topics keeps it in memory alone, wherever it comes.
    pub(crate) const IN_MEMORY: RouteFlags = RouteFlags(16);

    pub(crate) const fn with(self, other: RouteFlags) -> RouteFlags {
        RouteFlags(self.0 | other.0)
    }

    pub(crate) fn has(self, other: RouteFlags) -> bool {
        self.0 & other.0 != 0
    }
}

/// Travels with a message from one shard to another: what the receiver is to do with it, and what the sender knows of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RouteHeader {
    pub(crate) flags: RouteFlags,
    /// Of a retained message: its number among those that the sender has sent to the owner of its topic. Else 0.
    pub(crate) retained_seq: u64,
    /// Of a retained message, and for groups: the hash of the publisher's client id.
    pub(crate) publisher: u64,
    /// Of a retained message, where identities have shares of them: whose it is.
    pub(crate) holder: Option<Holder>,
    /// For groups: when it had been read, on the node's clock.
    pub(crate) ingress_us: u64,
    /// When its Message Expiry Interval is over, on the node's clock; the frame itself has the interval as published.
    pub(crate) expires_at_ms: Option<u64>,
    /// Of a QoS 2 message of a kept session.
    pub(crate) origin: Option<Origin>,
    /// Of a message that goes through a hold.
    pub(crate) held: Option<HoldRoute>,
    /// Of a retained message: bytes of the room that its publisher was promised; 0: of none.
    pub(crate) reserved_bytes: u64,
}

/// The header's part for a message that goes through a hold: first from its publisher's shard to the owner, then from the owner
/// to those who may want it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldRoute {
    /// To the owner: the number of the hold in the configuration. From the owner: its place there.
    pub(crate) hold: u32,
    /// From the owner: which batch it is of, and where it stands in that.
    pub(crate) batch: u32,
    pub(crate) index: u16,
    /// Who has no room for it need not lose it.
    pub(crate) may_wait: bool,
    /// The session that published it, for No Local.
    pub(crate) publisher: SessionKey,
}

/// What became of a message that the owner of a hold has offered; the best answer of all counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Offered {
    /// Nobody was there.
    Nobody,
    /// Those who are there have no room.
    Full,
    /// Somebody has it.
    Taken,
}

/// Answers to one batch.
#[derive(Debug)]
pub(crate) struct OfferedList {
    /// As in [`HoldRoute`].
    pub(crate) hold: u32,
    pub(crate) batch: u32,
    /// Places in the batch.
    pub(crate) answers: Vec<(u16, Offered)>,
}

/// What the owner of a group tells a member's shard.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Direct {
    /// A message for it; the frame is the message.
    Message(Assigned),
    /// It has stalled: close its connection; the frame is empty.
    Kick { to: SessionKey, epoch: u64 },
}

/// A message that a group has bound to one session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assigned {
    pub(crate) to: SessionKey,
    /// For this connection only.
    pub(crate) epoch: u64,
    /// The session's subscription to the group.
    pub(crate) grant: Grant,
    /// Hash of group and filter: whether the session still subscribes.
    pub(crate) share: u64,
    /// By which its end is told; none at QoS 0.
    pub(crate) bound: Option<Bound>,
    pub(crate) qos: QoS,
    /// When its Message Expiry Interval is over, on the node's clock; the frame itself has the interval as published.
    pub(crate) expires_at_ms: Option<u64>,
    /// Of a QoS 2 message of a kept group: a kept session has it as its own, of this origin, before it is sent.
    pub(crate) origin: Option<Origin>,
}

/// Messages as MQTT 5.0 PUBLISH frames, each with its header; one allocation for all their bytes.
#[derive(Debug)]
pub(crate) struct Parcel<T> {
    pub(crate) bytes: Vec<u8>,
    /// The header, and the end of its frame in `bytes`; a frame begins where the one before ends.
    pub(crate) items: Vec<(T, usize)>,
}

impl<T> Parcel<T> {
    pub(crate) fn new() -> Self {
        Parcel { bytes: Vec::new(), items: Vec::new() }
    }

    /// Adds a header without a message.
    pub(crate) fn push_bare(&mut self, header: T) {
        self.items.push((header, self.bytes.len()));
    }

    /// Adds a message.
    pub(crate) fn push(&mut self, header: T, publish: &Publish<'_>) {
        encode_frame(publish, &mut self.bytes);
        self.items.push((header, self.bytes.len()));
    }

    /// Each header with its frame.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&T, &[u8])> {
        let mut start = 0;
        self.items.iter().map(move |(header, end)| {
            let frame = &self.bytes[start..*end];
            start = *end;
            (header, frame)
        })
    }
}

/// Appends `publish` as a 5.0 frame, without what belongs to one connection only.
pub(crate) fn encode_frame(publish: &Publish<'_>, out: &mut Vec<u8>) {
    let mut frame = *publish;
    frame.dup = false;
    frame.properties.topic_alias = None;
    frame.properties.subscription_ids = lapwing_codec::SubscriptionIds::EMPTY;
    if frame.packet_id.is_none() && frame.qos != QoS::AtMostOnce {
        frame.packet_id = lapwing_codec::PacketId::new(1);
    }
    let before = out.len();
    if frame.encode(Version::V5, out).is_err() {
        // What a frame adds is less than limits leave below the longest packet, so this cannot be; an empty frame is skipped.
        debug_assert!(false, "a decoded PUBLISH could not be encoded");
        out.truncate(before);
    }
}

/// Reads a frame back. `None` only for an empty frame, see [`encode_frame`].
pub(crate) fn decode_frame(frame: &[u8]) -> Option<Publish<'_>> {
    match lapwing_codec::decode(frame, Version::V5, &lapwing_codec::Limits::PROTOCOL) {
        Ok(Some((lapwing_codec::Packet::Publish(publish), _))) => Some(publish),
        _ => None,
    }
}

/// Which kind of interest a shard announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Interest {
    /// One of its sessions subscribed.
    Sessions,
    /// A shared group that it owns has members.
    Groups,
    /// One of its sessions that are kept on disk subscribed, or a group that is kept there is on that filter.
    Kept,
}

/// A connection on its way to the shard of its client.
#[derive(Debug)]
pub(crate) struct MovedConnection {
    pub(crate) socket: Socket,
    /// Where it was accepted.
    pub(crate) listener: ListenerId,
    /// Read already: the CONNECT, and what came behind it.
    pub(crate) bytes: Vec<u8>,
    /// On the node's clock.
    pub(crate) accepted_ms: u64,
    /// It is no client before its session is open there.
    pub(crate) stranger: Option<Box<Stranger>>,
    /// Its client may be somewhere else than where it says.
    pub(crate) is_unseen: bool,
    /// The client id by which its listener knows it, where that keeps it as long as the session does.
    pub(crate) called: Option<Arc<str>>,
}

/// Messages on the control lanes.
///
/// There are two of them. Clients wait for their connections and groups, and one client's flood of subscriptions must not
/// hold up the others': what [`Control::is_express`] names has a lane of its own. In it the words about a member keep
/// their order; in the other one announcements, their confirmations and pages keep theirs. Nothing needs an order
/// between the two: a connection that moves brings all that its session will ever say here, and who joins a group is told
/// so only when every shard has confirmed the group's announcement.
#[derive(Debug)]
pub(crate) enum Control {
    /// A connection whose CONNECT names a client of the target.
    Connection(Box<MovedConnection>),
    /// The sender wants (`add`) or no longer wants messages of `filter`; its announcement number `seq`.
    Announce { seq: u64, interest: Interest, filter: Box<str>, add: bool },
    /// The target's announcements up to `seq` are in force at the sender, which before that had sent so many retained
    /// messages to each shard, and so many of any kind to the target: of what it publishes from now on the target gets its
    /// copies.
    Announced { seq: u64, retained_sent: Box<[u64]>, posted: u64 },
    /// About a session of the sender that is a member of groups that the target owns.
    Word(Word),
    /// The group is announced everywhere; or `refused`, the filter as the client wrote it, has no room.
    Joined { request: JoinRequest, refused: Option<Box<str>> },
    /// Send a page of retained messages, when everything is applied that the sender knows of.
    AskPage(Box<PageRequest>),
    /// The answer.
    Page(Box<Page>),
    /// Is there room for a message that a client of the sender has published? Answered by `Room`.
    AskRoom(Box<RoomQuestion>),
    /// A client of the sender has subscribed, and every shard knows: what waits in holds of the target is to be offered.
    Wanted { filter: Box<str> },
    /// What became of messages that the target has offered.
    Offered(Box<OfferedList>),
    /// Whether there is, for the connection that stands there; the room itself, where it can be held.
    Room { index: usize, born: u64, found: Result<Option<Box<ReservedRoom>>, NoRoom> },
}

/// Where a shard is asked for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoomWanted {
    /// Among retained messages.
    Retained,
    /// In the queue of every session that wants it.
    Queues,
}

/// Where a message has found no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// Among retained messages.
    Retained,
    /// Among the retained messages of its publisher's identity.
    RetainedShare,
    /// In the node's memory, of which nothing is left for more retained messages.
    Memory,
    /// In the queue of a session that wants it.
    Queues,
}

/// Asks the owner of a retained topic, or a shard whose sessions want a message, for room.
#[derive(Debug)]
pub(crate) struct RoomQuestion {
    /// The connection that waits, by its place and its number on the asking shard.
    pub(crate) index: usize,
    pub(crate) born: u64,
    pub(crate) topic: Box<str>,
    /// What the message takes up.
    pub(crate) bytes: u64,
    /// Whose it would be, where identities have shares.
    pub(crate) holder: Option<Holder>,
    pub(crate) wanted: RoomWanted,
    /// Messages that the asking shard had posted before: they are in the queues first.
    pub(crate) posted: u64,
}

impl Control {
    /// How much there is to do for it.
    pub(crate) fn weight(&self) -> usize {
        if let Control::Word(word) = self { word.weight() } else { 1 }
    }

    /// Whether it goes past announcements and pages.
    pub(crate) fn is_express(&self) -> bool {
        match self {
            Control::Connection(_)
            | Control::Word(_)
            | Control::Joined { .. }
            | Control::AskRoom(_)
            | Control::Offered(_)
            | Control::Room { .. } => true,
            Control::Announce { .. }
            | Control::Announced { .. }
            | Control::AskPage(_)
            | Control::Page(_)
            | Control::Wanted { .. } => false,
        }
    }
}
