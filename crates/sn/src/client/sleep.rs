//! A client that sleeps (6.14): DISCONNECT with a duration, PINGREQ with its id, what waited, PINGRESP, and sleep again.
//!
//! It says nothing of its own meanwhile, and hears nothing: what the gateway has for it waits there. Who wants to publish or to
//! subscribe again says goodbye, and connects anew.

use crate::peer::Phase as State;
use crate::{Disconnect, Message, PingReq};

use super::Error;
use super::exchange::Awaited;
use super::translator::{Phase, Translator};

impl Translator {
    /// Goes to sleep for at most `duration_s`, once all that was written has gone and is answered.
    /// # Errors
    /// It is not connected, or asleep already.
    pub fn sleep(&mut self, duration_s: u16) -> Result<(), Error> {
        if self.phase != Phase::Connected || self.is_going_to_sleep() {
            return Err(Error::NotSayable("only a client that is active can go to sleep"));
        }
        self.sleep_s = Some(duration_s);
        Ok(())
    }

    /// Awakes: what waits comes, and then the client is asleep again. Whoever asks looks at [`Translator::state`].
    /// # Errors
    /// It does not sleep.
    pub fn awake(&mut self, now_ms: u64) -> Result<(), Error> {
        if self.phase != Phase::Asleep {
            return Err(Error::NotSayable("only a client that sleeps can awake"));
        }
        let client_id = std::mem::take(&mut self.client_id);
        let message = Message::PingReq(PingReq { client_id: Some(&client_id) });
        let ping = self.encoded(Awaited::Drained, &message, "a client id of this length", now_ms);
        self.client_id = client_id;
        self.ping = Some(ping?);
        self.phase = Phase::Awake;
        Ok(())
    }

    /// The state of the client as 6.14 has it. One that is on its way to sleep is active until the gateway has said so.
    pub const fn state(&self) -> State {
        match self.phase {
            Phase::Connected | Phase::Leaving => State::Active,
            Phase::Asleep => State::Asleep,
            Phase::Awake => State::Awake,
            Phase::Connecting | Phase::Over => State::Disconnected,
        }
    }

    /// Whether it sleeps, or will when what was written is through: nothing new goes then.
    pub(super) fn is_going_to_sleep(&self) -> bool {
        let is_told = self.in_flight.as_ref().is_some_and(|exchange| exchange.what == Awaited::Asleep);
        is_told || self.sleep_s.is_some() || matches!(self.phase, Phase::Asleep | Phase::Awake)
    }

    /// All that was written is through: DISCONNECT, if the client wants to sleep.
    pub(super) fn lie_down(&mut self, now_ms: u64) -> Result<(), Error> {
        match self.sleep_s.take() {
            Some(duration_s) if self.phase == Phase::Connected => {
                let message = Message::Disconnect(Disconnect { duration_s: Some(duration_s) });
                self.begin(Awaited::Asleep, &message, "a DISCONNECT", now_ms)
            }
            _ => Ok(()),
        }
    }

    /// The gateway knows that it sleeps. Who has said goodbye since goes instead.
    pub(super) fn fallen_asleep(&mut self) {
        (self.in_flight, self.ping) = (None, None);
        if self.phase == Phase::Connected {
            self.phase = Phase::Asleep;
        }
    }

    /// Something came for one that is awake: the gateway is there, and PINGRESP comes behind it.
    pub(super) fn drains(&mut self, now_ms: u64) {
        if let Some(ping) = self.ping.as_mut().filter(|ping| ping.what == Awaited::Drained) {
            ping.encouraged(&self.settings, now_ms);
        }
    }

    /// PINGRESP: nothing waits any more.
    pub(super) fn drained(&mut self) {
        if self.phase == Phase::Awake {
            self.phase = Phase::Asleep;
        }
    }
}
