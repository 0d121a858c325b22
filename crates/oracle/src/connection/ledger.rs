//! What a kept session has told, added up: it must never contradict itself, and the session must be made of it.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_codec::{PacketId, Publish, SubscriptionId, SubscriptionIds};
use lapwing_session::{Fact, KeptOptions, Message, Restoration, Restored, Session, SessionKey};

/// The name of every kept session: there is one at a time.
pub(super) const NAME: NonZeroU64 = NonZeroU64::MIN;

/// A message, and how the session keeps it.
struct Stored {
    message: Message,
    qos: lapwing_codec::QoS,
    retain: bool,
    ids: Vec<SubscriptionId>,
}

#[derive(Default)]
pub(super) struct Ledger {
    last: u64,
    /// Messages that the client has not said to have, by entry.
    queue: BTreeMap<NonZeroU64, Stored>,
    /// QoS 2 under way: entry, and whether PUBREC has come.
    flights: BTreeMap<PacketId, (NonZeroU64, bool)>,
    received: BTreeSet<PacketId>,
    last_use: u64,
}

impl Ledger {
    /// The entry that the next message has if it is kept.
    pub(super) fn next(&mut self) -> NonZeroU64 {
        self.last += 1;
        NonZeroU64::new(self.last).expect("they begin with 1")
    }

    pub(super) fn published(
        &mut self,
        entry: NonZeroU64,
        publish: &Publish<'_>,
        from: SessionKey,
        expires_at_ms: Option<u64>,
        options: (lapwing_codec::QoS, bool, Vec<SubscriptionId>),
    ) {
        let message = Message::new(publish, from, expires_at_ms);
        let (qos, retain, ids) = options;
        self.queue.insert(entry, Stored { message, qos, retain, ids });
    }

    pub(super) fn apply(&mut self, fact: &Fact) {
        match *fact {
            Fact::Finished { entry } => {
                let was_queued = self.queue.remove(&entry).is_some();
                let flights = self.flights.len();
                self.flights.retain(|_, flight| flight.0 != entry);
                assert!(was_queued || self.flights.len() < flights, "{entry} is finished twice");
            }
            Fact::PublishSent { packet_id, entry } => {
                assert!(self.queue.contains_key(&entry), "{entry} is sent, and was never there");
                assert!(self.flights.values().all(|flight| flight.0 != entry), "{entry} has two packet ids");
                assert!(self.flights.insert(packet_id, (entry, false)).is_none(), "packet id {packet_id} is in use");
            }
            Fact::PubRecReceived { packet_id } => {
                let flight = self.flights.get_mut(&packet_id).expect("a PUBREC is for what was sent");
                assert!(!flight.1, "a PUBREC is told once");
                flight.1 = true;
                self.queue.remove(&flight.0).expect("it was still there");
            }
            Fact::Received { packet_id, use_number } => {
                assert!(use_number > self.last_use, "no number is given twice");
                self.last_use = use_number;
                assert!(self.received.insert(packet_id), "{packet_id} is taken twice without a release");
            }
            Fact::Released { packet_id } => assert!(self.received.remove(&packet_id), "released, and never taken"),
            Fact::Doubted { .. } => panic!("no session tells that: whoever reads the log does"),
        }
    }

    /// The session is over, or is kept no more.
    pub(super) fn forget(&mut self) {
        *self = Ledger { last: self.last, ..Ledger::default() };
    }

    /// Packet ids of messages of the client that were told as taken.
    pub(super) const fn received(&self) -> &BTreeSet<PacketId> {
        &self.received
    }

    /// Whatever the session has, was told, and nothing else.
    pub(super) fn judge(&self, session: &Session) {
        let got = self.flights.values().filter(|flight| flight.1).count();
        let has = session.queued_messages() + session.inflight_messages();
        assert_eq!(has, self.queue.len() + got, "messages of the session, and what it has told of them");
    }

    /// The session as it was told.
    pub(super) fn restore(&self, restored: Restored<'_>, old: &Session) -> Session {
        let mut restoration = Restoration::new(Restored { next_use: self.last_use + 1, ..restored });
        old.subscriptions().for_each(|(filter, grant)| restoration.subscribed(filter, grant));
        for (entry, Stored { message, qos, retain, ids }) in &self.queue {
            let flight = self.flights.iter().find(|(_, flight)| flight.0 == *entry);
            let message = Message::new(&message.publish(), message.publisher(), message.expires_at_ms());
            let options = KeptOptions { qos: *qos, retain: *retain, ids: SubscriptionIds::from_slice(ids) };
            restoration.message(Arc::new(message), options, *entry, flight.map(|(packet_id, _)| *packet_id));
        }
        for (packet_id, (entry, _)) in self.flights.iter().filter(|(_, flight)| flight.1) {
            restoration.pubrec_received(*packet_id, *entry);
        }
        self.received.iter().for_each(|packet_id| restoration.received(*packet_id));
        restoration.finish()
    }
}
