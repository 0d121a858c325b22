//! The end of a connection and the end of a session; time in between.

use std::sync::Arc;

use lapwing_codec::ReasonCode;

use crate::session::NEVER;
use crate::subscriptions::known;
use crate::will::StoredWill;
use crate::{Close, Counters, DropReason, Io, Message, Session, Subscription};

/// What the end of a connection leaves to do.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Departure {
    /// A will to publish now.
    pub will: Option<Arc<Message>>,
    /// The session ended with its connection: [`Session::end`] it.
    pub ended: bool,
}

/// What time has brought.
#[derive(Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Tick {
    /// The client was silent, or its connection idle, for too long: as after an error of [`Session::handle`].
    pub close: Option<Close>,
    /// A will to publish now.
    pub will: Option<Arc<Message>>,
    /// The session has expired: [`Session::end`] it.
    pub ended: bool,
}

/// A session that is no more.
#[derive(Debug)]
#[must_use]
pub struct Ended {
    session: Session,
    /// A will that had been waiting for its delay: publish it now [MQTT-3.1.2-8].
    pub will: Option<Arc<Message>>,
}

impl Session {
    /// The connection is gone, for whatever reason; call it once per connection.
    ///
    /// The will (if the client did not take it back) is due now, or after its delay, or when the session ends, whichever
    /// comes first.
    pub fn disconnected(&mut self, now_ms: u64) -> Departure {
        self.link = None;
        self.acks.disconnected();
        let ended = self.is_volatile();
        self.ends_at_ms = match self.expiry_s {
            u32::MAX => NEVER,
            expiry_s => now_ms.saturating_add(u64::from(expiry_s) * 1000),
        };
        if let Some(kept) = &mut self.told.kept {
            // Those who are away for long are many.
            kept.facts.shrink_to_fit();
        }
        let is_due = self.will.as_mut().is_some_and(|will| ended || will.start_delay(now_ms) <= now_ms);
        let will = if is_due { self.take_will(now_ms) } else { None };
        Departure { will, ended }
    }

    /// Looks at the clock: keep alive, idle connections, will delay, session expiry. Then ask [`Session::deadline_ms`] again.
    pub fn tick(&mut self, now_ms: u64, io: &mut Io<'_>) -> Tick {
        if self.link.is_some() {
            let close = self.overdue(now_ms).map(|close| self.announce(close, io));
            return Tick { close, ..Tick::default() };
        }
        let ended = self.ends_at_ms <= now_ms;
        let is_due = ended || self.will.as_ref().and_then(|will| will.due_at_ms).is_some_and(|at_ms| at_ms <= now_ms);
        let will = if is_due { self.take_will(now_ms) } else { None };
        Tick { close: None, will, ended }
    }

    /// Why its connection has to end by now, if it has.
    fn overdue(&mut self, now_ms: u64) -> Option<Close> {
        let link = self.link.as_mut()?;
        let is_past = |until_ms: Option<u64>| until_ms.is_some_and(|until_ms| until_ms <= now_ms);
        if is_past(link.silent_until_ms()) {
            return Some(Close::server(ReasonCode::KeepAliveTimeout, "no packet within 1.5 x keep alive"));
        }
        if !is_past(link.idle_until_ms(&self.settings)) {
            return None;
        }
        if self.window.len() > 0 {
            // Its client may be at work on what it has: cut off, it would have the same again, and never get done.
            link.used_ms = now_ms;
            return None;
        }
        let what = "no message and no subscription for as long as a connection may be idle";
        Some(Close::server(ReasonCode::MaximumConnectTime, what))
    }

    /// The session is over (expired, discarded by a clean start, removed by order): counts what it still had as dropped.
    pub fn end(mut self, now_ms: u64, counters: &mut Counters) -> Ended {
        counters.count_drops(DropReason::SessionEnded, self.queue.len() + self.window.unreceived());
        let will = self.take_will(now_ms);
        Ended { session: self, will }
    }

    fn take_will(&mut self, now_ms: u64) -> Option<Arc<Message>> {
        self.will.take().map(|will: Box<StoredWill>| will.into_message(now_ms))
    }
}

impl Ended {
    /// What is to be taken out of the filter tree.
    pub fn subscriptions(&self) -> impl Iterator<Item = Subscription<'_>> {
        self.session.subscriptions.iter().map(|(filter, grant)| known(filter, grant))
    }

    /// The filters of its subscriptions, as the client wrote them: for a node that takes them out of its tree by and by.
    pub fn into_filters(self) -> impl ExactSizeIterator<Item = Box<str>> + use<> {
        self.session.subscriptions.into_filters()
    }

    /// Its client id.
    pub fn client_id(&self) -> &str {
        &self.session.client_id
    }
}
