//! The will of a client, and what it makes of it while it is connected (6.4).
//!
//! Topic and message change by a message each, and the session has one will: what was not said stays as it was. A client without a
//! will begins one with a topic, whose message is empty; who does not want that says the message first, which waits here for
//! its topic.

use lapwing_codec::ReasonCode;
use lapwing_sn::{QoS, ReturnCode, WillTopic};

use super::counters::Dropped;
use super::guest::Guest;
use super::io::Io;
use super::link::Link;
use super::packets::{self, return_code};
use super::thread::SnThread;

/// The will that a client has set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredWill {
    pub(super) topic: String,
    pub(super) payload: Vec<u8>,
    pub(super) qos: QoS,
    pub(super) retain: bool,
}

/// What is kept for a client's will. Behind a pointer, from the first of it on: most clients have none.
#[derive(Debug, Default)]
pub(super) struct Wills(Option<Box<Parts>>);

#[derive(Debug, Default)]
struct Parts {
    will: Option<StoredWill>,
    /// Payload of one whose topic it has not said.
    message: Option<Vec<u8>>,
}

impl Wills {
    /// The will that it has.
    pub(super) fn get(&self) -> Option<&StoredWill> {
        self.0.as_ref()?.will.as_ref()
    }

    /// That of its next one which is known: the message.
    fn payload(&self) -> Option<&Vec<u8>> {
        let parts = self.0.as_ref()?;
        parts.will.as_ref().map(|will| &will.payload).or(parts.message.as_ref())
    }

    /// This is its will from now on; `keeps_message`: what it has said first of another is still meant.
    pub(super) fn set(&mut self, will: Option<StoredWill>, keeps_message: bool) {
        let message = self.0.take().and_then(|parts| parts.message).filter(|_| keeps_message);
        self.0 = (will.is_some() || message.is_some()).then(|| Box::new(Parts { will, message }));
    }

    /// It has said the message first.
    fn set_message(&mut self, message: Vec<u8>) {
        self.0.get_or_insert_default().message = Some(message);
    }

    /// Takes the will out.
    fn take(&mut self) -> Option<StoredWill> {
        self.0.as_mut()?.will.take()
    }
}

impl StoredWill {
    /// Without a message.
    pub(super) fn at(place: WillTopic<'_>) -> Self {
        let WillTopic { topic, qos, retain } = place;
        StoredWill { topic: topic.to_owned(), payload: Vec::new(), qos, retain }
    }
}

/// What is to be the will of a session, and the message that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WillUpdate {
    part: Part,
    will: Option<StoredWill>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// WILLTOPICUPD.
    Topic,
    /// WILLMSGUPD.
    Message,
    /// Nothing that the client has said.
    None,
}

impl Guest {
    /// WILLTOPICUPD: there it goes, with the message that there is. An empty one takes the will away, its message too.
    pub(super) fn change_will_topic(&mut self, will: Option<StoredWill>, io: &mut Io<'_>) {
        let payload = self.wills.payload().cloned().unwrap_or_default();
        let will = will.map(|will| StoredWill { payload, ..will });
        self.update_will(WillUpdate { part: Part::Topic, will }, io);
    }

    /// WILLMSGUPD.
    pub(super) fn change_will_message(&mut self, payload: Vec<u8>, io: &mut Io<'_>) {
        let is_changing = self.link.as_ref().is_some_and(|link| link.changing().is_some());
        match self.wills.get().cloned() {
            None if !is_changing => {
                self.wills.set_message(payload);
                self.answer_update(Part::Message, ReturnCode::ACCEPTED, io);
            }
            will => {
                let will = will.map(|will| StoredWill { payload, ..will });
                self.update_will(WillUpdate { part: Part::Message, will }, io);
            }
        }
    }

    /// Has the session take another will; its answer is the client's. One at a time: the same again is a repeat, which that
    /// answer is for too.
    fn update_will(&mut self, update: WillUpdate, io: &mut Io<'_>) {
        let part = update.part;
        if self.link.as_ref().and_then(Link::changing) == Some(&update) {
            return;
        }
        let (terms, will) = (io.terms, update.will.clone());
        let client_id = self.connects_as.as_deref().unwrap_or_default();
        let connect = packets::connect(client_id, self.clean_session, terms.session_expiry_s, will.as_ref());
        let said = match &mut self.link {
            Some(link) => link.change_will(&connect, terms.connect_bytes_max, update),
            None => Err(ReturnCode::CONGESTION),
        };
        if let Err(code) = said {
            self.refuse_update(part, code, io);
        }
    }

