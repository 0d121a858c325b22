//! Publishing what clients do: each shard tells of its own, a share in each turn.

use lapwing_codec::{Publish, QoS};
use lapwing_session::Routed;

use crate::events::{Event, Happened};
use crate::hooks::HookClient;
use crate::log::{LogFeed, now_us};
use crate::shard::Shard;
use crate::shard::operators::sys::NOBODY;
use crate::shard::publish::route::Publisher;
use crate::sys::OURSELVES;

/// Events that are published in one turn: a storm of them leaves room for clients.
const EVENTS_PER_TURN: usize = 64;

impl Shard {
    /// Notes that something has happened to a client, if that is published.
    pub(in crate::shard) fn note_event(&mut self, client: &HookClient, happened: &Happened<'_>) {
        if self.operators.happenings.wants(happened)
            && !self.operators.happenings.add(Event::of(client, happened, now_us()))
        {
            self.counters.traffic.events_dropped.add(1);
        }
    }

    /// Publishes what waits, as far as there is room.
    pub(in crate::shard) fn publish_events(&mut self) {
        for _ in 0..EVENTS_PER_TURN {
            if !self.may_publish_events() {
                return;
            }
            let Some(Event { topic, payload }) = self.operators.happenings.take() else { return };
            // With an acknowledgement, so that it is kept for those who are away; nobody waits for one here.
            let publish = Publish { qos: QoS::AtLeastOnce, ..Publish::qos0(&topic, payload.as_bytes()) };
            let _ = self.route_as_it_is(&Routed::new(publish, NOBODY, self.now_ms), &mut Publisher::named(OURSELVES));
            self.counters.traffic.events.add(1);
        }
    }

    /// True when `publish_events` would get something done; not before the subscriptions of every shard are known here.
    pub(in crate::shard) fn may_publish_events(&self) -> bool {
        let is_time = self.connections.is_listening && !self.operators.happenings.is_empty();
        is_time && self.mail.post.has_credit() && self.durable.log.as_ref().is_none_or(LogFeed::has_credit)
    }
}
