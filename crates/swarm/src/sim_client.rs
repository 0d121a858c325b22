//! One simulated client: its connection, how far it is, and what it sends and hears.

use crate::link::Link;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::serials::{Arrival, Serials};
use crate::stamp::Stamp;
use lapwing_client::{Answer, ClientError, Connected, Events, Protocol};
use lapwing_codec::{Publish, ReasonCode};

/// How far a client is on its way in (or out).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Not dialled yet.
    Idle,
    /// The TCP connection is being made.
    Dialling,
    /// CONNECT is out.
    Greeting,
    /// CONNACK is in, SUBSCRIBE has to go out.
    Greeted,
    /// SUBSCRIBE is out.
    Subscribing,
    /// SUBACK is in.
    Subscribed,
    /// DISCONNECT with a duration is out: it goes to sleep.
    LyingDown,
    /// The subscription was refused.
    Refused(ReasonCode),
    /// Takes part.
    Ready,
    /// Its connection is gone; the swarm does not reconnect.
    Gone,
}

#[derive(Debug)]
pub(crate) struct Publisher {
    /// Over the whole run.
    pub index: u32,
    pub topic: String,
    /// Serial of the next message.
    pub sent: u32,
    /// How many have been due.
    pub due: u32,
}

#[derive(Debug)]
pub(crate) struct Subscriber {
    /// Over the whole run.
    pub index: u32,
    /// By `Plan::hears`; empty in a shared group, whose books are the lane's.
    pub serials: Vec<Serials>,
    /// Shared group: by publisher, one more than the highest serial seen here.
    pub next: Vec<u32>,
}

impl Subscriber {
    pub fn new(plan: &Plan, index: u32) -> Self {
        let heard = plan.heard_by(index) as usize;
        let (serials, next) = if plan.is_shared() { (0, heard) } else { (heard, 0) };
        Self { index, serials: vec![Serials::default(); serials], next: vec![0; next] }
    }
}

#[derive(Debug)]
pub(crate) struct SimClient {
    pub link: Option<Link>,
    pub protocol: Protocol,
    pub stage: Stage,
    pub dialled_ns: u64,
    pub publisher: Option<Publisher>,
    pub subscriber: Option<Subscriber>,
    /// Since when it is awake, if it sleeps at all and is.
    pub woke_ns: Option<u64>,
    /// In the lane's list of outputs to flush.
    pub dirty: bool,
    /// In the lane's list of publishers that may have something to send.
    pub queued: bool,
}

impl SimClient {
    pub fn new(protocol: Protocol, publisher: Option<Publisher>, subscriber: Option<Subscriber>) -> Self {
        Self {
            link: None,
            protocol,
            stage: Stage::Idle,
            dialled_ns: 0,
            publisher,
            subscriber,
            woke_ns: None,
            dirty: false,
            queued: false,
        }
    }

    pub fn client_id(&self, plan: &Plan) -> String {
        match (&self.publisher, &self.subscriber) {
            (Some(publisher), _) => plan.publisher_id(publisher.index),
            (None, Some(subscriber)) => plan.subscriber_id(subscriber.index),
            (None, None) => String::new(),
        }
    }
}

/// The ears of one client during one read.
pub(crate) struct Hearing<'a> {
    pub now_ns: u64,
    pub plan: &'a Plan,
    pub stage: &'a mut Stage,
    pub subscriber: Option<&'a mut Subscriber>,
    pub outcome: &'a mut Outcome,
    /// Copies that came, or were overtaken by something sent later.
    pub passed: &'a mut u64,
}

impl Events for Hearing<'_> {
    fn connected(&mut self, _connected: &Connected<'_>) {
        *self.stage = Stage::Greeted;
    }

    #[inline]
    fn message(&mut self, publish: &Publish<'_>) -> Answer {
        self.outcome.received += 1;
        self.outcome.received_bytes += publish.payload.len() as u64;
        self.outcome.last_heard_ns = self.now_ns;
        match Stamp::read(publish.payload) {
            Some(stamp) => self.record(stamp),
            None => self.outcome.foreign += 1,
        }
        Answer::Now
    }

    #[inline]
    fn acknowledged(&mut self, token: u64, reason: ReasonCode) {
        self.outcome.last_heard_ns = self.now_ns;
        self.outcome.answer.record(self.now_ns.saturating_sub(token));
        if reason.is_error() { self.outcome.rejected += 1 } else { self.outcome.acknowledged += 1 }
    }

    fn subscribed(&mut self, _token: u64, reasons: &[ReasonCode]) {
        let refused = reasons.iter().find(|reason| reason.is_error());
        *self.stage = refused.map_or(Stage::Subscribed, |reason| Stage::Refused(*reason));
    }
}

impl Hearing<'_> {
    #[inline]
    fn record(&mut self, stamp: Stamp) {
        let Some(subscriber) = self.subscriber.as_deref_mut() else {
            self.outcome.foreign += 1;
            return;
        };
        let Some(place) = self.plan.hears(subscriber.index, stamp.publisher) else {
            self.outcome.foreign += 1;
            return;
        };
        let place = place as usize;
        let arrival = if subscriber.next.is_empty() {
            let serials = &mut subscriber.serials[place];
            let before = serials.passed();
            let arrival = serials.record(stamp.serial);
            *self.passed += u64::from(serials.passed() - before);
            arrival
        } else {
            // The others of a group have what is in between.
            let arrival = in_group(&mut self.outcome.group[place], &mut subscriber.next[place], stamp.serial);
            *self.passed += u64::from(matches!(arrival, Arrival::InOrder | Arrival::Reordered));
            arrival
        };
        match arrival {
            Arrival::InOrder => self.outcome.unique += 1,
            Arrival::Reordered => {
                (self.outcome.unique, self.outcome.reordered) = (self.outcome.unique + 1, self.outcome.reordered + 1)
            }
            Arrival::Duplicate => self.outcome.duplicates += 1,
            Arrival::TooFarAhead => {
                self.outcome.foreign += 1;
                return;
            }
        }
        self.outcome.latency.record(self.now_ns.saturating_sub(stamp.due_ns));
    }
}

/// In a shared group what arrived is the group's, but order is each member's.
fn in_group(group: &mut Serials, next: &mut u32, serial: u32) -> Arrival {
    match group.record(serial) {
        arrival @ (Arrival::Duplicate | Arrival::TooFarAhead) => arrival,
        _ if serial < *next => Arrival::Reordered,
        _ => {
            *next = serial + 1;
            Arrival::InOrder
        }
    }
}

/// The error of a client whose subscription was refused.
pub(crate) fn subscription_refused(filter: &str, reason: ReasonCode) -> ClientError {
    ClientError::Rejected { what: format!("subscription to {filter:?}"), reason }
}
