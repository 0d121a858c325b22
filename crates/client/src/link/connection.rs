//! One connection of a link: what it reads, what it writes, how it ends.

use super::bell::Ready;
use super::incoming::{Heard, Listener};
use super::publication::Publication;
use super::settings::{GOODBYE, LinkOptions, Reports};
use super::shared::{Shared, Waiter};
use super::state::{Closing, Done, State};
use super::token::Token;
use crate::error::ClientError;
use crate::events::Events;
use crate::over_sn;
use crate::protocol::{Protocol, SendError, State as ProtocolState};
use crate::wire::Wire;
use lapwing_codec::{
    Ack, Publish, PublishProperties, QoS, ReasonCode, ReasonProperties, RetainHandling, SubscribeFiltersBuf,
    SubscriptionOptions, UserPropertiesBuf,
};
use std::time::{Duration, Instant};

/// Bytes encoded before they are offered to the socket.
const GATHER_BYTES: usize = 256 << 10;
/// Reads before writing gets its turn.
const READS: usize = 8;
/// A report says no more often than this how things stand.
const REPORT_PAUSE: Duration = Duration::from_millis(1);
/// A high mark is said again after so long: the broker forgets it after half a minute.
const HIGH_AGAIN: Duration = Duration::from_secs(10);
/// Where reports go that answer no message.
const REPORT_TOPIC: &str = "$lapwing/report";

/// A connection, from CONNECT on.
#[derive(Debug)]
pub(crate) struct Connection<'a> {
    pub wire: Wire,
    pub protocol: &'a mut Protocol,
    pub shared: &'a Shared,
    pub options: &'a LinkOptions,
    /// The clock that the keep alive counts from.
    pub started: Instant,
    /// CONNACK and SUBACK have to be here by then.
    pub ready_by: Instant,
    /// What comes is taken as far as there is room, and what is published goes.
    pub is_ready: bool,
    /// Whoever waits for it to be connected and subscribed has been told.
    pub is_up: bool,
    pub heard: Heard,
    /// What was read has not all been handled: there was no room.
    pub has_leftovers: bool,
    /// TLS or WebSocket may hold more of what came, which no poll would show.
    pub has_unread: bool,
    pub done: Vec<Done>,
    pub publications: Vec<Publication>,
    /// The number of the first of them.
    pub first_number: u64,
    /// Acknowledgements since the last report, and when that was.
    pub unreported: u32,
    pub reported_at: Option<Instant>,
    /// When to say again that nothing more is wanted.
    pub high_again_at: Option<Instant>,
}

/// What the state said to do.
struct Orders {
    closing: Closing,
    is_paused: bool,
    is_settled: bool,
}

