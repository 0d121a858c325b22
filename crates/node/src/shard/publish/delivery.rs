//! A message for one session here, and what all who are given it have to know of it.

use std::num::NonZeroU64;

use lapwing_session::{Delivered, Grant, Routed, SessionKey};

use crate::holder::Holder;
use crate::mail::{RouteFlags, RouteHeader};
use crate::shard::Shard;
use crate::shard::connections::clients::Clients;
use crate::shard::connections::session_row::SessionRow;
use crate::shard::durable::keeping::{Keepers, Keeping, Kept, Origin};
use crate::shard::publish::publisher_hash::PublisherHash;
use crate::shard::publish::route::Publisher;
use crate::slot::Slot;

/// One message while this shard hands it to all who want it here, and what they say to that: made anew for each message, handed
/// down, and given to [`Shard::keep`] at the end.
pub(crate) struct DeliveryContext<'a> {
    pub(crate) routed: &'a Routed<'a>,
    /// Hash of its publisher's client id.
    pub(in crate::shard) publisher: PublisherHash<'a>,
    /// Of a QoS 2 message of a kept session: whose, and which use of its packet id.
    pub(crate) origin: Option<Origin>,
    /// Of a retained one, where identities have shares: whose it is.
    pub(crate) holder: Option<Holder>,
    /// When it had been read, on the node's clock.
    pub(crate) ingress_us: u64,
    /// It is kept in memory alone, because a rule about its topic says so.
    pub(crate) in_memory: bool,
    /// It is kept on disk, and a rule that is younger than it says memory.
    is_before_rule: bool,
    /// A hold offers it: what nobody takes waits there.
    pub(crate) is_held: bool,
    /// Data groups that have it already, from before the node started: a bit each.
    repeats: u16,
    /// Who keeps it on disk; none before the first.
    keepers: Option<Box<Keepers>>,
}

/// The version of rules of a session for which those of now do not hold yet; they begin at 1.
const NO_RULES: u64 = 0;

impl<'a> DeliveryContext<'a> {
    /// Of a message of which nothing else is known.
    pub(crate) const fn new(routed: &'a Routed<'a>) -> Self {
        DeliveryContext {
            routed,
            publisher: PublisherHash::Known(0),
            origin: None,
            holder: None,
            ingress_us: 0,
            in_memory: false,
            is_before_rule: false,
            is_held: false,
            repeats: 0,
            keepers: None,
        }
    }

    /// Whether who is kept in this slot's data group has it from before the node started.
    pub(crate) fn is_repeat(&self, slot: Slot) -> bool {
        self.repeats & 1 << slot.data_group() != 0
    }

    /// What other shards have to know of it.
    pub(crate) fn header(&self) -> RouteHeader {
        RouteHeader {
            flags: if self.in_memory { RouteFlags::IN_MEMORY } else { RouteFlags::default() },
            publisher: self.publisher.get(),
            holder: self.holder,
            ingress_us: self.ingress_us,
            expires_at_ms: self.routed.expires_at_ms(),
            origin: self.origin,
            ..RouteHeader::default()
        }
    }

    /// The index that its entry will have where `kept` lives, and who keeps it so far. `None`: nothing is kept on disk here.
    pub(crate) fn entry_for(
        &mut self,
        kept: Kept,
        keeping: Option<&mut Keeping>,
    ) -> Option<(NonZeroU64, &mut Keepers)> {
        let keeping = keeping?;
        let entry = keeping.entry_of(kept)?;
        Some((entry, self.keepers.get_or_insert_with(|| keeping.lend_keepers())))
    }

    /// Who keeps it, taken out to be written; `None`: nobody was asked.
    pub(crate) fn take_keepers(&mut self) -> Option<Box<Keepers>> {
        self.keepers.take()
    }
}

impl Shard {
    /// Of a message that is published here.
    #[inline]
    pub(in crate::shard) fn context_of<'a>(
        &mut self,
        routed: &'a Routed<'a>,
        publisher: &Publisher<'a>,
    ) -> DeliveryContext<'a> {
        DeliveryContext {
            publisher: PublisherHash::Of(publisher.client_id),
            origin: publisher.origin,
            ingress_us: self.clients.now_us,
            in_memory: self.is_in_memory(routed.publish()),
            repeats: self.repeats_of(publisher.origin),
            ..DeliveryContext::new(routed)
        }
    }

    /// Of one that another shard sends, or a hold offers.
    pub(in crate::shard) fn context_of_mail<'a>(
        &mut self,
        routed: &'a Routed<'a>,
        header: &RouteHeader,
    ) -> DeliveryContext<'a> {
        let in_memory = header.flags.has(RouteFlags::IN_MEMORY);
        if in_memory {
            // The rule may be younger than this turn.
            self.renew_topic_rules();
        }
        DeliveryContext {
            publisher: PublisherHash::Known(header.publisher),
            origin: header.origin,
            holder: header.holder,
            ingress_us: header.ingress_us,
            in_memory,
            is_before_rule: !in_memory && self.is_in_memory(routed.publish()),
            is_held: header.flags.has(RouteFlags::HELD),
            repeats: self.repeats_of(header.origin),
            ..DeliveryContext::new(routed)
        }
    }

    /// Which data groups have a message from before the node started: a bit each.
    #[inline]
    fn repeats_of(&self, origin: Option<Origin>) -> u16 {
        let Some(origin) = origin.filter(|origin| origin.is_resent) else { return 0 };
        self.durable.recovered.as_ref().map_or(0, |recovered| recovered.data_groups.having(&origin.logged()))
    }
}

