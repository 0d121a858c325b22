//! What caller and thread share: who has which message, what is to be sent, how things stand.
//!
//! Rules: a message belongs to the connection it came on (`epoch`), however long it waits here. At QoS 1 an answer to an
//! older one is not sent: the broker has given the message out again. At QoS 2 the packet id belongs to the session it
//! came in (`session`): the answer is sent on the next connection, and the repeated message is not shown again. In another
//! session the same id is another message's, which nobody has worked on.

use super::counters::Counters;
use super::load::{Figures, Load};
use super::publication::Publication;
use super::refusal::Refusal;
use super::settings::{Acknowledge, LinkOptions, SendLimits};
use super::waiting::{Arrived, Waiting};
use crate::error::ClientError;
use crate::message::Message;
use crate::rejections::Rejections;
use lapwing_codec::{PacketId, QoS};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Where the connection of a link stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has never stood.
    Starting,
    /// It stands.
    Up,
    /// It broke and is made again.
    Away,
    /// The link has ended.
    Over,
}

/// How a link ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    No,
    /// When everything is answered, or then.
    Until(Instant),
    /// At once, without a word.
    Abort,
}

/// A message in the caller's hands.
#[derive(Debug)]
pub struct Taken {
    /// The message.
    pub message: Message,
    /// When it was taken.
    pub at: Instant,
    link: u64,
    epoch: u32,
    session: u32,
    is_finished: AtomicBool,
}

/// A number for each link of this process: epochs and packet ids of two are the same.
static LINKS: AtomicU64 = AtomicU64::new(0);

/// An answer to be sent.
#[derive(Debug)]
pub(crate) struct Done {
    pub id: PacketId,
    pub qos: QoS,
    pub refusal: Option<Refusal>,
}

/// See the module. Both sides touch everything, under the lock.
#[derive(Debug)]
pub(crate) struct State {
    /// Which link's it is.
    id: u64,
    pub phase: Phase,
    pub failure: Option<Arc<ClientError>>,
    pub closing: Closing,
    /// Answers and publications for the thread to fetch.
    pub done: Vec<Done>,
    pub outbox: VecDeque<Publication>,
    /// A mark was crossed, and the broker is to know.
    pub report_due: bool,
    /// What a consumer declares by a report, and whether this connection has yet to send it.
    pub declaration: Option<String>,
    pub declaration_due: bool,
    /// The thread waits in a poll: ring.
    pub asleep: bool,
    /// It does not read.
    pub paused: bool,
    /// The caller polls the descriptor, and it was made readable.
    pub watched: bool,
    pub told: bool,
    /// Fetched publications are not all in the socket yet.
    pub in_wire: bool,
    /// Somebody found no room.
    pub wants_room: bool,
    pub count: Counters,
    pub(super) waiting: Waiting,
    pub(super) load: Load,
    pub(super) acknowledge: Acknowledge,
    pub(super) limits: SendLimits,
    pub(super) reports: bool,
    pub(super) draining: bool,
    pub(super) epoch: u32,
    pub(super) session: u32,
    /// Messages of a connection that is gone, until the next one tells what becomes of them.
    pub(super) aside: VecDeque<Arrived>,
    /// QoS 2 messages shown and not answered.
    pub(super) pending: HashSet<PacketId>,
    pub(super) bytes: usize,
    pub(super) unanswered: usize,
    /// Publishes that came to nothing since the last flush.
    pub(super) rejections: Rejections,
}

impl State {
    pub fn new(options: &LinkOptions) -> Self {
        Self {
            id: LINKS.fetch_add(1, Ordering::Relaxed),
            phase: Phase::Starting,
            failure: None,
            closing: Closing::No,
            done: Vec::new(),
            outbox: VecDeque::new(),
            report_due: false,
            declaration: options.declaration.clone(),
            declaration_due: false,
            asleep: false,
            paused: false,
            watched: false,
            told: false,
            in_wire: false,
            wants_room: false,
            count: Counters::new(),
            waiting: Waiting::new(options.receive),
            load: Load::new(Instant::now()),
            acknowledge: options.acknowledge,
            limits: options.send,
            reports: options.reports.is_some(),
            draining: false,
            epoch: 0,
            session: 0,
            aside: VecDeque::new(),
            pending: HashSet::new(),
            bytes: 0,
            unanswered: 0,
            rejections: Rejections::default(),
        }
    }

    pub fn has_news_for_takers(&self) -> bool {
        self.waiting.len() > 0 || self.is_dry()
    }

    pub fn has_messages(&self) -> bool {
        self.waiting.len() > 0
    }

    /// As many as `max` wait, or as many as ever will.
    pub fn has_batch(&self, max: usize) -> bool {
        self.waiting.len() >= max || self.waiting.is_high() || self.draining || self.is_over()
    }

    /// Nothing waits and nothing more will.
    pub fn is_dry(&self) -> bool {
        self.waiting.len() == 0 && (self.draining || self.is_over())
    }

