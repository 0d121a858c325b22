//! A durable session.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::queue::Queue;
use crate::{DeliveryOptions, ExactlyOnce, Flight, KeeperId, Opened, Presence, Subscription, Will};

/// Where a will is: its frame stays in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WillRef {
    /// The `Opened` or `Changed` that brought it; [`Entry::will`](crate::Entry::will) gives it.
    pub entry: u64,
    /// From the end of the connection.
    pub delay_s: u32,
    /// From the moment when it is published.
    pub message_expiry_s: Option<u32>,
}

impl WillRef {
    pub(crate) const fn new(entry: u64, will: &Will<'_>) -> Self {
        WillRef { entry, delay_s: will.delay_s, message_expiry_s: will.message_expiry_s }
    }
}

/// That a client has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Away {
    /// On the node's clock.
    pub(crate) at_ms: u64,
    /// The entry that said so.
    pub(crate) entry: u64,
}

/// What is known of it.
#[derive(Clone, Debug)]
pub struct KeptSession {
    pub(crate) id: KeeperId,
    pub(crate) client_id: Arc<str>,
    pub(crate) identity: Box<[u8]>,
    pub(crate) expiry_s: u32,
    pub(crate) opened_at_ms: u64,
    pub(crate) away: Option<Away>,
    pub(crate) will: Option<WillRef>,
    pub(crate) subscriptions: BTreeMap<Box<str>, u64>,
    pub(crate) queue: Queue,
    /// Made when the session first has to do with QoS 2.
    pub(crate) exactly_once: Option<Box<ExactlyOnce>>,
    pub(crate) last_use: u64,
}

impl KeptSession {
    pub(crate) fn new(id: KeeperId, opened: &Opened<'_>) -> Self {
        KeptSession {
            id,
            client_id: opened.client_id.into(),
            identity: opened.identity.into(),
            expiry_s: opened.expiry_s,
            opened_at_ms: opened.opened_at_ms,
            away: None,
            will: opened.will.map(|will| WillRef::new(id.0, &will)),
            subscriptions: BTreeMap::new(),
            queue: Queue::default(),
            exactly_once: None,
            last_use: 0,
        }
    }

    /// The index of the entry that opened it.
    pub const fn id(&self) -> KeeperId {
        self.id
    }

    /// Whose session it is.
    pub fn client_id(&self) -> &str {
        &self.client_id
    }

    /// Who opened it, or owns it now, as the node wrote it.
    pub fn identity(&self) -> &[u8] {
        &self.identity
    }

    /// How long it outlives its connection; `u32::MAX` = for ever.
    pub const fn expiry_s(&self) -> u32 {
        self.expiry_s
    }

    /// On the node's clock.
    pub const fn opened_at_ms(&self) -> u64 {
        self.opened_at_ms
    }

    /// On the node's clock. `None`: its client was connected.
    pub fn disconnected_at_ms(&self) -> Option<u64> {
        self.away.map(|away| away.at_ms)
    }

    /// The entry that said that its client had gone: messages of later ones have never been sent. `None`: it was connected.
    pub fn away_since(&self) -> Option<u64> {
        self.away.map(|away| away.entry)
    }

    /// Where its will is.
    pub const fn will(&self) -> Option<WillRef> {
        self.will
    }

    /// By filter.
    pub fn subscriptions(&self) -> impl Iterator<Item = Subscription<'_>> {
        self.subscriptions.iter().map(|(filter, grant)| Subscription { filter, grant: *grant })
    }

    /// The entries that brought the messages it keeps, in order, each with its options.
    pub fn queue(&self) -> impl Iterator<Item = (u64, DeliveryOptions<'_>)> {
        self.queue.iter().map(|reference| (reference.entry, reference.options))
    }

    /// The same, each with the bytes of its frame, rounded up to 64; 0: not known.
    pub fn references(&self) -> impl Iterator<Item = (u64, DeliveryOptions<'_>, u64)> {
        self.queue.iter().map(|reference| (reference.entry, reference.options, reference.frame_bytes()))
    }

    /// How many messages it keeps.
    pub const fn queued(&self) -> u64 {
        self.queue.len()
    }

    /// Bytes that its queue takes. Walks over the queue's chunks.
    pub fn queue_bytes(&self) -> u64 {
        self.queue.heap_bytes()
    }

    /// QoS 2 messages under way to the client, by entry: in the order in which they were sent. Those without
    /// [`Flight::pubrec_received`] are in the queue too.
    pub fn flights(&self) -> Vec<Flight> {
        self.exactly_once.as_ref().map_or_else(Vec::new, |ids| ids.flights())
    }

    /// QoS 2 messages of the client that it has not released: packet ids and use numbers, by use number.
    pub fn received(&self) -> Vec<(u16, u64)> {
        self.exactly_once.as_ref().map_or_else(Vec::new, |ids| ids.received())
    }

    /// QoS 2 messages of the client that are in doubt since a start: packet ids and use numbers, by use number.
    pub fn doubted(&self) -> Vec<(u16, u64)> {
        self.exactly_once.as_ref().map_or_else(Vec::new, |ids| ids.doubted())
    }

    /// The use number of the client's next QoS 2 message.
    pub const fn next_use(&self) -> u64 {
        self.last_use.saturating_add(1)
    }

    /// The entry `entry` says whether the client is there.
    pub(crate) fn set_presence(&mut self, entry: u64, presence: Presence) {
        // Who is away and said to be away once more has not been there in between.
        let entry = self.away_since().unwrap_or(entry);
        self.away = (!presence.connected).then_some(Away { at_ms: presence.at_ms, entry });
    }

    pub(crate) fn exactly_once(&mut self) -> &mut ExactlyOnce {
        self.exactly_once.get_or_insert_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There may be a million of them: is one without messages small?
    #[test]
    fn a_session_is_small() {
        assert!(size_of::<KeptSession>() <= 320, "{}", size_of::<KeptSession>());
        let opened = Opened { client_id: "c", identity: b"", expiry_s: 1, opened_at_ms: 1, will: None };
        let session = KeptSession::new(KeeperId(1), &opened);
        assert_eq!((session.queue_bytes(), session.exactly_once.is_none()), (0, true));
    }
}
