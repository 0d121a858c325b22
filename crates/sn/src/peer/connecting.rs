//! A client that comes: CONNECT, its will, CONNACK (6.2, 6.3), or back from sleep (6.14).

use std::sync::Arc;

use crate::{Connect, EncodeError, Message, ReturnCode, WillTopic};

use super::client::Client;
use super::{Context, Event, Phase, Prompt, WillChange, WillSetup};

/// A CONNECT that is not answered yet.
#[derive(Debug)]
pub(super) struct Connecting {
    client_id: Arc<str>,
    clean_session: bool,
    keep_alive_s: u16,
    /// It wants a will.
    has_will: bool,
    /// `None`: the session is being opened.
    will: Option<WillSetup>,
    /// When a set-up that nobody goes on with is over.
    due_ms: u64,
}

impl Connecting {
    /// Whether its session is being opened, and this CONNECT asks for the same.
    fn is_opening_for(&self, connect: &Connect<'_>) -> bool {
        let asks_for_same = *self.client_id == *connect.client_id && self.clean_session == connect.clean_session;
        self.will.is_none() && asks_for_same
    }
}

impl Client {
    /// CONNECT. A sleeping client that asks for nothing new is active again in its session; with Clean Session or Will it
    /// begins anew, as from everywhere else. While the session is being opened a repeat is heard and not answered; another CONNECT
    /// takes its place.
    pub(super) fn connect(
        &mut self,
        connect: &Connect<'_>,
        cx: &mut Context<'_>,
    ) -> Result<Event<'static>, EncodeError> {
        if self.connecting.as_ref().is_some_and(|connecting| connecting.is_opening_for(connect)) {
            return Ok(Event::Nothing);
        }
        if self.is_late_copy(connect, cx.now_ms) {
            return Ok(Event::Nothing);
        }
        // Who says once more that it is back has not heard its CONNACK.
        let sleeps = matches!(self.life.phase(), Phase::Asleep | Phase::Awake);
        let returns = sleeps || std::mem::take(&mut self.life.has_returned);
        if returns && !connect.clean_session && !connect.will && connect.client_id == self.id() {
            self.life.connect(connect.duration_s, cx.now_ms);
            self.life.has_returned = true;
            cx.send(Message::ConnAck(ReturnCode::ACCEPTED))?;
            return Ok(Event::Returned);
        }
        let (will, prompt) = WillSetup::begin(connect.will, connect.clean_session);
        let (clean_session, keep_alive_s, has_will) = (connect.clean_session, connect.duration_s, connect.will);
        let client_id = connect.client_id.into();
        let due_ms = cx.now_ms + cx.settings.retry_ms * (u64::from(cx.settings.retries_max) + 1);
        self.connecting = Some(Box::new(Connecting { client_id, clean_session, keep_alive_s, has_will, will, due_ms }));
        self.prompted(prompt, cx)
    }

    /// Whether this is the CONNECT that was accepted, and would end what its client has begun since. A client that begins anew says
    /// the same; it says it again, and is served when the time of copies is over.
    fn is_late_copy(&self, connect: &Connect<'_>, now_ms: u64) -> bool {
        let is_plain = connect.clean_session && !connect.will && connect.client_id == self.id();
        is_plain && self.connecting.is_none() && self.life.is_copied(connect.duration_s, now_ms)
    }

    pub(super) fn will_topic(
        &mut self,
        will: Option<WillTopic<'_>>,
        cx: &mut Context<'_>,
    ) -> Result<Event<'static>, EncodeError> {
        let Some(setup) = self.will_setup() else { return Ok(Event::OutOfState) };
        let prompt = setup.topic(will);
        self.prompted(prompt, cx)
    }

    pub(super) fn will_message(&mut self, payload: &[u8], cx: &mut Context<'_>) -> Result<Event<'static>, EncodeError> {
        let Some(setup) = self.will_setup() else { return Ok(Event::OutOfState) };
        let prompt = setup.message(payload, cx.settings.will_bytes_max);
        self.prompted(prompt, cx)
    }

    /// What should have gone on with the set-up is no message: the CONNECT is refused. `false`: there is no set-up.
    /// # Errors
    /// As for [`Client::handle`].
    pub fn refuse_setup(&mut self, code: ReturnCode, cx: &mut Context<'_>) -> Result<bool, EncodeError> {
        let is_over = self.connecting.take_if(|connecting| connecting.will.is_some()).is_some();
        if is_over {
            cx.send(Message::ConnAck(code))?;
        }
        Ok(is_over)
    }

    /// Whether it is asked for its will.
    pub fn is_setting_up(&self) -> bool {
        self.setup_due_ms().is_some()
    }

    fn will_setup(&mut self) -> Option<&mut WillSetup> {
        self.connecting.as_mut()?.will.as_mut()
    }

    fn prompted(&mut self, prompt: Prompt, cx: &mut Context<'_>) -> Result<Event<'static>, EncodeError> {
        match prompt {
            Prompt::Ask(message) => cx.send(message).map(|()| Event::Nothing),
            Prompt::Nothing => Ok(Event::OutOfState),
            Prompt::Refuse(code) => {
                self.connecting = None;
                cx.send(Message::ConnAck(code)).map(|()| Event::Refused)
            }
            Prompt::Done(will) => Ok(self.asked(will)),
        }
    }

    /// When a set-up is over that waits for the client.
    pub(super) fn setup_due_ms(&self) -> Option<u64> {
        self.connecting.as_ref().filter(|connecting| connecting.will.is_some()).map(|connecting| connecting.due_ms)
    }

    /// Everything is known that the session needs.
    fn asked(&mut self, will: WillChange) -> Event<'static> {
        let Some(connecting) = &mut self.connecting else { return Event::OutOfState };
        connecting.will = None;
        Event::Connect { client_id: Arc::clone(&connecting.client_id), clean_session: connecting.clean_session, will }
    }

    /// The answer to [`Event::Connect`]. From an accepted CONNECT on the client is active. What it knew of topic ids it may
    /// have forgotten, so each is told again before a message has it; ids that it says are what they were. `false`: nothing
    /// waited for it any more.
    /// # Errors
    /// As for [`Client::handle`].
    pub fn opened(&mut self, code: ReturnCode, cx: &mut Context<'_>) -> Result<bool, EncodeError> {
        let Some(connecting) = self.connecting.take_if(|connecting| connecting.will.is_none()) else {
            return Ok(false);
        };
        cx.send(Message::ConnAck(code))?;
        if code.is_accepted() {
            self.id = Some(connecting.client_id);
            self.in_flight.clear();
            self.life.connect(connecting.keep_alive_s, cx.now_ms);
            self.registrations.untell();
            self.unknown.clear();
            if connecting.clean_session {
                if !connecting.has_will {
                    self.life.await_copies(cx.now_ms + cx.settings.linger_ms);
                }
                self.registrations.clear();
                self.repeats.clear();
            }
        }
        Ok(true)
    }

    /// The answer to [`Event::WillTopic`].
    /// # Errors
    /// As for [`Client::handle`].
    pub fn will_topic_stored(&self, code: ReturnCode, cx: &mut Context<'_>) -> Result<(), EncodeError> {
        cx.send(Message::WillTopicResp(code))
    }

    /// The answer to [`Event::WillMessage`].
    /// # Errors
    /// As for [`Client::handle`].
    pub fn will_message_stored(&self, code: ReturnCode, cx: &mut Context<'_>) -> Result<(), EncodeError> {
        cx.send(Message::WillMsgResp(code))
    }
}
