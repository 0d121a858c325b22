//! Messages sent to the client with QoS 1 or 2 and not done: the outbound window.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_codec::{PacketId, QoS, SubscriptionId, SubscriptionIds};

use crate::Message;
use crate::bound::{Times, Unfinished};
use crate::told::Tie;

/// Places that an empty window keeps allocated.
const CAPACITY_KEPT: usize = 16;

/// How one message goes to one client: all its matching subscriptions taken together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeliveryOptions {
    pub(crate) qos: QoS,
    pub(crate) retain: bool,
    /// It may have been sent before: goes with DUP from the first time on.
    pub(crate) dup: bool,
    pub(crate) ids: Ids,
    /// Who else has to learn what becomes of it.
    pub(crate) tie: Tie,
}

// Ten thousands of them may lie in a queue or window.
const _: () = assert!(size_of::<DeliveryOptions>() <= 48);

/// Subscription identifiers of one copy; a list only where subscriptions overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    None,
    One(SubscriptionId),
    /// One pointer, because hardly any message has it and all have the place for it.
    #[expect(clippy::box_collection, reason = "a list's own three words would be in every message")]
    Many(Box<Vec<SubscriptionId>>),
}

impl Ids {
    pub(crate) fn add(&mut self, id: SubscriptionId) {
        match self {
            Ids::None => *self = Ids::One(id),
            Ids::One(first) => *self = Ids::Many(Box::new(vec![*first, id])),
            Ids::Many(ids) => ids.push(id),
        }
    }

    pub(crate) fn as_ref(&self) -> SubscriptionIds<'_> {
        match self {
            Ids::None => SubscriptionIds::EMPTY,
            Ids::One(id) => SubscriptionIds::one(*id),
            Ids::Many(ids) => SubscriptionIds::from_slice(ids),
        }
    }
}

/// Where the message of a flight is.
#[derive(Debug)]
pub(crate) enum Body {
    AtHand(Arc<Message>),
    /// In the log; it is to be read before it can be sent again.
    InLog,
    /// PUBREC has come, the client owns the message, PUBREL is (to be) sent.
    Received,
}

impl Body {
    pub(crate) const fn is_received(&self) -> bool {
        matches!(self, Body::Received)
    }

    const fn is_in_log(&self) -> bool {
        matches!(self, Body::InLog)
    }
}

/// One message under way.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) packet_id: PacketId,
    pub(crate) body: Body,
    pub(crate) options: DeliveryOptions,
    pub(crate) times: Times,
}

impl Flight {
    fn footprint(&self) -> u64 {
        match &self.body {
            Body::AtHand(message) => message.footprint() as u64,
            Body::InLog | Body::Received => 0,
        }
    }
}

/// The flights in the order in which they were first sent; their packet ids ascend (modulo 65,535) from front to back.
#[derive(Debug)]
pub(crate) struct Window {
    flights: VecDeque<Flight>,
    /// So many flights at the back have not been sent again on this connection yet. There are no more flights than ids.
    unsent: u16,
    next_id: PacketId,
    /// Bytes of the messages that are at hand.
    bytes: u64,
    /// Flights whose message is to be read from the log.
    missing: u16,
    /// The flight at the back, or one before it, is bound and not known to have been written to the socket.
    has_unwritten: bool,
}

impl Window {
    /// What an earlier life of the session had sent with QoS 2, each under its own packet id; in any order.
    ///
    /// The first one sent stands in front. The ids of the others ascend from there, as they were given.
    pub(crate) fn restored(mut flights: Vec<Flight>) -> Self {
        let Some(first) = flights.iter().min_by_key(|flight| flight.options.tie.entry).map(|first| first.packet_id)
        else {
            return Window::new();
        };
        flights.sort_by_key(|flight| distance(first, flight.packet_id));
        let next_id = flights.last().map_or(PacketId::MIN, |last| last.packet_id.next());
        let bytes = flights.iter().map(Flight::footprint).sum();
        let missing = flights.iter().filter(|flight| flight.body.is_in_log()).count() as u16;
        Window { unsent: flights.len() as u16, next_id, bytes, missing, flights: flights.into(), has_unwritten: false }
    }

