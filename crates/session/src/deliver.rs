//! A message for this client: sent, queued, or dropped under a name.

use std::num::NonZeroU64;

use lapwing_codec::{QoS, ReasonCode};

use crate::flight::{DeliveryOptions, Ids};
use crate::outbound::Outgoing;
use crate::paged::Reference;
use crate::queue::Queued;
use crate::told::Tie;
use crate::{Close, DropReason, Grant, Io, QueuePolicy, Routed, Session};

/// What [`Session::deliver`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Delivered {
    /// It is in the output buffer.
    Sent,
    /// It waits in the session (an older one may have been dropped for it, and counted).
    Queued,
    /// None of the client's business: it published it itself and asked for No Local.
    NotLocal,
    /// It was dropped, and counted.
    Dropped(DropReason),
    /// It was dropped, and by [`QueuePolicy::Disconnect`] the connection must be closed.
    Overflow(Close),
}

impl Session {
    /// Delivers `routed` under all of this session's subscriptions that matched it: one copy, with the highest QoS and
    /// every subscription identifier [MQTT-3.3.4-2, MQTT-3.3.4-4].
    ///
    /// `grants`: at least one. `entry`: where the message is logged if a kept session keeps it; look at
    /// [`Session::kept_options`] then. Other sessions do not look at it. `io.out` is the buffer of this session's connection.
    #[inline]
    pub fn deliver<'g>(
        &mut self,
        routed: &Routed<'_>,
        grants: impl Iterator<Item = &'g Grant>,
        entry: Option<NonZeroU64>,
        now_ms: u64,
        io: &mut Io<'_>,
    ) -> Delivered {
        let Some(mut options) = self.options(routed, grants) else { return Delivered::NotLocal };
        if routed.expires_at_ms.is_some_and(|at_ms| at_ms <= now_ms) {
            return dropped(DropReason::Expired, io);
        }
        if options.qos == QoS::AtMostOnce {
            return self.deliver_unacknowledged(routed, &options, now_ms, io);
        }
        options.tie.entry = entry.filter(|_| self.told.kept.is_some());
        // Behind what already waits, or the order would be lost.
        let is_next = self.queue.is_empty() && !self.window.has_unsent() && self.may_keep_more();
        if !is_next || !self.has_room(io) || !self.has_memory(io) {
            return self.enqueue(routed, options, now_ms, io);
        }
        match self.send(&routed.publish, options, routed.expires_at_ms, routed.keep(), now_ms, io) {
            Ok(()) => Delivered::Sent,
            Err(reason) => self.dropped(reason, true, io),
        }
    }

    #[inline]
    pub(crate) fn deliver_unacknowledged(
        &mut self,
        routed: &Routed<'_>,
        options: &DeliveryOptions,
        now_ms: u64,
        io: &mut Io<'_>,
    ) -> Delivered {
        let Some(link) = &mut self.link else { return dropped(DropReason::Offline, io) };
        if io.out.len() >= self.settings.output_high_bytes {
            return self.dropped(DropReason::OutputFull, false, io);
        }
        let (publish, expires_at_ms) = (&routed.publish, routed.expires_at_ms);
        match (Outgoing { publish, options, packet_id: None, dup: false, expires_at_ms }).write(link, now_ms, io.out) {
            Ok(()) => Delivered::Sent,
            Err(reason) => self.dropped(reason, false, io),
        }
    }

    /// The session never gets it.
    fn dropped(&mut self, reason: DropReason, is_acknowledged: bool, io: &mut Io<'_>) -> Delivered {
        self.told.note_gone(reason, is_acknowledged);
        dropped(reason, io)
    }

    /// The subscriptions taken together; `None` when No Local leaves none.
    #[inline]
    fn options<'g>(&self, routed: &Routed<'_>, grants: impl Iterator<Item = &'g Grant>) -> Option<DeliveryOptions> {
        let is_own = routed.publisher == self.key;
        let (qos, tie) = (QoS::AtMostOnce, Tie::default());
        let mut options = DeliveryOptions { qos, retain: routed.is_replay, dup: false, ids: Ids::None, tie };
        let mut any = false;
        for grant in grants.filter(|grant| !(is_own && grant.options.no_local)) {
            any = true;
            options.qos = options.qos.max(grant.options.qos);
            // Retain As Published of any subscription; a replay has RETAIN 1 in any case [MQTT-3.3.1-12, MQTT-3.3.1-13].
            options.retain |= grant.options.retain_as_published && routed.publish.retain;
            if let Some(id) = grant.subscription_id {
                options.ids.add(id);
            }
        }
        options.qos = options.qos.min(routed.publish.qos);
        any.then_some(options)
    }

    fn enqueue(&mut self, routed: &Routed<'_>, options: DeliveryOptions, now_ms: u64, io: &mut Io<'_>) -> Delivered {
        let bytes = routed.footprint() as u64;
        if self.queue.make_room(bytes, &self.settings, now_ms, io.counters, &mut self.told) {
            match options.tie.entry.filter(|_| self.stays_in_log(bytes, io)) {
                Some(entry) => self.queue.add_paged(Reference::new(entry, bytes, options)),
                None => self.queue.add(Queued { message: routed.keep().clone(), options, since_ms: now_ms }),
            }
            return Delivered::Queued;
        }
        if self.link.is_some() && self.settings.queue_policy == QueuePolicy::Disconnect {
            let close = Close::server(ReasonCode::QuotaExceeded, "the client's queue is full");
            return Delivered::Overflow(self.announce(close, io));
        }
        Delivered::Dropped(DropReason::QueueFull)
    }
}

/// A message that the session has not had yet is dropped and counted.
fn dropped(reason: DropReason, io: &mut Io<'_>) -> Delivered {
    io.counters.count_drop(reason);
    Delivered::Dropped(reason)
}