    pub fn take(&mut self, max: usize) -> Vec<Taken> {
        let count = max.min(self.waiting.len());
        (0..count).filter_map(|_| self.take_one()).collect()
    }

    pub fn take_one(&mut self) -> Option<Taken> {
        let was_high = self.waiting.is_high();
        let Arrived { message, epoch, session } = self.waiting.pop()?;
        self.count.working += 1;
        let at = Instant::now();
        let taken = Taken { message, at, link: self.id, epoch, session, is_finished: AtomicBool::new(false) };
        if self.acknowledge == Acknowledge::Received {
            self.send_answer(&taken, None);
        }
        self.note_mark(was_high);
        Some(taken)
    }

    /// Whether this is the end of the work on a message: it came by this link, and has had none. What another link took stays
    /// that one's, and is late here.
    pub fn ends(&mut self, taken: &Taken) -> bool {
        if taken.link != self.id {
            self.count.late += 1;
            return false;
        }
        !taken.is_finished.swap(true, Ordering::Relaxed)
    }

    pub fn finish(&mut self, taken: &Taken, share: u32, refusal: Option<&Refusal>, at: Instant) {
        self.count.working -= 1;
        self.load.finished(at.saturating_duration_since(taken.at) / share, at);
        match refusal {
            None => self.count.processed += 1,
            Some(_) => self.count.refused += 1,
        }
        if self.acknowledge == Acknowledge::Processed {
            self.send_answer(taken, refusal);
        }
    }

    pub fn declare(&mut self, declaration: String) {
        self.declaration = Some(declaration);
        self.declaration_due = true;
    }

    /// The broker is to hear how things stand.
    pub fn report(&mut self) {
        self.report_due |= self.reports;
    }

    pub fn leave(&mut self) {
        self.count.working -= 1;
    }

    fn send_answer(&mut self, taken: &Taken, refusal: Option<&Refusal>) {
        let Some(id) = taken.message.packet_id else { return };
        let qos = taken.message.qos;
        let same_session = taken.session == self.session;
        if qos == QoS::ExactlyOnce && same_session {
            self.pending.remove(&id);
        }
        let valid = if qos == QoS::ExactlyOnce { same_session } else { taken.epoch == self.epoch };
        if valid && self.phase == Phase::Up {
            self.done.push(Done { id, qos, refusal: refusal.cloned() });
        } else if qos == QoS::AtLeastOnce {
            self.count.late += 1;
        }
    }

    pub fn has_room(&self) -> bool {
        let SendLimits { messages_max, bytes_max, .. } = self.limits;
        self.outbox.len() + self.unanswered < messages_max && self.bytes < bytes_max
    }

    /// A quarter is free: a caller that waited finds room for many.
    pub fn has_much_room(&self) -> bool {
        let SendLimits { messages_max, bytes_max, .. } = self.limits;
        self.outbox.len() + self.unanswered <= messages_max / 4 * 3 && self.bytes <= bytes_max / 4 * 3
    }

    /// Gives its number.
    pub fn publish(&mut self, mut publication: Publication) -> u64 {
        if publication.message_expiry_s.is_some() {
            publication.since.get_or_insert_with(Instant::now);
        }
        self.count.published += 1;
        self.bytes += publication.cost();
        self.outbox.push_back(publication);
        self.count.published
    }

    pub fn is_answered(&self) -> bool {
        self.outbox.is_empty() && self.unanswered == 0 && !self.in_wire
    }

    /// Something was published that may still be answered.
    pub fn awaits_answers(&self) -> bool {
        !self.is_answered()
    }

    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    pub fn is_closed(&self) -> bool {
        self.is_over() || self.closing != Closing::No
    }

    pub fn take_rejections(&mut self) -> Rejections {
        std::mem::take(&mut self.rejections)
    }

    pub fn drain(&mut self) {
        if !self.draining {
            self.draining = true;
            self.report_due = self.reports;
        }
    }

    pub(super) fn note_mark(&mut self, was_high: bool) {
        if self.waiting.is_high() != was_high && self.reports {
            self.report_due = true;
        }
    }

    /// Nothing more is wanted.
    pub fn is_full(&self) -> bool {
        self.waiting.is_high() || self.draining
    }

    pub fn figures(&mut self) -> Figures {
        Figures {
            queue: self.waiting.len() + self.count.working,
            service_us: self.load.service_us(),
            rate_per_s: self.load.rate_per_s(Instant::now()),
            is_high: self.is_full(),
        }
    }

    pub fn counters(&mut self) -> Counters {
        Counters {
            phase: self.phase,
            waiting: self.waiting.len(),
            waiting_bytes: self.waiting.bytes(),
            is_high: self.waiting.is_high(),
            service_us: self.load.service_us().unwrap_or(0),
            rate_per_s: u64::from(self.load.rate_per_s(Instant::now())),
            unanswered: self.outbox.len() + self.unanswered,
            ..self.count
        }
    }
}
