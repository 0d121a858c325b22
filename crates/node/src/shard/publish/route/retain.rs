//! The retained copy of a message: on the shard that owns its topic.

use std::sync::Arc;

use lapwing_session::SessionKey;

use super::Publisher;
use crate::config::Durability;
use crate::holder::Holder;
use crate::mail::{RouteHeader, Source};
use crate::memory::Pressure;
use crate::metrics::DropReason;
use crate::reserved_room::ReservedRoom;
use crate::shard::Shard;
use crate::shard::publish::delivery::DeliveryContext;
use crate::shard::retained::table::Retained;
use crate::slot::{ShardId, Slot};

/// What becomes of the retained copy of a message that came in here.
#[derive(Debug, Default)]
pub(super) struct Retaining {
    /// Here; `None`: its topic is owned elsewhere, or it was retained before the node started, or it is not to be.
    pub(super) retained: Option<Retained>,
    /// The shard that owns its topic, if that is another one.
    pub(super) elsewhere: Option<ShardId>,
    seq: u64,
    reserved_bytes: u64,
}

impl Retaining {
    /// What the shards of its plan have to know of the message.
    pub(super) fn header(&self, context: &DeliveryContext<'_>) -> RouteHeader {
        RouteHeader { retained_seq: self.seq, reserved_bytes: self.reserved_bytes, ..context.header() }
    }
}

impl Shard {
    /// Retains a message that came in here, or finds out who is to.
    pub(super) fn retain_or_send(
        &mut self,
        context: &mut DeliveryContext<'_>,
        publisher: &mut Publisher<'_>,
    ) -> Retaining {
        let (topic, own) = (context.routed.publish().topic, self.id);
        let owner = self.owner_of_topic(topic);
        let seq = self.retained.sequences.send(owner);
        context.holder = publisher.holder.or_else(|| self.holder_of(context.routed.publisher()));
        self.retained.sequences.note_live(own, owner, seq, topic);
        self.retained.sequences.delivered.note(own, seq, topic);
        let reserved = publisher.reserved_room.take();
        if owner == own {
            let retained = self.retain(context, (own, seq), reserved);
            return Retaining { retained, seq, ..Retaining::default() };
        }
        let reserved_bytes = reserved.map_or(0, ReservedRoom::into_bytes);
        Retaining { retained: None, elsewhere: Some(owner), seq, reserved_bytes }
    }

    /// Keeps a retained message whose topic is owned here; `origin`: the shard where it came in, and its number there. `None`
    /// where that was done before the node started.
    pub(super) fn retain(
        &mut self,
        context: &DeliveryContext<'_>,
        (origin, seq): (ShardId, u64),
        room: Option<ReservedRoom>,
    ) -> Option<Retained> {
        let routed = context.routed;
        let topic = routed.publish().topic;
        if context.is_repeat(Slot::of(topic.as_bytes())) {
            // It was retained before the node started, and perhaps another one since.
            return None;
        }
        // What has its room was promised to be kept, before there was no memory for more.
        let is_refused = self.pressure == Pressure::Full && room.is_none() && !routed.publish().payload.is_empty();
        let retained = if is_refused {
            self.counters.dropped(DropReason::MemoryFull, 1);
            self.retained.table.forget(topic)
        } else {
            let source = Source { publisher: context.publisher.get(), origin, seq, holder: context.holder };
            let durability = if context.in_memory { Durability::Memory } else { Durability::Disk };
            self.retained.table.set(routed, source, durability, room, self.now_ms)
        };
        if retained == Retained::Refused {
            self.counters.dropped(DropReason::RetainedFull, 1);
            self.shared.want_retained_room();
        }
        if retained == Retained::BeyondShare {
            self.counters.dropped(DropReason::RetainedFull, 1);
            self.refused_beyond_share(None);
        }
        self.count_retained();
        self.watch_retained();
        Some(retained)
    }

    /// Whose a retained message of that session is, where it is counted who has them.
    pub(in crate::shard) fn holder_of(&self, session: SessionKey) -> Option<Holder> {
        if !self.shared.shares.retained.is_on() {
            return None;
        }
        let row = self.clients.peek(session)?;
        Some(Holder::of_client(row.standing.identity.name(), row.session.client_id()))
    }

    /// The same for who has this name, or else this client id.
    pub(in crate::shard) fn holder_by(&self, name: Option<&str>, client_id: &str) -> Option<Holder> {
        self.shared.shares.retained.is_on().then(|| Holder::of_client(name, client_id))
    }

    /// The name of who has a session, for the log.
    pub(in crate::shard) fn holder_name(&self, session: SessionKey) -> Option<Arc<str>> {
        self.clients.peek(session)?.standing.identity.shared_name().cloned()
    }

    /// The shard that keeps the retained message of `topic`.
    pub(in crate::shard) fn owner_of_topic(&self, topic: &str) -> ShardId {
        self.shared.placement.owner_of(Slot::of(topic.as_bytes())).shard
    }
}
