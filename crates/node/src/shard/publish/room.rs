//! Room for a message, asked for before it is taken: a 5.0 client that waits for an acknowledgement is told 0x97.
//!
//! Two kinds of room. A *retained* message needs some among the others, and takes it here ([`ReservedRoom`]); where there is none
//! for one more, the PUBLISH stays in the input until the owner of its topic has said whether it fits in the place of another one, or
//! of one that has expired, and has taken the room for it. And where `queue_policy` is `refuse`, a message needs room in the queue
//! of *every session that wants it*: each shard that has such sessions is asked, behind all that was posted to it before. Then
//! the same bytes are handled again. What has no room is refused as a whole: it is not delivered either, the value kept before
//! stays, and the publisher knows.
//!
//! Who cannot be told (3.1.1, QoS 0, wills) has a retained message delivered and not retained, and the older value is forgotten: it
//! must not pose as the newest; and of a full queue the newest message is dropped. Between the answer and the message somebody
//! else may fill a queue; then it is as for those who cannot be told.

use lapwing_codec::{Publish, ReasonCode};
use lapwing_session::{Inbound, Message, Routed, SessionKey};

use crate::config::QueuePolicy;
use crate::holder::Holder;
use crate::mail::{Control, NoRoom, RoomQuestion, RoomWanted};
use crate::memory::Pressure;
use crate::metrics::DropReason;
use crate::reserved_room::ReservedRoom;
use crate::shard::Shard;
use crate::shard::connections::connection::Pause;
use crate::shard::connections::serve::{Client, Flow};
use crate::shard::connections::underway::Underway;
use crate::shard::mail::mailroom::ELSEWHERE;
use crate::shard::publish::route::Target;
use crate::shard::subscribe::SubscribeRoom;
use crate::slot::ShardId;

/// What a connection knows about the room for its next message.
#[derive(Debug)]
pub(crate) enum RoomAnswer {
    /// So many shards were asked and have not answered; `missing`: where one has said that there is none.
    Asked { left: u32, missing: Option<NoRoom>, reserved: Option<Box<ReservedRoom>> },
    /// All have answered.
    Answered { missing: Option<NoRoom>, reserved: Option<Box<ReservedRoom>> },
}

impl Shard {
    /// Whether a message needs room that is asked for before it is taken, and has not been yet.
    #[inline]
    pub(in crate::shard) fn needs_room(&mut self, index: usize, client: &Client, publish: &Publish<'_>) -> bool {
        if !publish.qos.is_acknowledged() || !client.version.has_properties() {
            return false;
        }
        let needs_any = needs_retained(publish) || self.needs_queues();
        let connection = if needs_any { self.clients.connection(index) } else { None };
        let is_known = connection.is_none_or(|connection| connection.knows_room());
        // What is in doubt is not refused: some have had it since before the node started, and it may be what fills their queues.
        !is_known && !self.clients.peek(client.session).is_some_and(|row| row.session.is_doubted(publish))
    }

    fn needs_queues(&self) -> bool {
        self.shared.config.limits.queue_policy == QueuePolicy::Refuse
    }

    /// Whether a message that [`needs_room`](Self::needs_room), with its `topic`, must wait for an answer; then its questions are
    /// under way.
    pub(in crate::shard) fn must_ask_for_room(
        &mut self,
        index: usize,
        client: &Client,
        publish: &Publish<'_>,
        topic: &str,
    ) -> bool {
        let holder = if publish.retain { self.holder_of(client.session) } else { None };
        let (needs_retained, needs_queues) = (needs_retained(publish), self.needs_queues());
        let publish = Publish { topic, ..*publish };
        let bytes = (Message::footprint_of(&publish) + self.stamp_bytes(&client.id)) as u64;
        let mut asked = Vec::new();
        let mut missing = None;
        if needs_queues && !self.goes_through_hold(&publish) {
            let (has_room, shards) = self.look_at_queues(topic, bytes);
            missing = (!has_room).then_some(NoRoom::Queues);
            asked.extend(shards.into_iter().map(|shard| (shard, RoomWanted::Queues)));
        }
        if needs_retained && self.pressure == Pressure::Full {
            missing = Some(NoRoom::Memory);
        }
        let mut reserved = None;
        if needs_retained && missing.is_none() {
            let owner = self.owner_of_topic(topic);
            match self.shared.reserve_retained(holder, bytes) {
                Ok(room) => reserved = Some(Box::new(room)),
                Err(_) if owner != self.id => asked.push((owner, RoomWanted::Retained)),
                Err(_) => match self.retained.table.reserve(topic, bytes, holder, self.now_ms) {
                    Ok(room) => reserved = Some(Box::new(room)),
                    Err(no_room) => missing = Some(no_room),
                },
            }
        }
        self.ask_for_room(index, (topic, bytes, holder), &asked, missing, reserved)
    }

