//! Where a message goes: streams, sessions and groups here, other shards, the owner of its retained copy.
//!
//! The order is the same wherever it comes from: a retained message is retained, and the log forgets what it replaces; those here
//! are given it, and gather who keeps it; its entries go to the log; its copies go into the mail. Whoever keeps it is told the
//! index of its entry when he is given it, so nothing else goes to the log in between.

mod here;
mod plan;
mod publisher;
mod retain;

use lapwing_codec::QoS;
use lapwing_session::{Accepted, Grant, Routed, SessionKey};

pub(in crate::shard) use self::plan::RoutePlan;
pub(in crate::shard) use self::publisher::Publisher;
use self::retain::Retaining;
use crate::mail::{RouteFlags, RouteHeader};
use crate::shard::Shard;
use crate::shard::publish::publisher_hash::PublisherHash;
use crate::slot::ShardId;

/// Who stands in a shard's filter tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Target {
    /// A session of this shard.
    Session(SessionKey),
    /// Sessions of another shard.
    Shard(ShardId),
    /// Sessions of another shard that are kept on disk.
    Keeper(ShardId),
    /// Shared groups that another shard owns.
    Groups(ShardId),
    /// A stream, by its number in the configuration.
    Stream(u32),
}

/// The filter tree of a shard.
pub(crate) type Tree = lapwing_router::FilterTree<Target, Grant>;

/// All on a shard who may want a message.
pub(in crate::shard) const EVERYBODY: RouteFlags = RouteFlags::SESSIONS.with(RouteFlags::GROUPS);

impl Shard {
    /// Routes a message whose stamp is as it should be: one that came in and has it, or one that the node publishes itself.
    pub(in crate::shard) fn route_as_it_is(&mut self, routed: &Routed<'_>, publisher: &mut Publisher<'_>) -> Accepted {
        let mut context = self.context_of(routed, publisher);
        if let Some(hold) = self.holds.of(routed) {
            return self.route_through(hold, &mut context, publisher.client_id);
        }
        if context.in_memory {
            self.counters.in_memory.add(1);
        }
        let publish = routed.publish();
        let going = if publish.retain { self.retain_or_send(&mut context, publisher) } else { Retaining::default() };
        // The entry that clears a topic goes before the one that names the publisher of the message that cleared it. A crash between
        // them leaves the topic cleared, and the publisher's repeat clears it again. The other way round the repeat would be known,
        // and dropped, while the topic still had its message.
        let is_cleared = self.clear_retained(publish.qos);
        let found = self.deliver_here(&mut context, EVERYBODY, Some(publisher.client_id));
        let is_kept = self.keep(&mut context, going.retained) | is_cleared;
        let plan = found.plan.with_retained(going.elsewhere);
        if plan.is_for_sessions_alone() && publish.qos == QoS::AtMostOnce {
            // They give it to their clients and keep nothing of it.
            context.publisher = PublisherHash::Known(0);
        }
        let is_awaited = !plan.is_empty() && self.post_route(plan, &going.header(&context), publish);
        match found.any {
            _ if found.in_stream || is_kept || is_awaited => Accepted::Later(self.clients.commit_tokens.take()),
            true => Accepted::Now,
            false => Accepted::NobodySubscribed,
        }
    }

    /// A message that shard `from` sent here.
    pub(in crate::shard) fn route_mail(&mut self, from: ShardId, routed: &Routed<'_>, header: &RouteHeader) {
        let mut context = self.context_of_mail(routed, header);
        let flags = header.flags;
        if let Some(hold_route) = header.held {
            if flags.has(RouteFlags::HELD) {
                return self.receive_held(from, &mut context, flags, hold_route);
            }
            self.hold_message(hold_route.hold, &mut context);
            return;
        }
        let (topic, seq) = (routed.publish().topic, header.retained_seq);
        if seq > 0 {
            self.retained.sequences.note_live(from, self.owner_of_topic(topic), seq, topic);
            if flags.has(RouteFlags::SESSIONS) {
                self.retained.sequences.delivered.note(from, seq, topic);
            }
        }
        let mut retained = None;
        if flags.has(RouteFlags::RETAIN) {
            self.retained.sequences.apply(from);
            let bytes = header.reserved_bytes;
            let reserved = (bytes > 0).then(|| self.retained.table.room_in_mail(header.holder, bytes));
            retained = self.retain(&context, (from, seq), reserved);
        }
        self.clear_retained(routed.publish().qos);
        self.deliver_here(&mut context, flags, None);
        self.keep(&mut context, retained);
    }
}
