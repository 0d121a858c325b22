//! A kept session after a restart: put together again from what it has told.
//!
//! It is then as if its connection had broken at the crash. What had gone out with QoS 2 keeps its packet id, or only that,
//! once PUBREC had come. QoS 1 waits again from its start: the packet ids of that are not logged, as the client cannot tell
//! by them what it had already.

use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_codec::{PacketId, QoS, SubscriptionIds};

use crate::bound::Times;
use crate::flight::{Body, DeliveryOptions, Flight, Ids, Window};
use crate::kept::Kept;
use crate::paged::Reference;
use crate::queue::Queued;
use crate::session::NEVER;
use crate::told::Tie;
use crate::will::StoredWill;
use crate::{Grant, KeptOptions, Message, Session, SessionKey, Settings, WillMessage};

/// What a session was, apart from what it has many of.
#[derive(Clone, Debug)]
pub struct Restored<'a> {
    /// Its client.
    pub client_id: &'a str,
    /// Names it in this process.
    pub key: SessionKey,
    /// What it may cost now. Nothing is dropped for that before something comes to it.
    pub settings: &'a Arc<Settings>,
    /// As for [`Session::keep`].
    pub id: NonZeroU64,
    /// Seconds that it outlives a connection; `u32::MAX` = for ever.
    pub expiry_s: u32,
    /// Milliseconds until it ends; `None` = never.
    pub remaining_ms: Option<u64>,
    /// Its will, and milliseconds that are left of the delay. A client that was connected has gone without saying goodbye.
    pub will: Option<(WillMessage<'a>, u64)>,
    /// Entries from this one on came while the client was away: none of them has been sent. `None`: not known, so that more
    /// messages go with DUP than need to.
    pub away_since: Option<NonZeroU64>,
    /// More than the highest number told with [`crate::Fact::Received`], or given with an [`crate::Origin`].
    pub next_use: u64,
    /// Now, on the monotonic clock.
    pub now_ms: u64,
}

/// A session that is being put together.
#[derive(Debug)]
#[must_use = "finish() gives the session"]
pub struct Restoration {
    session: Session,
    flights: Vec<Flight>,
    away_since: Option<NonZeroU64>,
    now_ms: u64,
    /// None of the messages that follow has been sent.
    is_unsent: bool,
}

impl Restoration {
    /// A session that has nothing yet.
    pub fn new(restored: Restored<'_>) -> Self {
        let Restored { client_id, key, settings, id, expiry_s, remaining_ms, will, away_since, next_use, now_ms } =
            restored;
        let mut session = Session::new(client_id.into(), key, settings);
        session.expiry_s = expiry_s;
        session.ends_at_ms = remaining_ms.map_or(NEVER, |remaining_ms| now_ms.saturating_add(remaining_ms));
        session.will = will.map(|(message, delay_ms)| {
            let mut will = StoredWill::of(&message, key);
            will.due_at_ms = Some(now_ms.saturating_add(delay_ms));
            Box::new(will)
        });
        session.told.kept = Some(Box::new(Kept::new(id, next_use)));
        Restoration { session, flights: Vec::new(), away_since, now_ms, is_unsent: false }
    }

    /// It has this subscription; the filter tree is the caller's.
    pub fn subscribed(&mut self, filter: &str, grant: Grant) {
        self.session.subscriptions.insert(filter, grant);
    }

    /// It has this message, which the client has not said to have: all of them, in the order of their entries.
    /// It is taken to wait from now on: [`Settings::queue_age_ms_max`]. `packet_id`: told with [`crate::Fact::PublishSent`].
    pub fn message(
        &mut self,
        message: Arc<Message>,
        options: KeptOptions<'_>,
        entry: NonZeroU64,
        packet_id: Option<PacketId>,
    ) {
        let dup = packet_id.is_none() && self.may_have_been_sent(options.qos, entry);
        let options = own(options, dup, entry);
        match packet_id {
            Some(packet_id) => self.flights.push(flight(packet_id, Body::AtHand(message), options)),
            None => self.session.queue.add(Queued { message, options, since_ms: self.now_ms }),
        }
    }

    /// As [`Restoration::message`], for a message that stays in the log; see [`Session::wants_page`]. `bytes`: what it counts for
    /// in the queue, as near as it is known.
    pub fn paged(&mut self, options: KeptOptions<'_>, entry: NonZeroU64, bytes: u64, packet_id: Option<PacketId>) {
        let dup = packet_id.is_none() && self.may_have_been_sent(options.qos, entry);
        let options = own(options, dup, entry);
        match packet_id {
            Some(packet_id) => self.flights.push(flight(packet_id, Body::InLog, options)),
            None => self.session.queue.add_paged(Reference::new(entry, bytes, options)),
        }
    }

    /// The client has a QoS 2 message, and has not said that it will not ask for PUBREL again.
    pub fn pubrec_received(&mut self, packet_id: PacketId, entry: NonZeroU64) {
        let nothing = KeptOptions { qos: QoS::ExactlyOnce, retain: false, ids: SubscriptionIds::EMPTY };
        self.flights.push(flight(packet_id, Body::Received, own(nothing, false, entry)));
    }

    /// It has taken a QoS 2 message that the client has not released.
    pub fn received(&mut self, packet_id: PacketId) {
        self.session.receipts.insert(packet_id);
        if let Some(kept) = &mut self.session.told.kept {
            kept.uses.taken_before(packet_id);
        }
    }

    /// The log has something of this QoS 2 message of the client, and nothing says that it was taken: see
    /// [`crate::Inbound::is_resent`]. What was taken under its packet id before is over.
    pub fn doubted(&mut self, packet_id: PacketId, use_number: u64) {
        self.session.receipts.remove(packet_id);
        if let Some(kept) = &mut self.session.told.kept {
            kept.uses.doubt(packet_id, use_number);
        }
    }

    /// The session, kept and without connection.
    pub fn finish(mut self) -> Session {
        self.session.window = Window::restored(self.flights);
        self.session
    }

    /// Whether a message that waits may have gone out before the crash: QoS 1 tells nothing of that. They went in order, and
    /// none behind a QoS 2 message whose packet id was not durable: that held the output. There may be more than can be under
    /// way at a time: what was acknowledged last is not durable either.
    fn may_have_been_sent(&mut self, qos: QoS, entry: NonZeroU64) -> bool {
        let came_too_late = self.away_since.is_some_and(|away_since| entry >= away_since);
        self.is_unsent |= qos == QoS::ExactlyOnce || came_too_late;
        !self.is_unsent
    }
}

fn own(options: KeptOptions<'_>, dup: bool, entry: NonZeroU64) -> DeliveryOptions {
    let mut ids = Ids::None;
    options.ids.iter().for_each(|id| ids.add(id));
    DeliveryOptions { qos: options.qos, retain: options.retain, dup, ids, tie: Tie { bound: None, entry: Some(entry) } }
}

fn flight(packet_id: PacketId, body: Body, options: DeliveryOptions) -> Flight {
    Flight { packet_id, body, options, times: Times::default() }
}