    /// Sends the questions, unless it is known already that there is no room; true when answers are to be waited for.
    fn ask_for_room(
        &mut self,
        index: usize,
        (topic, bytes, holder): (&str, u64, Option<Holder>),
        asked: &[(ShardId, RoomWanted)],
        missing: Option<NoRoom>,
        reserved: Option<Box<ReservedRoom>>,
    ) -> bool {
        let Some(connection) = self.clients.connection(index) else { return false };
        if missing.is_some() || asked.is_empty() {
            connection.underway = Underway::Room(RoomAnswer::Answered { missing, reserved });
            return false;
        }
        connection.underway = Underway::Room(RoomAnswer::Asked { left: asked.len() as u32, missing: None, reserved });
        connection.paused = Some(Pause::Gate);
        let born = connection.born;
        for &(shard, wanted) in asked {
            let posted = self.retained.sequences.posted(shard);
            let question = RoomQuestion { index, born, topic: topic.into(), bytes, holder, wanted, posted };
            self.mail.post.control(shard, Control::AskRoom(Box::new(question)));
        }
        true
    }

    /// The topic of a PUBLISH, its alias resolved. An unknown alias is for the session to find, and so is what is beyond a limit:
    /// nobody is asked about that.
    pub(in crate::shard) fn topic_of(&mut self, session: SessionKey, publish: &Publish<'_>) -> Option<Box<str>> {
        let session = &self.clients.row(session)?.session;
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
        let Shard { subscriptions: SubscribeRoom { tree, .. }, clients, .. } = self;
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
    pub(in crate::shard) fn answer_room(&mut self, from: ShardId, question: Box<RoomQuestion>) {
        let RoomQuestion { index, born, ref topic, bytes, holder, wanted, posted } = *question;
        let found = match wanted {
            RoomWanted::Retained => {
                self.retained.table.reserve(topic, bytes, holder, self.now_ms).map(|reserved| Some(Box::new(reserved)))
            }
            RoomWanted::Queues if !self.retained.sequences.has_taken(from, posted) => {
                return self.retained.early_rooms.push((from, question));
            }
            RoomWanted::Queues if self.look_at_queues(topic, bytes).0 => Ok(None),
            RoomWanted::Queues => Err(NoRoom::Queues),
        };
        self.mail.post.control(from, Control::Room { index, born, found });
    }

    /// Answers the questions before which mail had to come that has come meanwhile.
    pub(in crate::shard) fn answer_early_rooms(&mut self) {
        for (from, question) in std::mem::take(&mut self.retained.early_rooms) {
            self.answer_room(from, question);
        }
    }

    /// A shard has answered: with the last answer the connection goes on with the packet that waits.
    pub(in crate::shard) fn take_room(
        &mut self,
        (index, born): (usize, u64),
        found: Result<Option<Box<ReservedRoom>>, NoRoom>,
    ) {
        let Some(connection) = self.clients.connection(index).filter(|c| c.born == born) else { return };
        match connection.take_room() {
            Some(RoomAnswer::Asked { left, missing, reserved }) => {
                let (room, no_room) = found.map_or_else(|no_room| (None, Some(no_room)), |room| (room, None));
                let (missing, reserved) = (missing.or(no_room), reserved.or(room));
                if left > 1 {
                    connection.underway = Underway::Room(RoomAnswer::Asked { left: left - 1, missing, reserved });
                    return;
                }
                connection.underway = Underway::Room(RoomAnswer::Answered { missing, reserved });
                self.leave_gate(index);
            }
            Some(answered) => connection.underway = Underway::Room(answered),
            None => {}
        }
    }

    /// The room that a message was promised, if any had to be; `Err`: it is known to have none, and is refused.
    pub(in crate::shard) fn take_room_for(
        &mut self,
        index: usize,
        client: &Client,
        inbound: &Inbound<'_>,
    ) -> Result<Option<ReservedRoom>, Flow> {
        let Some(connection) = self.clients.connection(index) else { return Ok(None) };
        let Some(RoomAnswer::Answered { missing, reserved }) = connection.take_room() else { return Ok(None) };
        let Some(missing) = missing else { return Ok(reserved.map(|room| *room)) };
        let words = match missing {
            NoRoom::Retained => {
                self.counters.dropped(DropReason::RetainedFull, 1);
                self.shared.want_retained_room();
                "there is no room for one more retained message"
            }
            NoRoom::RetainedShare => {
                self.counters.dropped(DropReason::RetainedFull, 1);
                self.refused_beyond_share(self.holder_name(client.session).as_deref());
                "you have your share of retained messages"
            }
            NoRoom::Memory => {
                self.counters.dropped(DropReason::MemoryFull, 1);
                "there is no memory for one more retained message"
            }
            NoRoom::Queues => {
                self.counters.limits.refused_queue_full.add(1);
                "the queue of a client that wants it is full"
            }
        };
        self.clients.with(client.session, |session, io| {
            session.refuse(inbound.receipt, ReasonCode::QuotaExceeded, Some(words), io);
        });
        Err(self.check_output(index))
    }
}

/// Whether a message takes a place among the retained ones.
fn needs_retained(publish: &Publish<'_>) -> bool {
    publish.retain && !publish.payload.is_empty()
}
