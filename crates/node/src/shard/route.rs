//! Where a message goes: streams, sessions here, shards that asked for it, groups, the owner of its retained copy.

use std::sync::Arc;

use lapwing_codec::{Publish, QoS};
use lapwing_envelope::{Envelope, sent_at_us};
use lapwing_session::{Accepted, Grant, Routed, SessionKey, unstamped};

use super::Shard;
use super::groups::{Origin as GroupOrigin, Publisher};
use super::keeping::{About, Origin};
use super::retained::Retained;
use crate::config::Durability;
use crate::holder::Holder;
use crate::log::{LogFeed, now_us};
use crate::mail::{RouteFlags, RouteHeader, Source};
use crate::memory::Pressure;
use crate::metrics::{DropReason, ShardCounters};
use crate::reserved_room::ReservedRoom;
use crate::slot::{ShardId, Slot, stable_hash};

/// Who stands in a shard's filter tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Target {
    /// A session of this shard.
    Session(lapwing_session::SessionKey),
    /// Sessions of another shard.
    Shard(ShardId),
    /// Sessions of another shard that are kept on disk.
    Keeper(ShardId),
    /// Shared groups that another shard owns.
    Groups(ShardId),
    /// A stream, by its number in the configuration.
    Stream(u32),
}

/// What the filter tree said about one message, beside the deliveries made already.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// Bit per shard: its sessions want it.
    sessions: u64,
    /// Bit per shard: groups that it owns want it.
    groups: u64,
    /// Bit per shard: it has sessions among these that are kept on disk.
    keepers: u64,
    /// Anybody at all wants it.
    any: bool,
    /// A stream keeps it.
    in_stream: bool,
}

impl Shard {
    /// Routes a message whose stamp is as it should be: one that came in and has it, or one that the node publishes itself.
    pub(super) fn route_as_it_is(&mut self, routed: &Routed<'_>, client_id: &str, origin: Option<Origin>) -> Accepted {
        if let Some(hold) = self.holds.of(routed) {
            return self.route_through(hold, routed, client_id, origin);
        }
        let publish = routed.publish();
        let publisher = stable_hash(client_id.as_bytes());
        debug_assert!(self.clients.keeping.as_ref().is_none_or(|keeping| !keeping.is_open()), "a message was not kept");
        self.note_repeats(origin);
        let mut header = RouteHeader { expires_at_ms: routed.expires_at_ms(), origin, ..RouteHeader::default() };
        if self.note_in_memory(publish) {
            header.flags = RouteFlags::IN_MEMORY;
            self.counters.in_memory.add(1);
        }
        let retain_owner = publish.retain.then(|| self.owner_of_topic(publish.topic));
        if let Some(owner) = retain_owner {
            header.retained_seq = self.sequences.send(owner);
            header.publisher = publisher;
            header.holder = self.will_holder.take().or_else(|| self.holder_of(routed.publisher()));
            self.sequences.note_live(self.id, owner, header.retained_seq, publish.topic);
            self.sequences.delivered.note(self.id, header.retained_seq, publish.topic);
        }
        let source = Source { publisher, origin: self.id, seq: header.retained_seq, holder: header.holder };
        let reserved = self.reserved_room.take().filter(|_| publish.retain);
        let retained = if retain_owner == Some(self.id) {
            self.retain(routed, source, reserved)
        } else {
            header.reserved_bytes = reserved.map_or(0, ReservedRoom::into_bytes);
            None
        };
        // The entry that clears a topic goes before the one that names the publisher of the message that cleared it. A crash between
        // them leaves the topic cleared, and the publisher's repeat clears it again. The other way round the repeat would be known,
        // and dropped, while the topic still had its message. And it goes before anybody is given the message: who keeps it is
        // told the index that the message's own entry will have, and no other may come between.
        let is_cleared = self.clear_retained(publish.qos);
        let mut found = self.match_tree(routed, client_id);
        if found.groups != 0 {
            (header.publisher, header.ingress_us) = (publisher, self.clients.now_us);
        }
        if !self.groups.is_empty() {
            let publisher = Publisher::Id(client_id);
            found.any |= self.publish_to_groups(routed, GroupOrigin { publisher, ingress_us: self.clients.now_us });
        }
        let about = About { publisher, origin, holder: header.holder };
        let is_kept = self.keep(routed, retained, about) | is_cleared;
        let elsewhere = retain_owner.filter(|owner| *owner != self.id);
        let is_awaited = self.post_publish(publish, found, elsewhere, header);
        match found.any {
            _ if found.in_stream || is_kept || is_awaited => Accepted::Later(self.clients.commit_tokens.take()),
            true => Accepted::Now,
            false => Accepted::NobodySubscribed,
        }
    }

