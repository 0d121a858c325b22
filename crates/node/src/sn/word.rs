//! The first word of a client: what shows that it is where its CONNECT says, and what waits for that.
//!
//! A source address is what somebody has written on a datagram. So a CONNECT is judged at once, and CONNACK says what came of that;
//! but a session that is kept, or that takes somebody's place, is opened only when something came from there that is none of a
//! CONNECT, after the CONNACK has left. Who was there before goes on until then. Who says nothing by itself is asked, by PINGREQ;
//! then DISCONNECT is none, for that is what another gateway answers.

use lapwing_codec::{Packet, Version};
use lapwing_sn::{Disconnect, Message, PingReq};
use mio::Token;

use super::admission::Caller;
use super::counters::Dropped;
use super::guest::Guest;
use super::io::Io;
use super::link::{Link, Stage};
use super::opening::Opening;
use super::packets;
use super::thread::{GUESTS, SnThread};

/// When a client that has said nothing after its CONNACK is asked: most have something to say, and some that wait for the
/// answer to it do not know what to do with a PINGREQ.
const ASK_AFTER_MS: u64 = 500;
/// How often: CONNACK and two PINGREQs are as long as the shortest CONNECT.
const ASKS: u8 = 2;

/// A CONNECT after which nothing has come yet.
#[derive(Debug)]
pub(super) struct Said {
    opening: Opening,
    asks: Asks,
}

impl Said {
    pub(super) fn new(opening: Opening) -> Self {
        Said { opening, asks: Asks::default() }
    }
}

/// When a client is asked for a word, and how often still.
#[derive(Debug, Default)]
struct Asks {
    at_ms: u64,
    left: u8,
}

impl Asks {
    fn begin(&mut self, now_ms: u64, retry_ms: u64) {
        *self = Asks { at_ms: now_ms + ASK_AFTER_MS.min(retry_ms), left: ASKS };
    }

    /// Whether it has been asked once.
    fn has_asked(&self) -> bool {
        self.at_ms > 0 && self.left < ASKS
    }

    fn next_ms(&self) -> Option<u64> {
        (self.left > 0).then_some(self.at_ms)
    }

    /// Whether it is time to ask.
    fn take(&mut self, now_ms: u64, retry_ms: u64) -> bool {
        let is_due = self.next_ms().is_some_and(|at_ms| now_ms >= at_ms);
        if is_due {
            *self = Asks { at_ms: now_ms + retry_ms, left: self.left - 1 };
        }
        is_due
    }
}

impl Guest {
    /// Whether this is the CONNECT that was accepted last: its CONNACK was lost, for nothing else has come since.
    pub(super) fn repeats(&self, opening: &Opening) -> bool {
        self.is_accepted() && !self.has_answered && self.said.as_ref().is_some_and(|said| said.opening == *opening)
    }

    /// Whether it has shown to be there, as this client.
    pub(super) fn is_there_as(&self, client_id: &str) -> bool {
        self.is_sealed || (self.has_answered && self.connects_as() == client_id)
    }

    /// Whether it may be sent more than it has sent.
    pub(super) fn may_hear(&self) -> bool {
        self.is_sealed || self.has_answered
    }

    /// CONNACK has said yes to its last CONNECT, and nothing else has come of it yet.
    fn is_accepted(&self) -> bool {
        match &self.link {
            Some(link) => matches!(link.stage, Stage::Judged | Stage::Open),
            // Its connection has not waited as long as it may.
            None => self.said.is_some(),
        }
    }

    /// It would be let in, and has not shown to be there.
    pub(super) fn is_awaited(&self) -> bool {
        let is_open = self.link.as_ref().is_some_and(Link::is_open);
        self.is_accepted() && !self.has_answered && !is_open
    }

    /// Nothing has come after its CONNACK, so that it may not hear what waits for it. A clean session that is open has nothing
    /// for who says nothing; one that is kept may, also where it goes on at an address that is known.
    fn is_silent(&self) -> bool {
        self.is_awaited() || (self.is_accepted() && !self.may_hear() && !self.clean_session)
    }

