//! One client, as its gateway knows it: messages in, answers out, and an [`Event`] for whoever has its session.

use std::sync::Arc;

use crate::{Disconnect, EncodeError, Message, MsgId, PublishQoS, ReturnCode};

use super::connecting::Connecting;
use super::unknown_ids::UnknownIds;
use super::{Answer, Context, Event, InFlight, Life, Overdue, Phase, Predefined, Registrations, Repeats};

/// The state of one client. It does not know its address: whoever has that gives it what comes from there.
///
/// Most clients are idle, so what is there for a moment only, or for few, lies behind a pointer.
#[derive(Debug, Default)]
pub struct Client {
    /// None: nothing was accepted yet.
    pub(super) id: Option<Arc<str>>,
    pub(super) life: Life,
    pub(super) connecting: Option<Box<Connecting>>,
    pub(super) registrations: Registrations,
    /// Predefined ids that the client says it does not know.
    pub(super) unknown: UnknownIds,
    pub(super) repeats: Repeats,
    pub(super) in_flight: InFlight,
}

// A gateway may have a hundred thousand of them.
const _: () = assert!(size_of::<Client>() <= 136);

/// What time brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// Nothing, or a message went again.
    Nothing,
    /// It did not take what waits, and is asleep again: so it waits on.
    Asleep,
    /// It began to connect and did not go on: its CONNECT is forgotten. Who was connected before still is.
    SetupOver,
    /// It is lost: its will is due.
    Lost,
}

impl Client {
    /// The client id of its last accepted CONNECT; empty before.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// Its state.
    pub const fn phase(&self) -> Phase {
        self.life.phase()
    }