    /// Delivers to this shard's sessions and streams; returns which other shards want it.
    fn match_tree(&mut self, routed: &Routed<'_>, client_id: &str) -> Found {
        let Shard { tree, clients, log, counters, now_ms, .. } = self;
        let publish = routed.publish();
        let mut found = Found::default();
        let mut deliveries = 0;
        tree.matches(publish.topic, |entries| {
            found.any |= match entries[0].subscriber {
                // A session that has just ended may still stand there.
                Target::Session(key) => {
                    let options = entries.iter().map(|entry| &entry.options);
                    let is_there = clients.deliver(key, routed, options, *now_ms);
                    deliveries += u64::from(is_there);
                    is_there
                }
                Target::Shard(shard) => {
                    found.sessions |= 1 << shard.index();
                    true
                }
                Target::Keeper(shard) => {
                    found.keepers |= 1 << shard.index();
                    true
                }
                Target::Groups(shard) => {
                    found.groups |= 1 << shard.index();
                    true
                }
                Target::Stream(stream) => {
                    let Some(log) = log else { return };
                    found.in_stream |= append_to_stream(log, stream, publish, client_id, counters);
                    true
                }
            };
        });
        counters.deliveries.add(deliveries);
        found
    }

    /// Gives a message to the streams that want it, and to nobody else; true when one keeps it.
    pub(super) fn append_to_streams(&mut self, routed: &Routed<'_>, client_id: &str) -> bool {
        let Shard { tree, log: Some(log), counters, shared, .. } = self else { return false };
        if shared.config.streams.is_empty() {
            return false;
        }
        let (publish, mut in_stream) = (routed.publish(), false);
        tree.matches(publish.topic, |entries| {
            if let Target::Stream(stream) = entries[0].subscriber {
                in_stream |= append_to_stream(log, stream, publish, client_id, counters);
            }
        });
        in_stream
    }

    /// Puts one copy per interested shard into the mail; true when one of them has to keep it.
    fn post_publish(
        &mut self,
        publish: &Publish<'_>,
        found: Found,
        retain_owner: Option<ShardId>,
        header: RouteHeader,
    ) -> bool {
        let retain = retain_owner.map_or(0, |owner| 1_u64 << owner.index());
        let is_awaited = publish.qos.is_acknowledged() && !header.flags.has(RouteFlags::IN_MEMORY);
        let keepers = if is_awaited && self.clients.keeping.is_some() { found.keepers | retain } else { 0 };
        let mut shards = found.sessions | found.groups | retain;
        while shards != 0 {
            let bit = shards & shards.wrapping_neg();
            shards &= !bit;
            let mut flags = header.flags;
            for (set, flag) in [
                (found.sessions, RouteFlags::SESSIONS),
                (found.groups, RouteFlags::GROUPS),
                (retain, RouteFlags::RETAIN),
                (keepers, RouteFlags::KEEP),
            ] {
                if set & bit != 0 {
                    flags = flags.with(flag);
                }
            }
            self.counters.forwarded.add(1);
            let target = ShardId(bit.trailing_zeros() as u8);
            self.sequences.post(target);
            if flags.has(RouteFlags::KEEP) {
                self.clients.commit_tokens.posted(target.index());
            }
            self.post.publish(target, RouteHeader { flags, ..header }, publish, &mut self.log);
        }
        keepers != 0
    }

