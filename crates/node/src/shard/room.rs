//! Room for a message, asked for before it is taken: a 5.0 client that waits for an acknowledgement is told 0x97.
//!
//! Two kinds of room. A *retained* message needs some among the others; while there is little, the PUBLISH stays in the input
//! until the owner of its topic has said whether it fits. And where `queue_policy` is `refuse`, a message needs room in the queue
//! of *every session that wants it*: each shard that has such sessions is asked, behind all that was posted to it before. Then
//! the same bytes are handled again. What has no room is refused as a whole: it is not delivered either, the value kept before
//! stays, and the publisher knows.
//!
//! Who cannot be told (3.1.1, QoS 0, wills) has a retained message delivered and not retained, and the older value is forgotten: it
//! must not pose as the newest; and of a full queue the newest message is dropped. Between the answer and the message somebody
//! else may take the room; then it is as for those who cannot be told.

use std::sync::atomic::Ordering;

use lapwing_codec::{Packet, Publish, ReasonCode};
use lapwing_session::{Inbound, Message, Routed, SessionKey};

use super::Shard;
use super::connection::Hold;
use super::mailroom::ELSEWHERE;
use super::route::Target;
use super::serve::{Client, Flow};
use crate::config::QueuePolicy;
use crate::identity_shares::Holder;
use crate::mail::{Control, RoomQuestion, Wanted};
use crate::metrics::DropReason;
use crate::slot::ShardId;

/// Expired messages that a shard gives up in one turn because room is wanted.
const EXPIRED_PER_TURN: usize = 1024;

/// What a connection knows about the room for its next message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Room {
    /// Nothing; nor need it.
    #[default]
    Unknown,
    /// So many shards were asked and have not answered; `missing`: where one has said that there is none.
    Asked { left: u32, missing: Option<Wanted> },
    /// All have answered.
    Answered { missing: Option<Wanted> },
}

impl Shard {
    /// Gives up what has expired here when somebody has found no room for a retained message.
    pub(super) fn make_retained_room(&mut self) {
        let wanted = self.shared.retained_wanted.load(Ordering::Relaxed);
        if wanted != self.retained_wanted {
            self.retained_wanted = wanted;
            self.retained.give_up_some_expired(EXPIRED_PER_TURN, self.now_ms);
            self.counters.retained_messages.set(self.retained.messages());
            self.counters.retained_bytes.set(self.retained.bytes());
        }
    }

    /// Whether a packet must wait for an answer; then its questions are under way.
    pub(super) fn must_ask_for_room(&mut self, index: usize, client: &Client, packet: &Packet<'_>) -> bool {
        let Packet::Publish(publish) = packet else { return false };
        if !publish.qos.is_acknowledged() || !client.version.has_properties() {
            return false;
        }
        let holder = if publish.retain { self.holder_of(client.session) } else { None };
        let needs_retained = publish.retain
            && !publish.payload.is_empty()
            && (self.shared.is_retained_tight() || self.shared.is_share_tight(holder));
        let needs_queues = self.shared.config.limits.queue_policy == QueuePolicy::Refuse;
        if !needs_retained && !needs_queues {
            return false;
        }
        if self.clients.connection(index).is_none_or(|connection| connection.room != Room::Unknown) {
            return false;
        }
        let Some(topic) = self.topic_of(client.session, publish) else { return false };
        let publish = Publish { topic: &topic, ..*publish };
        let bytes = (Message::footprint_of(&publish) + self.stamp_bytes(&client.id)) as u64;
        let mut asked = Vec::new();
        let mut missing = None;
        if needs_queues && !self.goes_through_hold(&publish) {
            let (has_room, shards) = self.look_at_queues(&topic, bytes);
            missing = (!has_room).then_some(Wanted::Queues);
            asked.extend(shards.into_iter().map(|shard| (shard, Wanted::Queues)));
        }
        let owner = self.owner_of_topic(&topic);
        if needs_retained && owner != self.id {
            asked.push((owner, Wanted::Retained));
        } else if needs_retained {
            missing = missing.or(self.retained.missing_room(&topic, bytes, holder, self.now_ms));
        }
        self.ask_for_room(index, (&topic, bytes, holder), &asked, missing)
    }

    /// Sends the questions, unless it is known already that there is no room; true when answers are to be waited for.
    fn ask_for_room(
        &mut self,
        index: usize,
        (topic, bytes, holder): (&str, u64, Option<Holder>),
        asked: &[(ShardId, Wanted)],
        missing: Option<Wanted>,
    ) -> bool {
        let Some(connection) = self.clients.connection(index) else { return false };
        if missing.is_some() || asked.is_empty() {
            connection.room = Room::Answered { missing };
            return false;
        }
        connection.room = Room::Asked { left: asked.len() as u32, missing: None };
        connection.hold = Some(Hold::Gate);
        let born = connection.born;
        for &(shard, wanted) in asked {
            let posted = self.sequences.posted(shard);
            let question = RoomQuestion { index, born, topic: topic.into(), bytes, holder, wanted, posted };
            self.post.control(shard, Control::AskRoom(Box::new(question)));
        }
        true
    }