    pub(crate) const fn new() -> Self {
        Window {
            flights: VecDeque::new(),
            unsent: 0,
            next_id: PacketId::MIN,
            bytes: 0,
            missing: 0,
            has_unwritten: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.flights.len()
    }

    /// Flights whose message the client has not said to have.
    pub(crate) fn unreceived(&self) -> usize {
        self.flights.iter().filter(|flight| !flight.body.is_received()).count()
    }

    /// Flights that have been sent on this connection and are not done.
    pub(crate) fn sent(&self) -> usize {
        self.flights.len() - usize::from(self.unsent)
    }

    /// A new connection: everything has to be sent again [MQTT-4.4.0-1].
    pub(crate) fn resend_all(&mut self) {
        self.unsent = self.flights.len() as u16;
    }

    pub(crate) const fn has_unsent(&self) -> bool {
        self.unsent > 0
    }

    /// The packet id for a new flight; `None` while the id space is used up by a front that is not acknowledged.
    pub(crate) fn reserve_id(&self) -> Option<PacketId> {
        let front = self.flights.front().map(|front| front.packet_id);
        (front != Some(self.next_id)).then_some(self.next_id)
    }

    /// Bytes of the messages that are kept in memory until they are acknowledged.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a flight that is being sent, with the id from `reserve_id`. Nothing may be unsent.
    pub(crate) fn push(&mut self, flight: Flight) {
        debug_assert_eq!((self.unsent, flight.packet_id), (0, self.next_id));
        self.next_id = self.next_id.next();
        self.bytes += flight.footprint();
        self.has_unwritten |= flight.options.tie.bound.is_some();
        self.flights.push_back(flight);
    }

    /// The first flight that is to be sent again, now counted as sent. `None` too while its message is to be read first.
    pub(crate) fn next_unsent(&mut self) -> Option<&Flight> {
        let at = self.flights.len().checked_sub(self.unsent.into())?;
        let flight = self.flights.get(at).filter(|flight| !flight.body.is_in_log())?;
        self.unsent -= 1;
        Some(flight)
    }

    /// Lets go of the messages that are in the log too.
    pub(crate) fn page_out(&mut self) {
        for flight in self.flights.iter_mut().filter(|flight| flight.options.tie.entry.is_some()) {
            self.bytes -= flight.footprint();
            if let Body::AtHand(_) = flight.body {
                flight.body = Body::InLog;
                self.missing += 1;
            }
        }
    }

    /// Whether messages are to be read from the log before all flights can be sent again.
    pub(crate) const fn is_paged(&self) -> bool {
        self.missing > 0
    }

    /// The entries of these messages.
    pub(crate) fn missing(&self) -> impl Iterator<Item = NonZeroU64> {
        self.flights.iter().filter(|flight| flight.body.is_in_log()).filter_map(|flight| flight.options.tie.entry)
    }

    /// A message cannot be read from the log any more: its flight is over, if there is one.
    pub(crate) fn give_up(&mut self, entry: NonZeroU64) -> Option<Tie> {
        let waits = |flight: &Flight| flight.body.is_in_log() && flight.options.tie.entry == Some(entry);
        let at = self.flights.iter().position(waits)?;
        self.remove(at).map(|flight| flight.options.tie)
    }

    /// A message has been read from the log; returns whether a flight had waited for it.
    pub(crate) fn take_read(&mut self, entry: NonZeroU64, message: &Arc<Message>) -> bool {
        if self.missing == 0 {
            return false;
        }
        let waits = |flight: &&mut Flight| flight.body.is_in_log() && flight.options.tie.entry == Some(entry);
        let Some(flight) = self.flights.iter_mut().find(waits) else { return false };
        flight.body = Body::AtHand(Arc::clone(message));
        self.bytes += flight.footprint();
        self.missing -= 1;
        true
    }

    /// Where the flight with this id is.
    pub(crate) fn find(&self, packet_id: PacketId) -> Option<usize> {
        let front = self.flights.front()?.packet_id;
        let wanted = distance(front, packet_id);
        self.flights.binary_search_by_key(&wanted, |flight| distance(front, flight.packet_id)).ok()
    }

    /// How the flight that was added last goes.
    pub(crate) fn last_options(&self) -> Option<&DeliveryOptions> {
        self.flights.back().map(|flight| &flight.options)
    }

    pub(crate) fn options_mut(&mut self) -> impl Iterator<Item = &mut DeliveryOptions> {
        self.flights.iter_mut().map(|flight| &mut flight.options)
    }

    pub(crate) fn get(&self, at: usize) -> &Flight {
        &self.flights[at]
    }

    /// PUBREC was read: the client owns the message, it need not be kept, its packet id stays in use.
    pub(crate) fn release(&mut self, at: usize, now_us: u64) {
        let flight = &mut self.flights[at];
        self.bytes -= flight.footprint();
        self.missing -= u16::from(flight.body.is_in_log());
        flight.body = Body::Received;
        flight.times.received_us = now_us;
    }

    /// Whether a bound flight is not known to have been written to the socket.
    pub(crate) const fn has_unwritten(&self) -> bool {
        self.has_unwritten
    }

    /// All flights have been written to the socket.
    pub(crate) fn written(&mut self, now_us: u64) {
        let bound = self.flights.iter_mut().rev().filter(|flight| flight.options.tie.bound.is_some());
        for flight in bound.take_while(|flight| !flight.times.is_written) {
            (flight.times.written_us, flight.times.is_written) = (now_us, true);
        }
        self.has_unwritten = false;
    }

    /// Takes out the bound flights that end with their connection, with `ends` all of them; returns every bound one.
    pub(crate) fn unbind(&mut self, ends: bool) -> Vec<Unfinished> {
        let mut unfinished = Vec::new();
        let mut at = 0;
        while let Some(flight) = self.flights.get(at) {
            let Some(bound) = flight.options.tie.bound else {
                at += 1;
                continue;
            };
            // Encoded is as good as sent: nobody knows what of it the kernel has handed over.
            unfinished.push(Unfinished { bound, was_sent: true });
            if ends || flight.options.qos == QoS::AtLeastOnce { _ = self.remove(at) } else { at += 1 }
        }
        self.has_unwritten = false;
        unfinished
    }

    /// The flight is done.
    pub(crate) fn remove(&mut self, at: usize) -> Option<Flight> {
        if at >= self.sent() {
            self.unsent -= 1;
        }
        // Clients acknowledge in order, nearly always.
        let flight = if at == 0 { self.flights.pop_front() } else { self.flights.remove(at) };
        if let Some(flight) = &flight {
            self.bytes -= flight.footprint();
            self.missing -= u16::from(flight.body.is_in_log());
        }
        if self.flights.is_empty() && self.flights.capacity() > CAPACITY_KEPT {
            // A client that was busy once does not keep its window forever.
            self.flights = VecDeque::new();
        }
        flight
    }

    /// Done with the flight that `next_unsent` gave last.
    pub(crate) fn remove_last_sent(&mut self) -> Option<Flight> {
        self.remove(self.sent().checked_sub(1)?)
    }
}

/// Steps from `from` to `to` in the circle of 65,535 ids.
const fn distance(from: PacketId, to: PacketId) -> u16 {
    let (from, to) = (from.get(), to.get());
    if to >= from { to - from } else { to + (u16::MAX - from) }
}
