//! One client id through several connections: bytes and events in, and everything that comes out judged.
//!
//! The input is a list of steps: packets, raw bytes, deliveries from others, commits, answers, time, breaks, crashes, new
//! connections. [`broker`] drives the session as the node does and watches its memory; [`books`] is what a client knows
//! that writes down each packet it sent and received, and objects when the next one cannot be.

mod arrival;
mod books;
mod broker;
mod hearing;
mod ledger;
mod rules;

use std::collections::VecDeque;

use arbitrary::Unstructured;
use lapwing_codec::{Publish, QoS, ReasonCode, SubscriptionOptions, Version};
use lapwing_session::{Close, CommitToken, Delivered, Grant, Reply, SessionKey, Side};

use self::books::Books;
use self::broker::Broker;
use crate::wire::{self, Draw, Kind};

/// How far an input came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// Connections that were granted.
    pub granted: usize,
    /// Packets handled after a CONNECT.
    pub handled: usize,
    /// Messages sent to the client.
    pub received: usize,
    /// Connections that we ended.
    pub closed: usize,
    /// Crashes that a session has outlived.
    pub crashed: usize,
}

/// The publisher of what "others" send.
const OTHER: SessionKey = SessionKey(7);
/// Steps of one run; an input that is longer is cut.
const STEPS_MAX: usize = 400;

/// Runs the steps in `input`.
pub fn check_connections(input: &[u8]) -> Story {
    let mut unstructured = Unstructured::new(input);
    let mut draw = Draw(&mut unstructured);
    let broker = Broker::new(&mut draw);
    let books = Books::new(&broker.settings);
    let replies = VecDeque::new();
    let mut run = Run { draw, broker, books, link: None, replies, links: 0, token: 0, n: 0, story: Story::default() };
    for _ in 0..STEPS_MAX {
        if run.draw.is_over() {
            break;
        }
        run.step();
        run.judge();
    }
    run.end();
    run.story
}

/// The socket, as it were.
struct Link {
    input: Vec<u8>,
    /// The version of a granted connection.
    version: Option<Version>,
}

struct Run<'u, 'a> {
    draw: Draw<'u, 'a>,
    broker: Broker,
    books: Books,
    link: Option<Link>,
    /// SUBACKs and UNSUBACKs held back, each with the number of its connection.
    replies: VecDeque<(u64, Reply)>,
    links: u64,
    token: u64,
    /// Numbers the messages of others.
    n: u32,
    story: Story,
}

impl Run<'_, '_> {
    fn step(&mut self) {
        let choice = self.draw.below(16);
        match choice {
            0..=6 if self.link.is_none() => self.connect(),
            0..=5 => self.client_packet(),
            6 => {
                let bytes = self.draw.bytes(60);
                self.arrive(&bytes);
            }
            7..=9 => self.message_of_others(),
            10 => self.answer(),
            11 => self.commit(),
            12 => self.flush(),
            13 => self.time_passes(),
            14 if self.draw.one_in(3) => self.crash(),
            14 => self.lose(),
            _ => self.connect(),
        }
    }

    /// A new connection, which takes over the one there is.
    fn connect(&mut self) {
        if self.link.as_ref().is_some_and(|link| link.version.is_some()) {
            let close = self.broker.with(0, |session, _, io| {
                session.dismiss(ReasonCode::SessionTakenOver, "another connection has the client id", io)
            });
            self.close(close.expect("a granted connection has a session"));
        }
        self.link = Some(Link { input: Vec::new(), version: None });
        self.links += 1;
        let version = [Version::V5, Version::V311, Version::V5, Version::V31][self.draw.below(4)];
        let bytes = wire::packet(self.draw.0, Kind::Connect, version);
        self.arrive(&bytes);
    }

    fn client_packet(&mut self) {
        const KINDS: [Kind; 12] = [
            Kind::Publish,
            Kind::PubAck,
            Kind::Publish,
            Kind::PubRec,
            Kind::Publish,
            Kind::PubRel,
            Kind::PubComp,
            Kind::Subscribe,
            Kind::Subscribe,
            Kind::Unsubscribe,
            Kind::PingReq,
            Kind::Disconnect,
        ];
        let kind = if self.draw.one_in(32) { Kind::ALL[self.draw.below(15)] } else { KINDS[self.draw.below(12)] };
        let version = self.link.as_ref().and_then(|link| link.version).unwrap_or(Version::V5);
        let bytes = wire::packet(self.draw.0, kind, version);
        // In pieces at times: what is not whole waits for the next step's bytes.
        let len = if self.draw.one_in(16) { self.draw.below(bytes.len() + 1) } else { bytes.len() };
        self.arrive(&bytes[..len]);
    }