    /// The topic of a PUBLISH, its alias resolved. An unknown alias is for the session to find, and so is what is beyond a limit:
    /// nobody is asked about that.
    pub(super) fn topic_of(&mut self, session: SessionKey, publish: &Publish<'_>) -> Option<Box<str>> {
        let session = &self.clients.entry(session)?.session;
        let topic = match (publish.topic, publish.properties.topic_alias) {
            ("", alias) => session.topic_of(alias?)?,
            (topic, _) => topic,
        };
        session.beyond(&Publish { topic, ..*publish }).is_none().then(|| topic.into())
    }

    /// Whether a message goes through a hold: what has no room there waits.
    fn goes_through_hold(&mut self, publish: &Publish<'_>) -> bool {
        self.holds.any() && self.holds.of(&Routed::new(*publish, ELSEWHERE, self.now_ms)).is_some()
    }

    /// Whether every session here that wants a message has room for it; and the other shards that have such sessions.
    fn look_at_queues(&mut self, topic: &str, bytes: u64) -> (bool, Vec<ShardId>) {
        let Shard { tree, clients, .. } = self;
        let (mut has_room, mut shards) = (true, Vec::new());
        tree.matches(topic, |entries| match entries[0].subscriber {
            Target::Session(key) => {
                let is_acknowledged = entries.iter().any(|entry| entry.options.options.qos.is_acknowledged());
                has_room &= !is_acknowledged || clients.has_room_for(key, bytes);
            }
            Target::Shard(shard) => shards.push(shard),
            Target::Keeper(_) | Target::Groups(_) | Target::Stream(_) => {}
        });
        (has_room, shards)
    }

    /// Another shard wants to know whether there is room here for a message of one of its clients.
    pub(super) fn answer_room(&mut self, from: ShardId, question: Box<RoomQuestion>) {
        let mut wanted = question.wanted;
        let fits = match question.wanted {
            Wanted::Retained | Wanted::RetainedShare => {
                let RoomQuestion { topic, bytes, holder, .. } = &*question;
                let missing = self.retained.missing_room(topic, *bytes, *holder, self.now_ms);
                wanted = missing.unwrap_or(wanted);
                missing.is_none()
            }
            Wanted::Queues if !self.sequences.has_taken(from, question.posted) => {
                self.early_rooms.push((from, question));
                return;
            }
            Wanted::Queues => self.look_at_queues(&question.topic, question.bytes).0,
        };
        let RoomQuestion { index, born, .. } = *question;
        self.post.control(from, Control::Room { index, born, wanted, fits });
    }

    /// Answers the questions before which mail had to come that has come meanwhile.
    pub(super) fn answer_early_rooms(&mut self) {
        for (from, question) in std::mem::take(&mut self.early_rooms) {
            self.answer_room(from, question);
        }
    }

    /// A shard has answered: with the last answer the connection goes on with the packet that waits.
    pub(super) fn take_room(&mut self, index: usize, born: u64, wanted: Wanted, fits: bool) {
        let Some(connection) = self.clients.connection(index).filter(|c| c.born == born) else { return };
        let Room::Asked { left, missing } = connection.room else { return };
        let missing = missing.or((!fits).then_some(wanted));
        if left > 1 {
            connection.room = Room::Asked { left: left - 1, missing };
            return;
        }
        connection.room = Room::Answered { missing };
        self.leave_gate(index);
    }

    /// Refuses a message that is known to have no room; `None` when it is taken.
    pub(super) fn refuse_without_room(&mut self, index: usize, client: &Client, inbound: &Inbound<'_>) -> Option<Flow> {
        let connection = self.clients.connection(index)?;
        let Room::Answered { missing: Some(missing) } = std::mem::take(&mut connection.room) else { return None };
        let words = match missing {
            Wanted::Retained => {
                self.counters.dropped(DropReason::RetainedFull, 1);
                self.shared.want_retained_room();
                "there is no room for one more retained message"
            }
            Wanted::RetainedShare => {
                self.counters.dropped(DropReason::RetainedFull, 1);
                self.refused_beyond_share(self.holder_name(client.session).as_deref());
                "you have your share of retained messages"
            }
            Wanted::Queues => {
                self.counters.limits.refused_queue_full.add(1);
                "the queue of a client that wants it is full"
            }
        };
        self.clients.with(client.session, |session, io| {
            session.refuse(inbound.receipt, ReasonCode::QuotaExceeded, Some(words), io);
        });
        Some(self.check_output(index))
    }
}
