//! What shards send each other.

use std::time::Instant;

use lapwing_codec::{Publish, Version};
use lapwing_session::{Grant, SessionKey};
use lapwing_transport::Socket;

/// Why a message goes to another shard; flags, because one copy serves all reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reasons(u8);

impl Reasons {
    /// Its sessions want it.
    pub(crate) const SESSIONS: Reasons = Reasons(1);
    /// Shared groups that it owns want it.
    pub(crate) const GROUPS: Reasons = Reasons(2);
    /// It owns the retained message of this topic.
    pub(crate) const RETAIN: Reasons = Reasons(4);

    pub(crate) fn with(self, other: Reasons) -> Reasons {
        Reasons(self.0 | other.0)
    }

    pub(crate) fn has(self, other: Reasons) -> bool {
        self.0 & other.0 != 0
    }
}

/// A message picked for one session: by a shared group, or as the replay of a retained one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direct {
    pub(crate) to: SessionKey,
    pub(crate) grant: Grant,
    pub(crate) retained: bool,
    /// When its Message Expiry Interval is over, on the node's clock; the frame itself has the interval as published.
    pub(crate) expires_at_ms: Option<u64>,
}

/// Messages as MQTT 5.0 PUBLISH frames, each with its errand; one allocation for all their bytes.
#[derive(Debug)]
pub(crate) struct Parcel<T> {
    pub(crate) bytes: Vec<u8>,
    /// The errand, and the end of its frame in `bytes`; a frame begins where the one before ends.
    pub(crate) items: Vec<(T, usize)>,
}

impl<T> Parcel<T> {
    pub(crate) fn new() -> Self {
        Parcel { bytes: Vec::new(), items: Vec::new() }
    }

    /// Adds a message.
    pub(crate) fn push(&mut self, errand: T, publish: &Publish<'_>) {
        encode_frame(publish, &mut self.bytes);
        self.items.push((errand, self.bytes.len()));
    }

    /// Each errand with its frame.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&T, &[u8])> {
        let mut start = 0;
        self.items.iter().map(move |(errand, end)| {
            let frame = &self.bytes[start..*end];
            start = *end;
            (errand, frame)
        })
    }
}

/// Appends `publish` as a 5.0 frame, without what belongs to one connection only.
pub(crate) fn encode_frame(publish: &Publish<'_>, out: &mut Vec<u8>) {
    let mut frame = *publish;
    frame.dup = false;
    frame.properties.topic_alias = None;
    frame.properties.subscription_ids = lapwing_codec::SubscriptionIds::EMPTY;
    if frame.packet_id.is_none() && frame.qos != lapwing_codec::QoS::AtMostOnce {
        frame.packet_id = lapwing_codec::PacketId::new(1);
    }
    let before = out.len();
    if frame.encode(Version::V5, out).is_err() {
        // A packet that was decoded is never longer without its alias, so this cannot be; an empty frame is skipped.
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
}

/// A connection on its way to the shard of its client.
#[derive(Debug)]
pub(crate) struct MovedConnection {
    pub(crate) socket: Socket,
    /// Read already: the CONNECT, and what came behind it.
    pub(crate) bytes: Vec<u8>,
    pub(crate) accepted_at: Instant,
}

/// Messages on the control lane.
#[derive(Debug)]
pub(crate) enum Control {
    /// A connection whose CONNECT names a client of the target.
    Connection(Box<MovedConnection>),
    /// The sender wants (`add`) or no longer wants messages of `filter`; its announcement number `seq`.
    Announce { seq: u64, interest: Interest, filter: Box<str>, add: bool },
    /// The target's announcements up to `seq` are in force at the sender.
    Announced { seq: u64 },
    /// A session of the sender joins a group that the target owns; answered by `Joined`.
    Join { request: u64, group: Box<str>, filter: Box<str>, member: SessionKey, grant: Grant },
    /// The member has lost (`away`) or got back its connection.
    Away { group: Box<str>, filter: Box<str>, member: SessionKey, grant: Grant, away: bool },
    /// The group is announced everywhere.
    Joined { request: u64 },
    /// The session is no member any more.
    Leave { group: Box<str>, filter: Box<str>, member: SessionKey },
    /// Send the retained messages that match `filter` to this session, on the direct lane.
    Replay { filter: Box<str>, to: SessionKey, grant: Grant },
}