impl Connection<'_> {
    /// Serves until the goodbye is said.
    ///
    /// # Errors
    /// What broke the connection.
    pub fn serve(mut self) -> Result<(), ClientError> {
        loop {
            let orders = self.carry_out()?;
            match orders.closing {
                Closing::Abort => return Ok(()),
                Closing::Until(at) if orders.is_settled || Instant::now() >= at => return self.say_goodbye(),
                _ => {}
            }
            if !self.is_up && Instant::now() >= self.ready_by {
                let after_s = self.options.connect_timeout.as_secs_f64();
                return Err(ClientError::TimedOut { what: "CONNACK", after_s });
            }
            if orders.is_paused {
                self.protocol.excuse_ping();
            }
            let wish = Ready { read: !orders.is_paused, write: self.wire.wants_room(), broken: false };
            let timeout = self.sleep_for(&orders);
            let ready = self.shared.bell.wait(Some((self.wire.fd(), wish)), timeout)?;
            if ready.broken && orders.is_paused {
                return Err(ClientError::Lost(std::io::ErrorKind::ConnectionReset.into()));
            }
            if ready.read || (self.has_unread && !orders.is_paused) {
                self.read()?;
            }
            if self.has_leftovers && !self.pauses(&self.shared.lock()) {
                self.digest()?;
            }
        }
    }

    /// Fetches what the caller wants, and sends it as far as the socket goes.
    fn carry_out(&mut self) -> Result<Orders, ClientError> {
        let room = if self.is_ready { self.protocol.room() } else { 0 };
        let (orders, figures, declaration);
        {
            let mut state = self.shared.lock();
            state.asleep = false;
            std::mem::swap(&mut self.done, &mut state.done);
            if self.is_ready && self.wire.backlog() < GATHER_BYTES {
                self.first_number = state.next_number();
                state.fetch(&mut self.publications, room, GATHER_BYTES);
                if self.publications.iter().any(|one| one.qos == QoS::AtMostOnce) {
                    self.shared.tell_room(&mut state);
                }
            }
            let again = self.high_again_at.is_some_and(|at| Instant::now() >= at);
            let due = self.is_ready && (std::mem::take(&mut state.report_due) || again);
            if due {
                self.high_again_at = state.is_full().then(|| Instant::now() + HIGH_AGAIN);
            }
            state.count.reports += u64::from(due);
            let wanted = self.options.reports.is_some() && (due || !self.done.is_empty());
            figures = wanted.then(|| (state.figures(), due));
            let declares = self.is_ready && std::mem::take(&mut state.declaration_due);
            declaration = state.declaration.clone().filter(|_| declares);
            let is_settled = state.is_answered() && self.publications.is_empty();
            orders = Orders { closing: state.closing, is_paused: self.pauses(&state), is_settled };
        }
        if let Some((figures, true)) = figures {
            self.report(figures.json(None).as_bytes())?;
        }
        if let Some(declaration) = declaration {
            self.report(declaration.as_bytes())?;
        }
        self.answer(figures.map(|(figures, _)| figures.properties()))?;
        let now_ms = self.now_ms();
        self.protocol.at(now_ms);
        self.publish()?;
        self.protocol.tick(now_ms, &mut self.wire.output)?;
        let is_due = self.wire.next_wake().is_some_and(|at| Instant::now() >= at);
        if self.wire.is_unsent() || is_due {
            self.protocol.wrote(now_ms);
            self.wire.write_now()?;
        }
        Ok(orders)
    }

    /// The socket is not to be read. Before SUBACK it is: nobody takes messages yet, and it comes behind them.
    fn pauses(&self, state: &State) -> bool {
        self.is_ready && state.is_paused()
    }

    /// How long to poll: not at all if there is more to send; sets `asleep`, so that callers ring.
    fn sleep_for(&self, orders: &Orders) -> Option<Duration> {
        let now = Instant::now();
        let room = if self.is_ready { self.protocol.room() } else { 0 };
        let mut state = self.shared.lock();
        let can_send = self.is_ready && self.wire.backlog() < GATHER_BYTES && state.can_fetch(room);
        let changed = state.closing != orders.closing || self.pauses(&state) != orders.is_paused;
        let written = state.in_wire && !self.wire.is_unsent();
        if written {
            state.in_wire = false;
            self.shared.tell_room(&mut state);
        }
        let stuck = (self.has_leftovers || self.has_unread) && !self.pauses(&state);
        if can_send || changed || written || stuck || (self.is_ready && state.is_due_besides_publications()) {
            return Some(Duration::ZERO);
        }
        (state.asleep, state.paused) = (true, orders.is_paused);
        let ping = self.protocol.next_tick_ms().map(|ms| self.started + Duration::from_millis(ms));
        let ready_by = (!self.is_up).then_some(self.ready_by);
        let closing = match orders.closing {
            Closing::Until(at) => Some(at),
            _ => None,
        };
        let first = [ping, ready_by, closing, self.high_again_at, self.wire.next_wake()].into_iter().flatten().min();
        first.map(|at| at.saturating_duration_since(now))
    }

    fn answer(&mut self, report: Option<UserPropertiesBuf>) -> Result<(), ClientError> {
        let now = Instant::now();
        let mut done = std::mem::take(&mut self.done);
        for one in done.drain(..) {
            self.unreported += 1;
            let is_due =
                self.options.reports.is_some_and(|Reports { every, .. }| every > 0 && self.unreported >= every)
                    && self.reported_at.is_none_or(|at| now.saturating_duration_since(at) >= REPORT_PAUSE);
            let user = report.as_ref().filter(|_| is_due).map(UserPropertiesBuf::as_ref).unwrap_or_default();
            if is_due {
                (self.unreported, self.reported_at) = (0, Some(now));
            }
            let reason = one.refusal.as_ref().map_or(ReasonCode::Success, |refusal| refusal.reason);
            let words = one.refusal.as_ref().map(|refusal| refusal.words.as_str()).filter(|words| !words.is_empty());
            let properties = ReasonProperties { reason_string: words, user };
            self.protocol.answer(one.qos, Ack { packet_id: one.id, reason, properties }, &mut self.wire.output)?;
        }
        self.done = done;
        Ok(())
    }

    fn publish(&mut self) -> Result<(), ClientError> {
        let mut publications = std::mem::take(&mut self.publications);
        let now = Instant::now();
        for (number, one) in (self.first_number..).zip(publications.drain(..)) {
            let token = Token::of(number, one.cost());
            let packet = one.packet(now).ok_or(SendError::Expired);
            match packet.and_then(|packet| self.protocol.publish(packet, token.0, &mut self.wire.output)) {
                Ok(()) => {}
                Err(SendError::NotConnected) => return Err(ClientError::NotConnected),
                Err(error) => {
                    let mut state = self.shared.lock();
                    state.never_sent(token, &one, &error.to_string());
                    self.shared.tell_room(&mut state);
                }
            }
        }
        self.publications = publications;
        Ok(())
    }

    fn report(&mut self, payload: &[u8]) -> Result<(), ClientError> {
        let properties = PublishProperties::EMPTY;
        let topic = REPORT_TOPIC;
        if self.wire.waits_for_answers() && over_sn::check_publish(topic, payload).is_err() {
            return Ok(());
        }
        let publish =
            Publish { dup: false, qos: QoS::AtMostOnce, retain: false, topic, packet_id: None, properties, payload };
        match self.protocol.publish(publish, 0, &mut self.wire.output) {
            // A broker that takes no packets of this size gets no report.
            Ok(()) | Err(SendError::Unsupported(_)) => Ok(()),
            Err(error) => Err(ClientError::Invalid(error.to_string())),
        }
    }

    fn read(&mut self) -> Result<(), ClientError> {
        for _ in 0..READS {
            if self.has_leftovers {
                return Ok(());
            }
            self.has_unread = self.wire.read_now()?;
            if !self.has_unread {
                return Ok(());
            }
            self.digest()?;
        }
        Ok(())
    }

    /// Handles what was read, as far as there is room for messages.
    fn digest(&mut self) -> Result<(), ClientError> {
        let reports = self.options.reports.is_some();
        let room = if self.is_ready { self.shared.lock().room_to_receive() } else { (usize::MAX, usize::MAX) };
        let mut listener = Listener { heard: &mut self.heard, shared: self.shared, reports, room };
        let refusals = self.wire.take_refusals();
        self.protocol.at(self.started.elapsed().as_millis() as u64);
        let outcome = self.protocol.receive(&self.wire.input, &mut self.wire.output, &mut listener).and_then(|used| {
            let out = &mut self.wire.output;
            refusals.iter().try_for_each(|refusal| self.protocol.refused(refusal, out, &mut listener)).map(|()| used)
        });
        self.has_leftovers = listener.is_full();
        self.heard.hand_over(self.shared);
        self.wire.input.drain(..outcome?);
        self.get_ready()?;
        self.answer_probes()
    }

    /// After CONNACK the subscription, after SUBACK the caller's wishes.
    fn get_ready(&mut self) -> Result<(), ClientError> {
        if let Some(session_present) = self.heard.session_present.take() {
            self.subscribe()?;
            // A session has its subscriptions: its messages come before SUBACK, and somebody must take them. Who begins has perhaps
            // others than the process before, and waits for SUBACK.
            self.is_ready = session_present;
            if self.options.subscribe.is_none() || (session_present && !self.shared.lock().is_starting()) {
                self.be_up();
            }
        }
        if !self.heard.take_subscribed(self.options)? {
            return self.make_room_for_suback();
        }
        if !self.is_up {
            self.be_up();
        }
        Ok(())
    }

    /// Where so much has come before SUBACK that nothing more is read, somebody has to take it first.
    fn make_room_for_suback(&mut self) -> Result<(), ClientError> {
        if self.is_ready && !self.is_up && (self.has_leftovers || self.shared.lock().is_paused()) {
            self.be_up();
        }
        Ok(())
    }

    fn subscribe(&mut self) -> Result<(), ClientError> {
        let Some(wanted) = &self.options.subscribe else { return Ok(()) };
        let mut filters = SubscribeFiltersBuf::new();
        // What is retained comes with the first subscription, not with each connection.
        let v5 = self.protocol.version().has_properties();
        let retain_handling = if v5 { RetainHandling::SendIfNew } else { RetainHandling::Send };
        for filter in &wanted.filters {
            filters.push(filter, SubscriptionOptions { qos: wanted.qos, retain_handling, ..Default::default() })?;
        }
        let sent = self.protocol.subscribe(filters.as_ref(), None, 0, &mut self.wire.output);
        sent.map_err(|error| ClientError::Invalid(error.to_string()))
    }

    fn be_up(&mut self) {
        (self.is_ready, self.is_up) = (true, true);
        let mut state = self.shared.lock();
        state.connected();
        self.shared.wake(Waiter::Change, true);
        self.shared.tell(&mut state);
    }

    fn answer_probes(&mut self) -> Result<(), ClientError> {
        for number in std::mem::take(&mut self.heard.probes) {
            let figures = {
                let mut state = self.shared.lock();
                state.count.reports += 1;
                state.figures()
            };
            self.report(figures.json(Some(number)).as_bytes())?;
        }
        Ok(())
    }

    fn say_goodbye(mut self) -> Result<(), ClientError> {
        if self.protocol.state() == ProtocolState::Connected {
            // A session under a name that nobody will use again need not stay.
            let expiry = self.options.ends_session.then_some(0).filter(|_| self.protocol.version().has_properties());
            self.protocol.disconnect(ReasonCode::Success, expiry, &mut self.wire.output)?;
            self.wire.block()?;
            self.wire.flush(Instant::now() + GOODBYE)?;
        }
        Ok(())
    }

    fn now_ms(&self) -> u64 {
        // A monotonic clock since the start of the thread: 2^64 ms do not pass.
        self.started.elapsed().as_millis() as u64
    }
}
