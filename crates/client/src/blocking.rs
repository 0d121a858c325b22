//! A small blocking client: for commands, tests and scripts, one connection, one thread.
//!
//! Rules: every call that waits takes a timeout. A message counts as received when the caller takes it: QoS 1
//! and 2 are acknowledged then, not before. Pings go out during calls only, so a caller that is silent for
//! longer than one and a half keep alive times is disconnected.

use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::inbox::{Inbox, Topics};
use crate::message::Message;
use crate::options::Options;
use crate::over_sn;
use crate::protocol::{Protocol, SendError, State};
use crate::texts;
use crate::wire::Wire;
use lapwing_codec::topic::validate_filter;
use lapwing_codec::{
    Limits, Publish, QoS, ReasonCode, SubscribeFiltersBuf, SubscriptionId, SubscriptionOptions, UnsubscribeFiltersBuf,
};
use std::time::{Duration, Instant};

/// QoS 1 and 2 publishes unanswered at a time.
const WINDOW: u16 = 1024;
/// Bytes that wait for the socket at most: a publish that finds more waits until they are written.
const GATHER_BYTES: usize = 64 << 10;
/// A connected client.
#[derive(Debug)]
pub struct BlockingClient {
    wire: Wire,
    protocol: Protocol,
    inbox: Inbox,
    next_token: u64,
    started: Instant,
    /// What CONNECT asked for.
    session_expiry_s: u32,
}

impl BlockingClient {
    /// Connects to `url` and waits for the broker's answer.
    ///
    /// # Errors
    /// `Unreachable`, `Tls`, `WebSocket`, `Refused`, `TimedOut`; `Invalid` for a bad URL or a file that TLS cannot use.
    pub fn connect(url: &str, options: &Options, timeout: Duration) -> Result<Self, ClientError> {
        let deadline = Deadline::after(timeout);
        let address = Address::parse(url)?;
        options.check()?;
        let made_up = options.client_id.is_empty() && address.scheme.is_sn();
        let options = &over_sn::checked(options, &address)?;
        let wire = Wire::connect(&address, &options.tls, deadline.at)?;
        let protocol = Protocol::new(options.version, WINDOW, false);
        let (inbox, started) = (Inbox::default(), Instant::now());
        let session_expiry_s = options.session_expiry_s;
        let mut client = Self { wire, protocol, inbox, next_token: 0, started, session_expiry_s };
        client.protocol.connect(options, 0, &mut client.wire.output)?;
        client.wait(deadline, "CONNACK", |client| client.protocol.state() == State::Connected)?;
        if made_up {
            client.inbox.assigned_client_id = Some(options.client_id.clone());
        }
        Ok(client)
    }

    /// The broker still had this client's session.
    pub fn session_present(&self) -> bool {
        self.inbox.session_present
    }

    /// The client id the broker chose, when the client came without one; over MQTT-SN it was made up here.
    pub fn assigned_client_id(&self) -> Option<&str> {
        self.inbox.assigned_client_id.as_deref()
    }

    /// QoS 0 messages dropped because the caller did not take them.
    pub fn dropped(&self) -> u64 {
        self.inbox.dropped
    }

    /// Sends a message; waits only while the window is full, or while 64 KiB wait for the socket. `flush` waits for the
    /// answers. Gives a number by which `Unpublished` names it.
    ///
    /// What the socket does not take at once goes out with the next call. `dup` of `publish` does not matter; at QoS 1
    /// and 2 `packet_id` is used if it is given, and chosen here if not.
    /// # Errors
    /// `Invalid`: a topic that cannot be published to, a property with U+0000, a packet id in use, or what the broker said it
    /// does not take.
    pub fn publish(&mut self, publish: &Publish<'_>, timeout: Duration) -> Result<u64, ClientError> {
        let token = self.hold(publish, timeout)?;
        self.send_some()?;
        Ok(token)
    }

    /// As `publish`, but the message waits for the next call that sends, or until 64 KiB have gathered: many small
    /// messages share one write.
    ///
    /// # Errors
    /// As of `publish`.
    pub fn hold(&mut self, publish: &Publish<'_>, timeout: Duration) -> Result<u64, ClientError> {
        let deadline = Deadline::after(timeout);
        let topic = publish.topic;
        texts::check_message(topic, &publish.properties)?;
        if self.wire.waits_for_answers() {
            over_sn::check_publish(topic, publish.payload)?;
        }
        if publish.qos != QoS::AtMostOnce {
            self.wait(deadline, "room in the window", |client| client.protocol.room() > 0)?;
        }
        let token = self.token();
        self.protocol.publish(*publish, token, &mut self.wire.output).map_err(refused)?;
        if publish.qos != QoS::AtMostOnce {
            self.inbox.topics.note(topic);
        }
        if self.wire.backlog() >= GATHER_BYTES {
            self.flush_output(deadline)?;
        }
        Ok(token)
    }