    /// A message that shard `from` sent here.
    pub(super) fn route_mail(&mut self, from: ShardId, routed: &Routed<'_>, header: &RouteHeader) {
        let flags = header.flags;
        if let Some(hold_route) = header.held {
            if flags.has(RouteFlags::HELD) {
                return self.receive_held(from, routed, header, hold_route);
            }
            self.note_repeats(header.origin);
            self.hold_message(hold_route.hold, routed, header);
            return;
        }
        if header.retained_seq > 0 {
            let topic = routed.publish().topic;
            self.sequences.note_live(from, self.owner_of_topic(topic), header.retained_seq, topic);
            if flags.has(RouteFlags::SESSIONS) {
                self.sequences.delivered.note(from, header.retained_seq, topic);
            }
        }
        self.note_repeats(header.origin);
        if flags.has(RouteFlags::IN_MEMORY) {
            // The rule may be younger than this turn.
            self.renew_topic_rules();
            self.clients.in_memory = true;
        }
        let mut retained = None;
        if flags.has(RouteFlags::RETAIN) {
            self.sequences.apply(from);
            let RouteHeader { publisher, retained_seq: seq, holder, .. } = *header;
            let source = Source { publisher, origin: from, seq, holder };
            let reserved =
                (header.reserved_bytes > 0).then(|| self.retained.room_in_mail(holder, header.reserved_bytes));
            retained = self.retain(routed, source, reserved);
        }
        // As in `route_as_it_is`: before anybody is told the index of the message's entry.
        self.clear_retained(routed.publish().qos);
        let Shard { tree, clients, counters, now_ms, .. } = self;
        if flags.has(RouteFlags::SESSIONS) {
            let mut deliveries = 0;
            tree.matches(routed.publish().topic, |entries| {
                if let Target::Session(key) = entries[0].subscriber {
                    let options = entries.iter().map(|entry| &entry.options);
                    deliveries += u64::from(clients.deliver(key, routed, options, *now_ms));
                }
            });
            counters.deliveries.add(deliveries);
        }
        if flags.has(RouteFlags::GROUPS) {
            let publisher = Publisher::Hash(header.publisher);
            self.publish_to_groups(routed, GroupOrigin { publisher, ingress_us: header.ingress_us });
        }
        let RouteHeader { publisher, origin, holder, .. } = *header;
        self.keep(routed, retained, About { publisher, origin, holder });
    }

    /// Keeps a retained message whose topic is owned here; `None` where that was done before the node started.
    fn retain(&mut self, routed: &Routed<'_>, source: Source, room: Option<ReservedRoom>) -> Option<Retained> {
        let topic = routed.publish().topic;
        if self.clients.repeats & 1 << Slot::of(topic.as_bytes()).data_group() != 0 {
            // It was retained before the node started, and perhaps another one since.
            return None;
        }
        // What has its room was promised to be kept, before there was no memory for more.
        let is_refused = self.pressure == Pressure::Full && room.is_none() && !routed.publish().payload.is_empty();
        let retained = if is_refused {
            self.counters.dropped(DropReason::MemoryFull, 1);
            self.retained.forget(topic)
        } else {
            let durability = if self.clients.in_memory { Durability::Memory } else { Durability::Disk };
            self.retained.set(routed, source, durability, room, self.now_ms)
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
    pub(super) fn holder_of(&self, session: SessionKey) -> Option<Holder> {
        if !self.shared.shares.retained.is_on() {
            return None;
        }
        let row = self.clients.peek(session)?;
        Some(Holder::of_client(row.standing.identity.name(), row.session.client_id()))
    }

    /// The same for who has this name, or else this client id.
    pub(super) fn holder_by(&self, name: Option<&str>, client_id: &str) -> Option<Holder> {
        self.shared.shares.retained.is_on().then(|| Holder::of_client(name, client_id))
    }

    /// The name of who has a session, for the log.
    pub(super) fn holder_name(&self, session: SessionKey) -> Option<Arc<str>> {
        self.clients.peek(session)?.standing.identity.shared_name().cloned()
    }

    /// The shard that keeps the retained message of `topic`.
    pub(super) fn owner_of_topic(&self, topic: &str) -> ShardId {
        Slot::of(topic.as_bytes()).shard(self.post.shards())
    }
}

/// Gives a message to a stream; false when it has to do without.
fn append_to_stream(
    log: &mut LogFeed,
    stream: u32,
    publish: &Publish<'_>,
    client_id: &str,
    counters: &ShardCounters,
) -> bool {
    if publish.qos == QoS::AtMostOnce && log.is_disk_full() {
        counters.dropped(DropReason::StreamDiskFull, 1);
        return false;
    }
    counters.stream_records.add(1);
    log.append(stream, &envelope(publish, client_id), unstamped(publish.properties.user).iter());
    true
}

fn envelope<'a>(publish: &Publish<'a>, client_id: &'a str) -> Envelope<'a> {
    Envelope {
        topic: publish.topic,
        payload: publish.payload,
        client_id,
        qos: publish.qos as u8,
        retain: publish.retain,
        sent_at_us: sent_at_us(publish.properties.user.iter()),
        ingress_at_us: now_us(),
    }
}

/// The filter tree of a shard.
pub(crate) type Tree = lapwing_router::FilterTree<Target, Grant>;