impl Clients {
    /// Delivers a message to one session. `None`: there is no such session any more. False: it does not want its own, with
    /// No Local.
    pub(crate) fn deliver<'g>(
        &mut self,
        key: SessionKey,
        context: &mut DeliveryContext<'_>,
        grants: impl Iterator<Item = &'g Grant>,
        now_ms: u64,
    ) -> Option<bool> {
        let routed = context.routed;
        let kept = if routed.publish().qos.is_acknowledged() { self.keeper(key, context.in_memory) } else { None };
        // What waits for a kept session stays in the log.
        if self.keeps_no_more && kept.is_none() && self.would_wait(key, routed) {
            self.not_kept += 1;
            self.row(key)?.session.note_refused();
            return Some(true);
        }
        let delivered = match kept {
            // It has it from before the node started.
            Some(kept) if context.is_repeat(kept.slot) => return Some(true),
            Some(kept) => {
                if context.is_before_rule {
                    self.follow_into_log(key);
                }
                self.deliver_kept(key, kept, context, grants, now_ms)
            }
            None => self.with(key, |session, io| session.deliver(routed, grants, None, now_ms, io)),
        };
        let delivered = delivered?;
        // A message that is sent drives out no other.
        if delivered != Delivered::Sent
            && let Some(reason) = self.row(key).and_then(|row| row.session.take_loss_news())
        {
            self.losing.push((key, reason));
        }
        let wants = delivered != Delivered::NotLocal;
        if let Delivered::Overflow(close) = delivered {
            self.overflowing.push((key, close));
        }
        Some(wants)
    }

    /// Delivers to a session that is kept: under the index that the message's entry in its data group will have.
    fn deliver_kept<'g>(
        &mut self,
        key: SessionKey,
        kept: Kept,
        context: &mut DeliveryContext<'_>,
        grants: impl Iterator<Item = &'g Grant>,
        now_ms: u64,
    ) -> Option<Delivered> {
        let routed = context.routed;
        let Some((entry, keepers)) = context.entry_for(kept, self.keeping.as_deref_mut()) else {
            return self.with(key, |session, io| session.deliver(routed, grants, None, now_ms, io));
        };
        self.with(key, |session, io| {
            let delivered = session.deliver(routed, grants, Some(entry), now_ms, io);
            if let Some(options) = session.kept_options(entry) {
                keepers.add_session(kept, entry, &options);
            }
            delivered
        })
    }

    /// Whether a bound message for connection `epoch` of a session would be sent at once; also when that connection is over.
    pub(crate) fn takes_next(&mut self, key: SessionKey, epoch: u64) -> bool {
        let Some(row) = self.row(key).filter(|row| row.membership.epoch == epoch) else { return true };
        let Some(index) = row.connection() else { return true };
        let output_bytes = self.connections.get(index).map_or(0, |connection| connection.output.len());
        self.row(key).is_some_and(|row| row.session.may_send_next(output_bytes))
    }

    /// How the log knows a session.
    pub(crate) fn kept(&mut self, key: SessionKey) -> Option<Kept> {
        self.row(key)?.kept_as.kept
    }

    /// How the log knows a session that is to have the message in hand there; `None`: it has it in memory, if at all.
    fn keeper(&mut self, key: SessionKey, in_memory: bool) -> Option<Kept> {
        let rules_version = self.keeping.as_ref().map_or(0, |keeping| keeping.rules_version);
        if !in_memory {
            return self.kept(key);
        }
        let row = self.row(key)?;
        let kept = row.kept_as.kept?;
        // What waits may be of the same topic and from before the rule. It lies in the log, behind all that is in memory, so
        // this message follows it there: else it would overtake.
        if row.kept_as.rules_version != rules_version && row.session.queued_messages() == 0 {
            row.kept_as.edit().rules_version = rules_version;
        }
        (row.kept_as.rules_version != rules_version).then_some(kept)
    }

    /// A message is in the log for a session, though a rule says memory by now: what comes behind it follows it there, until
    /// nothing waits any more.
    fn follow_into_log(&mut self, key: SessionKey) {
        if let Some(row) = self.row(key) {
            row.kept_as.edit().rules_version = NO_RULES;
        }
    }

    /// Whether a session has room for a QoS 1 or 2 message of so many bytes; one that is gone needs none.
    pub(crate) fn has_room_for(&mut self, key: SessionKey, bytes: u64) -> bool {
        let keeps_no_more = self.keeps_no_more;
        self.row(key).is_none_or(|row| {
            let would_wait = row.connection().is_none() || row.session.queued_messages() > 0;
            let has_memory = !keeps_no_more || row.kept_as.kept.is_some() || !would_wait;
            has_memory && row.session.has_room_for(bytes)
        })
    }

    /// Whether the message would lie in memory with a client that does not take it now.
    fn would_wait(&mut self, key: SessionKey, routed: &Routed<'_>) -> bool {
        let would_wait = |row: &mut SessionRow| row.connection().is_none() || row.session.queued_messages() > 0;
        routed.publish().qos.is_acknowledged() && self.row(key).is_some_and(would_wait)
    }
}