    /// Waits until the broker has answered every publish.
    ///
    /// # Errors
    /// `Unpublished`: the broker refused at least one; `TimedOut`.
    pub fn flush(&mut self, timeout: Duration) -> Result<(), ClientError> {
        let deadline = Deadline::after(timeout);
        self.flush_output(deadline)?;
        self.wait(deadline, "the acknowledgement of a publish", |client| client.protocol.unanswered() == 0)?;
        self.inbox.topics = Topics::None;
        match std::mem::take(&mut self.inbox.rejections) {
            none if none.is_empty() => Ok(()),
            rejections => Err(ClientError::Unpublished(rejections)),
        }
    }

    /// Subscribes to `filters` and waits for the broker's answer; gives the granted QoS of each. With `id` (5.0) messages
    /// name it.
    ///
    /// # Errors
    /// `Rejected`: the broker refused at least one; `Invalid`: a filter that is none; `TimedOut`.
    pub fn subscribe(
        &mut self,
        filters: &[(&str, SubscriptionOptions)],
        id: Option<SubscriptionId>,
        timeout: Duration,
    ) -> Result<Vec<QoS>, ClientError> {
        let mut packed = SubscribeFiltersBuf::new();
        for (filter, options) in filters {
            self.check_filter(filter)?;
            packed.push(filter, *options)?;
        }
        let token = self.token();
        self.protocol.subscribe(packed.as_ref(), id, token, &mut self.wire.output).map_err(refused)?;
        let reasons = self.answer(token, "SUBACK", timeout)?;
        filters.iter().zip(reasons).map(|((filter, _), reason)| granted(filter, reason)).collect()
    }

    /// Gives `filters` up and waits for the broker's answer.
    ///
    /// # Errors
    /// `Invalid`: a filter that is none; `TimedOut`.
    pub fn unsubscribe(&mut self, filters: &[&str], timeout: Duration) -> Result<(), ClientError> {
        let mut packed = UnsubscribeFiltersBuf::new();
        for filter in filters {
            self.check_filter(filter)?;
            packed.push(filter)?;
        }
        let token = self.token();
        self.protocol.unsubscribe(packed.as_ref(), token, &mut self.wire.output).map_err(refused)?;
        self.answer(token, "UNSUBACK", timeout).map(drop)
    }

    /// Takes the next message, waiting up to `timeout`; `None` when none came. This acknowledges it: what the socket does
    /// not take of that at once goes out with the next call.
    ///
    /// # Errors
    /// The connection is over.
    pub fn receive(&mut self, timeout: Duration) -> Result<Option<Message>, ClientError> {
        let deadline = Deadline::after(timeout);
        while self.inbox.messages.is_empty() {
            if deadline.ends(self.step(deadline)?) && self.inbox.messages.is_empty() {
                return Ok(None);
            }
        }
        let Some(message) = self.inbox.messages.pop_front() else { return Ok(None) };
        if let Some(id) = message.packet_id {
            self.protocol.acknowledge(id, message.qos, &mut self.wire.output)?;
        }
        if self.inbox.messages.is_empty() {
            // The message is the caller's, whatever becomes of its acknowledgement: an error here would take it away. The
            // next call finds the socket as it is, and says so.
            let _ = self.send_some();
        }
        Ok(Some(message))
    }

    /// Says goodbye (the will does not go out, unless `reason` is `DisconnectWithWill`). `session_expiry_s` (5.0)
    /// replaces what CONNECT asked for; see [`BlockingClient::check_expiry`].
    ///
    /// # Errors
    /// The connection was over before; nothing is left to do.
    pub fn disconnect(
        mut self,
        reason: ReasonCode,
        session_expiry_s: Option<u32>,
        timeout: Duration,
    ) -> Result<(), ClientError> {
        self.protocol.disconnect(reason, session_expiry_s, &mut self.wire.output)?;
        let deadline = Deadline::after(timeout);
        if self.wire.flush(deadline.at)? { Ok(()) } else { Err(deadline.timed_out(self.awaited())) }
    }

