//! Room for a retained message, asked for before it is taken: a 5.0 client that waits for an acknowledgement is told 0x97.
//!
//! The table of a topic may lie on another shard. While that one is nearly full, the PUBLISH stays in the input until its
//! owner has said whether it fits; then the same bytes are handled again. What has no room is refused as a whole: it is
//! not delivered either, the value kept before stays, and the publisher knows. Who cannot be told (3.1.1, QoS 0) has the
//! message delivered and not retained, and the older value is forgotten: it must not pose as the newest. Between the
//! answer and the message somebody else may take the room; then it is as for those who cannot be told.

use lapwing_codec::{Packet, Publish, ReasonCode};
use lapwing_session::{Accepted, Inbound, Message};

use super::Shard;
use super::connection::Hold;
use super::serve::{Client, Flow};
use crate::mail::{Control, RoomQuestion};
use crate::metrics::DropReason;
use crate::slot::ShardId;

/// What a connection knows about the room for its next message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Room {
    /// Nothing; nor need it.
    #[default]
    Unknown,
    /// The owner was asked.
    Asked,
    /// The owner has answered.
    Answered { fits: bool },
}

impl Shard {
    /// Lets all shards know whether the next message might not fit here, be it of the largest size.
    pub(super) fn note_room(&self) {
        let largest = 2 * u64::from(self.shared.config.limits.packet_bytes_max);
        self.shared.set_retained_tight(self.id.index(), self.retained.is_tight(largest));
    }

    /// Whether a packet must wait for an answer; then its question is under way.
    pub(super) fn must_ask_for_room(&mut self, index: usize, client: &Client, packet: &Packet<'_>) -> bool {
        let Packet::Publish(publish) = packet else { return false };
        let can_be_told = publish.qos.is_acknowledged() && client.version.has_properties();
        if !publish.retain || publish.payload.is_empty() || !can_be_told || !self.shared.is_retained_tight() {
            return false;
        }
        let Some(entry) = self.clients.entry(client.session) else { return false };
        let alias = publish.properties.topic_alias;
        let topic = match (publish.topic, alias) {
            ("", Some(alias)) => entry.session.topic_of(alias),
            ("", None) => None,
            (topic, _) => Some(topic),
        };
        // An unknown alias is for the session to find.
        let Some(topic) = topic.map(Box::<str>::from) else { return false };
        let bytes = Message::footprint_of(&Publish { topic: &topic, ..*publish }) + self.stamp_bytes(&client.id);
        let bytes = bytes as u64;
        let owner = self.owner_of_topic(&topic);
        let Some(connection) = self.clients.connection(index) else { return false };
        if connection.room != Room::Unknown {
            return false;
        }
        if owner == self.id {
            let fits = self.retained.has_room(&topic, bytes, self.now_ms);
            connection.room = Room::Answered { fits };
            return false;
        }
        connection.room = Room::Asked;
        connection.hold = Some(Hold::Gate);
        let question = RoomQuestion { index, born: connection.born, topic, bytes };
        self.post.control(owner, Control::AskRoom(Box::new(question)));
        true
    }

    /// Another shard wants to know whether a message of one of its clients can be retained here.
    pub(super) fn answer_room(&mut self, from: ShardId, question: &RoomQuestion) {
        let fits = self.retained.has_room(&question.topic, question.bytes, self.now_ms);
        self.post.control(from, Control::Room { index: question.index, born: question.born, fits });
    }

    /// The owner has answered: the connection goes on with the packet that waits.
    pub(super) fn take_room(&mut self, index: usize, born: u64, fits: bool) {
        let Some(connection) = self.clients.connection(index).filter(|c| c.born == born) else { return };
        if connection.room == Room::Asked {
            connection.room = Room::Answered { fits };
            self.leave_gate(index);
        }
    }

    /// Refuses a message that is known to have no room; `None` when it is taken.
    pub(super) fn refuse_unretained(&mut self, index: usize, client: &Client, inbound: &Inbound<'_>) -> Option<Flow> {
        let connection = self.clients.connection(index)?;
        if std::mem::take(&mut connection.room) != (Room::Answered { fits: false }) {
            return None;
        }
        self.counters.dropped(DropReason::RetainedFull, 1);
        let refused = Accepted::Refused(ReasonCode::QuotaExceeded);
        self.clients.with(client.session, |session, io| session.accept(inbound.receipt, refused, io));
        Some(self.check_output(index))
    }
}