    /// Whatever comes after our CONNACK, and is no new CONNECT, is of somebody who is there; whether its session is to be
    /// opened now. But DISCONNECT after our PINGREQ is what another gateway says (6.12), at whose address nobody has said CONNECT.
    pub(super) fn note_word(&mut self, message: &Message<'_>) -> bool {
        let shows_nothing = match message {
            Message::Connect(_) | Message::WillTopic(_) | Message::WillMsg(_) => true,
            Message::Disconnect(Disconnect { duration_s: None }) => self.was_asked(),
            _ => false,
        };
        if shows_nothing || self.has_answered || !self.is_accepted() {
            return false;
        }
        let is_awaited = self.is_awaited();
        self.has_answered = true;
        if !is_awaited {
            self.said = None;
        }
        is_awaited
    }

    fn was_asked(&self) -> bool {
        self.said.as_ref().is_some_and(|said| said.asks.has_asked())
    }

    /// The broker would let it in: CONNACK, and then its word is waited for.
    pub(super) fn judged(&mut self, io: &mut Io<'_>) {
        if let Some(link) = self.link.as_mut().filter(|link| link.stage == Stage::Asking) {
            link.stage = Stage::Judged;
            self.accept(io);
        }
    }

    /// It is waited for from now on.
    pub(super) fn await_word(&mut self, io: &Io<'_>) {
        let retry_ms = io.terms.settings(&self.address.get()).retry_ms;
        if self.is_silent() {
            self.said.iter_mut().for_each(|said| said.asks.begin(io.now_ms, retry_ms));
        }
    }

    /// When [`Guest::ask_for_word`] has something to do.
    pub(super) fn next_ask_ms(&self) -> Option<u64> {
        self.said.as_ref()?.asks.next_ms().filter(|_| self.is_silent())
    }

    /// Two bytes, which whoever is there answers.
    pub(super) fn ask_for_word(&mut self, io: &mut Io<'_>) {
        let settings = io.terms.settings(&self.address.get());
        let is_silent = self.is_silent();
        let asks = self.said.as_mut().map(|said| &mut said.asks).filter(|_| is_silent);
        if asks.is_some_and(|asks| asks.take(io.now_ms, settings.retry_ms)) {
            let ping = Message::PingReq(PingReq { client_id: None });
            if ping.encode(&settings.limits, io.out).is_err() {
                io.counters.dropped(Dropped::TooLargeOut);
            }
        }
    }
}

impl SnThread {
    /// A client has shown to be there: its session is opened, by its CONNECT once more.
    pub(super) fn enter(&mut self, index: usize) {
        let Some(said) = self.table.get(index).and_then(|guest| guest.said.take()) else { return };
        let said = said.opening;
        self.inherit(index, &said);
        let Some(guest) = self.table.get(index) else { return };
        let (door, peer) = (guest.door(), guest.address.get().source());
        let expiry_s = self.doors[door].session_expiry_s;
        let connect = packets::connect(&said.client_id, said.clean_session, expiry_s, guest.wills.get());
        if let Some(link) = &mut guest.link {
            return link.enter(&connect);
        }
        // It was waited for longer than a connection waits: it is judged anew.
        let mut bytes = Vec::new();
        let is_said = Packet::Connect(connect).encode(Version::V5, &mut bytes).is_ok();
        let caller = Caller::at(peer.1, self.tunnels.shown(peer), false);
        let link = if is_said {
            self.connect(door, caller, &said.client_id, bytes, Token(GUESTS + index), index)
        } else {
            None
        };
        match self.table.get(index).filter(|_| link.is_some()) {
            Some(guest) => guest.link = link,
            None => self.refuse(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a client asked after a while, again after the time of a repeat, and then no more: with CONNACK as many bytes as came?
    #[test]
    fn who_says_nothing_is_asked_twice() {
        let mut asks = Asks::default();
        assert!(asks.next_ms().is_none() && !asks.take(0, 10_000), "nobody is waited for");
        asks.begin(100, 10_000);
        assert!(!asks.has_asked());
        let mut asked = Vec::new();
        while let Some(at_ms) = asks.next_ms() {
            assert!(!asks.take(at_ms - 1, 10_000));
            assert!(asks.take(at_ms, 10_000) && asks.has_asked());
            asked.push(at_ms);
        }
        assert_eq!(asked, [600, 10_600]);
        let (connack, ping, connect) = (3, 2, 6 + 1);
        assert!(connack + asked.len() * ping <= connect);
        asks.begin(0, 200);
        assert!(!asks.has_asked());
        assert_eq!(asks.next_ms(), Some(200), "a listener that says again sooner asks sooner");
    }
}