    /// Whether DISCONNECT may name this session expiry.
    ///
    /// # Errors
    /// `Invalid`: 3.1.1 cannot, and a session that ends with its connection cannot be given time [MQTT-3.14.2-2].
    pub fn check_expiry(&self, session_expiry_s: Option<u32>) -> Result<(), ClientError> {
        let wrong = match session_expiry_s {
            Some(_) if !self.protocol.version().has_properties() => "MQTT 3.1.1 has no session expiry",
            Some(1..) if self.session_expiry_s == 0 => {
                "a session that was opened with session expiry 0 cannot get another one in DISCONNECT"
            }
            _ => return Ok(()),
        };
        Err(ClientError::Invalid(wrong.to_owned()))
    }

    fn token(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }

    fn answer(&mut self, token: u64, what: &'static str, timeout: Duration) -> Result<Vec<ReasonCode>, ClientError> {
        self.wait(Deadline::after(timeout), what, |client| client.inbox.answers.contains_key(&token))?;
        Ok(self.inbox.answers.remove(&token).unwrap_or_default())
    }

    fn wait(
        &mut self,
        deadline: Deadline,
        what: &'static str,
        done: impl Fn(&Self) -> bool,
    ) -> Result<(), ClientError> {
        while !done(self) {
            if deadline.ends(self.step(deadline)?) && !done(self) {
                return Err(deadline.timed_out(what));
            }
        }
        Ok(())
    }

    /// Writes what is to be written, reads once, handles what came; false when nothing came in time.
    fn step(&mut self, deadline: Deadline) -> Result<bool, ClientError> {
        self.protocol.tick(self.now_ms(), &mut self.wire.output)?;
        self.send(deadline)?;
        let ping_at = self.protocol.next_tick_ms().map(|ms| self.started + Duration::from_millis(ms));
        let wakes = [ping_at, self.wire.next_wake()].into_iter().flatten();
        let came = self.wire.fill(wakes.fold(deadline.at, Instant::min))?;
        if came {
            let Self { wire, protocol, inbox, .. } = self;
            let used = protocol.receive(&wire.input, &mut wire.output, inbox)?;
            wire.input.drain(..used);
            for refusal in wire.take_refusals() {
                protocol.refused(&refusal, &mut wire.output, inbox)?;
            }
        }
        Ok(came)
    }

    /// Writes what the socket takes without waiting.
    fn send_some(&mut self) -> Result<(), ClientError> {
        if self.wire.is_unsent() && self.wire.write_some()? {
            let now_ms = self.now_ms();
            self.protocol.wrote(now_ms);
        }
        Ok(())
    }

    /// Writes what is to be written: all of it; over MQTT-SN what may go now, because the rest waits for answers.
    fn send(&mut self, deadline: Deadline) -> Result<(), ClientError> {
        let is_unsent = self.wire.is_unsent();
        if is_unsent {
            let now_ms = self.now_ms();
            self.protocol.wrote(now_ms);
        }
        if self.wire.waits_for_answers() {
            self.wire.write_now()
        } else if !is_unsent || self.wire.flush(deadline.at)? {
            Ok(())
        } else {
            Err(deadline.timed_out(self.awaited()))
        }
    }

    /// Writes all of it, and hears the answers that this takes.
    fn flush_output(&mut self, deadline: Deadline) -> Result<(), ClientError> {
        self.send(deadline)?;
        while self.wire.is_unsent() {
            if deadline.ends(self.step(deadline)?) && self.wire.is_unsent() {
                return Err(deadline.timed_out(self.awaited()));
            }
        }
        Ok(())
    }

    /// What a write waits for.
    fn awaited(&self) -> &'static str {
        if self.wire.waits_for_answers() { "an answer of the gateway" } else { "room in the socket" }
    }

    fn check_filter(&self, filter: &str) -> Result<(), ClientError> {
        check_filter(filter)?;
        if self.wire.waits_for_answers() { over_sn::check_filter(filter) } else { Ok(()) }
    }

    fn now_ms(&self) -> u64 {
        // A monotonic clock since the connection: 2^64 ms do not pass.
        self.started.elapsed().as_millis() as u64
    }
}

fn check_filter(filter: &str) -> Result<(), ClientError> {
    validate_filter(filter, &Limits::PROTOCOL)
        .map_err(|error| ClientError::Invalid(format!("filter {filter:?}: {error}")))
}

fn granted(filter: &str, reason: ReasonCode) -> Result<QoS, ClientError> {
    QoS::from_u8(reason.value())
        .ok_or_else(|| ClientError::Rejected { what: format!("subscription to {filter:?}"), reason })
}

fn refused(error: SendError) -> ClientError {
    match error {
        SendError::NotConnected => ClientError::NotConnected,
        other => ClientError::Invalid(other.to_string()),
    }
}