    /// Whether nothing is in flight to it: what waits for it may go.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_free()
    }

    /// The topic ids that it has.
    pub fn ids(&self) -> Registrations {
        self.registrations.clone()
    }

    /// Somebody else connects from its address: what it knew is not theirs, neither its topic ids nor what it sent before.
    pub fn forget(&mut self) {
        self.registrations.clear();
        self.unknown.clear();
        self.repeats.clear();
    }

    /// The connection to its session is over, and what was not answered over that will not be.
    pub fn cut_off(&mut self) {
        self.repeats.cut_off();
    }

    /// It comes from another address in a session that goes on: its topic ids are what they were there, and are told again.
    pub fn inherit(&mut self, ids: Registrations) {
        self.registrations = ids;
        self.registrations.untell();
    }

    /// Takes a message that came from the client; what is to be sent at once goes to the context.
    /// # Errors
    /// An answer does not fit the limit of a datagram, so the limit is below 8 bytes.
    pub fn handle<'a>(
        &'a mut self,
        message: &Message<'a>,
        predefined: &'a Predefined,
        cx: &mut Context<'_>,
    ) -> Result<Event<'a>, EncodeError> {
        self.life.heard(matches!(message, Message::Connect(_)), cx.now_ms);
        match message {
            Message::Connect(connect) => self.connect(connect, cx),
            Message::WillTopic(will) => self.will_topic(*will, cx),
            Message::WillMsg(will) => self.will_message(will.payload, cx),
            Message::Publish(publish) if publish.qos == PublishQoS::MinusOne => self.publish(publish, predefined, cx),
            Message::Disconnect(disconnect) if self.connecting.is_some() => self.disconnect(*disconnect, cx),
            _ if !self.life.is_connected() => Client::unknown(message, cx),
            Message::Publish(publish) => self.publish(publish, predefined, cx),
            Message::PubRel(msg_id) => Ok(self.release(*msg_id, cx)),
            Message::Register(register) => self.register(register, cx),
            Message::Subscribe(subscribe) => self.subscribe(subscribe, predefined, cx),
            Message::Unsubscribe(unsubscribe) => self.unsubscribe(unsubscribe, predefined, cx),
            Message::WillTopicUpd(will) => Ok(Event::WillTopic(*will)),
            Message::WillMsgUpd(will) if will.payload.len() <= cx.settings.will_bytes_max => {
                Ok(Event::WillMessage(will.payload))
            }
            Message::WillMsgUpd(_) => {
                self.will_message_stored(ReturnCode::NOT_SUPPORTED, cx)?;
                Ok(Event::Refused)
            }
            Message::PingReq(ping) => self.ping(ping.client_id, cx),
            Message::PingResp => Ok(Event::Nothing),
            Message::Disconnect(disconnect) => self.disconnect(*disconnect, cx),
            Message::RegAck(_) | Message::PubAck(_) | Message::PubRec(_) | Message::PubComp(_) => {
                Ok(self.answer(message, predefined, cx))
            }
            _ => Ok(Event::OutOfState),
        }
    }

    /// Nobody is connected: the client is told so once a message, and connects (6.12). What is itself an answer, or an end, is
    /// not answered: it may be another gateway's, to a message with a made-up source, and that one would answer ours.
    fn unknown<'a>(message: &Message<'_>, cx: &mut Context<'_>) -> Result<Event<'a>, EncodeError> {
        let wants_answer = matches!(
            message,
            Message::Publish(_)
                | Message::PubRel(_)
                | Message::Register(_)
                | Message::Subscribe(_)
                | Message::Unsubscribe(_)
                | Message::PingReq(_)
                | Message::Disconnect(Disconnect { duration_s: Some(_) })
                | Message::WillTopicUpd(_)
                | Message::WillMsgUpd(_)
        );
        if !wants_answer {
            return Ok(Event::OutOfState);
        }
        cx.send(Message::Disconnect(Disconnect { duration_s: None }))?;
        Ok(Event::Unknown)
    }

    fn ping(&mut self, client_id: Option<&str>, cx: &mut Context<'_>) -> Result<Event<'static>, EncodeError> {
        if client_id.is_some_and(|id| id != self.id()) {
            cx.send(Message::Disconnect(Disconnect { duration_s: None }))?;
            return Ok(Event::Unknown);
        }
        if client_id.is_some() && self.life.awake(cx.now_ms) {
            return Ok(Event::Awake);
        }
        cx.send(Message::PingResp)?;
        Ok(Event::Nothing)
    }

    /// Nothing is left that waits for a client which is awake: PINGRESP, and it sleeps (6.14). To another nothing is sent.
    /// # Errors
    /// As for [`Client::handle`].
    pub fn drained(&mut self, cx: &mut Context<'_>) -> Result<(), EncodeError> {
        if self.life.phase() == Phase::Awake {
            cx.send(Message::PingResp)?;
            self.life.sleep_again(cx.now_ms);
        }
        Ok(())
    }

    /// The client goes, or to sleep; both are answered by DISCONNECT (6.12, 6.14). What was in flight waits again, and a CONNECT
    /// that is not answered yet is over.
    fn disconnect(&mut self, disconnect: Disconnect, cx: &mut Context<'_>) -> Result<Event<'static>, EncodeError> {
        self.in_flight.clear();
        self.connecting = None;
        self.life.disconnect(disconnect.duration_s, cx.now_ms);
        cx.send(Message::Disconnect(Disconnect { duration_s: None }))?;
        Ok(if self.life.phase() == Phase::Asleep { Event::Asleep } else { Event::Gone })
    }

    fn answer(&mut self, message: &Message<'_>, predefined: &Predefined, cx: &mut Context<'_>) -> Event<'static> {
        if let Message::PubAck(ack) = message {
            self.forget_id(ack, predefined);
        }
        let Some(answer) = self.in_flight.answered(message, cx) else { return Event::Nothing };
        match answer {
            Answer::Registered(Some(id), ReturnCode::ACCEPTED) => self.registrations.confirm(id),
            Answer::Registered(Some(id), _) => self.registrations.deny(id),
            _ => {}
        }
        Event::Answered(answer)
    }

    /// When [`Client::tick`] has something to do.
    pub fn next_wake_ms(&self) -> Option<u64> {
        [self.life.next_wake_ms(), self.in_flight.next_wake_ms(), self.setup_due_ms()].into_iter().flatten().min()
    }

    /// Sends again what is overdue, and says whether the client is lost.
    pub fn tick(&mut self, cx: &mut Context<'_>) -> Tick {
        if self.life.tick(cx.now_ms) {
            self.in_flight.clear();
            return Tick::Lost;
        }
        if self.setup_due_ms().is_some_and(|due_ms| cx.now_ms >= due_ms) {
            self.connecting = None;
            return Tick::SetupOver;
        }
        if self.in_flight.tick(cx) != Overdue::Lost {
            return Tick::Nothing;
        }
        if self.life.phase() == Phase::Awake {
            self.life.sleep_again(cx.now_ms);
            return Tick::Asleep;
        }
        self.life.lose();
        Tick::Lost
    }

    /// The gateway ends the connection: DISCONNECT, and nobody is connected.
    /// # Errors
    /// As for [`Client::handle`].
    pub fn dismiss(&mut self, cx: &mut Context<'_>) -> Result<(), EncodeError> {
        self.disconnect(Disconnect { duration_s: None }, cx).map(drop)
    }

    /// The id for the next message that goes to the client and is answered.
    pub(super) fn next_id(&mut self) -> MsgId {
        self.in_flight.next_id()
    }
}