    fn message_of_others(&mut self) {
        self.n += 1;
        let mut payload = self.n.to_be_bytes().to_vec();
        payload.resize(4 + self.draw.below(8) * self.draw.below(32), 0x55);
        let mut publish = Publish::qos0("others", &payload);
        publish.qos = QoS::from_u8(self.draw.below(3) as u8).unwrap_or_default();
        publish.retain = self.draw.one_in(4);
        if self.draw.one_in(4) {
            publish.properties.message_expiry_s = Some(self.draw.below(8) as u32);
        }
        let count = 1 + self.draw.below(3);
        let grants: Vec<Grant> = (0..count).map(|_| self.any_grant()).collect();
        self.deliver(publish, OTHER, &grants, payload.len());
        self.hear();
    }

    fn any_grant(&mut self) -> Grant {
        let byte = self.draw.byte();
        let options = SubscriptionOptions::from_byte(byte & 0b10_1111).unwrap_or_default();
        Grant { options, subscription_id: lapwing_codec::SubscriptionId::new(u32::from(byte >> 5)) }
    }

    fn deliver(&mut self, publish: Publish<'_>, from: SessionKey, grants: &[Grant], len: usize) {
        let Some(delivered) = self.broker.deliver(publish, from, grants, len) else { return };
        self.books.offered(delivered != Delivered::NotLocal);
        if let Delivered::Overflow(close) = delivered {
            self.close(close);
        }
    }

    fn answer(&mut self) {
        let Some((link, reply)) = self.replies.pop_front() else { return };
        let is_current = link == self.links && self.link.as_ref().is_some_and(|link| link.version.is_some());
        if is_current {
            self.books.answers(reply.reasons().len());
        }
        if let Some(Err(close)) = self.broker.with(0, |session, _, io| session.reply(reply, io)) {
            self.close(close);
        }
        self.hear();
    }

    fn commit(&mut self) {
        let behind = self.draw.below(3) as u64;
        let through = CommitToken(self.token.saturating_sub(behind));
        self.broker.with(0, |session, _, io| session.committed(through, io));
        self.hear();
    }

    /// The socket has taken everything.
    fn flush(&mut self) {
        self.hear();
        self.broker.out.clear();
        self.books.flushed();
        self.broker.with(0, |session, now_ms, io| session.pump(now_ms, io));
        self.hear();
    }

    fn time_passes(&mut self) {
        let ms = if self.draw.one_in(4) { 60_000 } else { 250 };
        self.broker.now_ms += self.draw.below(20) as u64 * ms;
        let Some(tick) = self.broker.tick() else { return };
        self.books.ticked(&tick, self.broker.now_ms);
        if let Some(close) = tick.close {
            self.close(close);
        }
        if tick.ended {
            assert!(!self.broker.end() || !tick.will, "one will, published twice");
            self.books.session_ended();
        }
    }

    /// The socket broke.
    fn lose(&mut self) {
        if self.link.take().is_some_and(|link| link.version.is_some()) {
            self.depart();
        }
    }

    /// The broker is gone and comes again, with what its sessions have told.
    fn crash(&mut self) {
        if !self.broker.is_kept() {
            return self.lose();
        }
        self.hear();
        self.link = None;
        let clocks = self.books.crashes(self.broker.now_ms);
        if let Some(received) = self.broker.crash(&clocks) {
            self.books.crashed(received);
            self.story.crashed += 1;
        }
    }

    /// The connection is over, by its own words or ours.
    fn close(&mut self, close: Close) {
        self.hear();
        self.books.closed(&close);
        self.story.closed += usize::from(close.side == Side::Server);
        self.link = None;
        self.depart();
    }

    fn depart(&mut self) {
        self.hear();
        self.broker.out.clear();
        self.books.flushed();
        let Some((will, ended)) = self.broker.disconnected() else { return };
        self.books.departs(will, ended, self.broker.now_ms);
        if ended {
            assert!(!self.broker.end(), "a session that ends with its connection has published its will with it");
            self.books.session_ended();
        }
    }

    /// Reads what was written since the last time.
    fn hear(&mut self) {
        self.story.received += self.books.hears(&self.broker.out, self.broker.now_ms);
    }

    /// What must hold after each step.
    fn judge(&mut self) {
        self.hear();
        if self.link.as_ref().is_none_or(|link| link.version.is_none()) {
            assert!(self.broker.out.is_empty(), "something is written to nobody");
        }
        self.broker.judge(&self.books);
    }

    fn end(&mut self) {
        self.lose();
        self.broker.end();
    }
}