    /// It has come back to a session that is over, for all that the will was kept here: so is that.
    pub(super) fn drop_kept_will(&mut self, io: &mut Io<'_>) {
        if std::mem::take(&mut self.has_kept_will) && self.wills.get().is_some() {
            self.update_will(WillUpdate { part: Part::None, will: None }, io);
        }
    }

    /// What the session says of it.
    pub(super) fn will_changed(&mut self, reason: ReasonCode, io: &mut Io<'_>) {
        let traffic = self.link.as_mut().and_then(|link| link.traffic.as_mut());
        let Some(update) = traffic.and_then(|traffic| traffic.changing.take()) else { return };
        let WillUpdate { part, will } = *update;
        if reason.is_error() {
            return self.refuse_update(part, return_code(reason), io);
        }
        self.wills.set(will, part == Part::None);
        self.answer_update(part, ReturnCode::ACCEPTED, io);
    }

    fn refuse_update(&self, part: Part, code: ReturnCode, io: &mut Io<'_>) {
        io.counters.dropped(if code == ReturnCode::CONGESTION { Dropped::Congested } else { Dropped::Refused });
        self.answer_update(part, code, io);
    }

    fn answer_update(&self, part: Part, code: ReturnCode, io: &mut Io<'_>) {
        let answered = match part {
            Part::Topic => self.client.will_topic_stored(code, &mut io.of(&self.address.get())),
            Part::Message => self.client.will_message_stored(code, &mut io.of(&self.address.get())),
            Part::None => Ok(()),
        };
        io.check(answered);
    }
}

impl SnThread {
    /// The will that a client left when it went from this listener, for the one at `index`.
    pub(super) fn kept_will(&self, index: usize, client_id: &str) -> Option<StoredWill> {
        let guest = self.table.look(index)?;
        let shown = self.tunnels.shown(guest.address.get().source());
        self.kept_wills[guest.door()].of(client_id, shown.as_deref(), self.now_ms)
    }

    /// A client goes, and its session may be kept: so is its will. A will of somebody who never answered, or whose session was
    /// not opened, is none, but for the one that was there before.
    pub(super) fn keep_will(&mut self, index: usize) {
        let is_last = self.table.is_last(index);
        let is_its_own = |guest: &&mut Guest| {
            let is_said = guest.has_answered && !guest.is_unsettled;
            guest.client.id() == guest.connects_as() && (is_said || guest.has_kept_will)
        };
        let Some(guest) = self.table.get(index).filter(is_its_own).filter(|_| is_last) else { return };
        let (door, peer) = (guest.door(), guest.address.get().source());
        let (client_id, will) = (guest.connects_as().to_owned(), guest.wills.take().filter(|_| !guest.clean_session));
        let terms = &self.doors[door];
        let Some(will) = will.filter(|_| terms.session_expiry_s > 0) else {
            return self.kept_wills[door].forget(&client_id);
        };
        // The largest number of seconds means for ever.
        let lasts_s = if terms.session_expiry_s == u32::MAX { u64::MAX / 1000 } else { terms.session_expiry_s.into() };
        let until_ms = self.now_ms.saturating_add(lasts_s * 1000);
        let shown = self.tunnels.shown(peer);
        if !self.kept_wills[door].keep(&client_id, will, shown, until_ms, terms.config.wills_kept_max as usize) {
            self.counters.dropped(Dropped::WillsFull);
        }
    }

    /// A client was accepted: it has the session of its id, and what it left of a will is its own again, or no more.
    pub(super) fn settle(&mut self, index: usize) {
        let Some(guest) = self.table.get(index) else { return };
        let is_open = guest.link.as_ref().is_some_and(Link::is_open);
        if is_open && std::mem::take(&mut guest.is_unsettled) {
            self.kept_wills[guest.door()].forget(guest.connects_as());
            self.table.name(index);
        }
    }
}
