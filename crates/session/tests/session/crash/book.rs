//! What the log of a session adds up to: the plainest state machine that can be written.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_codec::{PacketId, Publish, QoS, SubscriptionIds};
use lapwing_session::{Fact, KeptOptions, Message, Restoration, Restored, Session, Settings};

use super::log::{Log, Record};
use crate::rig::{ME, OTHER, entry, publish};

/// Message number `n` for the client.
pub fn message(n: u32, qos: QoS) -> Arc<Message> {
    Arc::new(Message::new(&Publish { payload: &n.to_be_bytes(), ..publish("t", qos, 1) }, OTHER, None))
}

#[derive(Debug, Default)]
pub struct Book {
    pub queue: BTreeMap<NonZeroU64, (u32, QoS)>,
    /// By entry: packet id, and whether PUBREC has come.
    pub flights: BTreeMap<NonZeroU64, (PacketId, bool)>,
    pub received: BTreeSet<PacketId>,
    /// Messages in doubt: the numbers by packet id.
    pub doubted: BTreeMap<PacketId, u64>,
    pub next_use: u64,
    /// The record that said that the client had gone; `None`: it was there.
    pub away_since: Option<NonZeroU64>,
}

impl Book {
    pub fn of(log: &Log) -> Self {
        let mut book = Book { next_use: 1, ..Book::default() };
        for (at, record) in log.records.iter().enumerate() {
            match record {
                Record::Opened => {}
                Record::Published { n, qos, .. } => drop(book.queue.insert(entry(at as u64 + 1), (*n, *qos))),
                Record::Fact(fact) => book.apply(fact),
                Record::Presence { connected: true } => book.away_since = None,
                Record::Presence { connected: false } => {
                    book.away_since = book.away_since.or(Some(entry(at as u64 + 1)))
                }
            }
        }
        book
    }

    pub fn apply(&mut self, fact: &Fact) {
        match *fact {
            Fact::Finished { entry } => {
                self.queue.remove(&entry);
                self.flights.remove(&entry);
            }
            Fact::PublishSent { packet_id, entry } => drop(self.flights.insert(entry, (packet_id, false))),
            Fact::PubRecReceived { packet_id } => {
                let flight = self.flights.iter_mut().find(|(_, flight)| flight.0 == packet_id);
                let (entry, flight) = flight.expect("a PUBREC is for what was sent");
                flight.1 = true;
                self.queue.remove(entry);
            }
            Fact::Received { packet_id, use_number } => {
                let doubted = self.doubted.remove(&packet_id);
                let is_new = use_number >= self.next_use;
                assert!(is_new || doubted == Some(use_number), "no number is given twice");
                self.next_use = self.next_use.max(use_number + 1);
                assert!(self.received.insert(packet_id), "taken twice without a release");
            }
            Fact::Doubted { packet_id, use_number } => {
                self.next_use = self.next_use.max(use_number + 1);
                self.received.remove(&packet_id);
                self.doubted.insert(packet_id, use_number);
            }
            Fact::Released { packet_id } => {
                let is_known = self.received.remove(&packet_id) | self.doubted.remove(&packet_id).is_some();
                assert!(is_known, "released before it was taken");
            }
        }
    }

    /// Nothing is left of all the messages.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.flights.is_empty() && self.received.is_empty() && self.doubted.is_empty()
    }

    /// The session as the log knows it; `paged`: what waits stays there.
    pub fn restore(&self, id: NonZeroU64, settings: &Arc<Settings>, now_ms: u64, paged: bool) -> Session {
        let restored = Restored {
            client_id: "me",
            key: ME,
            settings,
            id,
            expiry_s: 600,
            remaining_ms: Some(600_000),
            will: None,
            away_since: self.away_since,
            next_use: self.next_use,
            now_ms,
        };
        let mut restoration = Restoration::new(restored);
        for (entry, (n, qos)) in &self.queue {
            let options = KeptOptions { qos: *qos, retain: false, ids: SubscriptionIds::EMPTY };
            let packet_id = self.flights.get(entry).map(|flight| flight.0);
            match paged {
                true => restoration.paged(options, *entry, 100, packet_id),
                false => restoration.message(message(*n, *qos), options, *entry, packet_id),
            }
        }
        let got = self.flights.iter().filter(|(_, (_, is_got))| *is_got);
        got.for_each(|(entry, (packet_id, _))| restoration.pubrec_received(*packet_id, *entry));
        self.received.iter().for_each(|packet_id| restoration.received(*packet_id));
        self.doubted.iter().for_each(|(packet_id, number)| restoration.doubted(*packet_id, *number));
        restoration.finish()
    }
}
