//! The session, driven as the node drives it, its memory watched.

use std::sync::Arc;

use lapwing_codec::{Connect, Limits, Publish, ReasonCode, topic};
use lapwing_session::{
    Admission, Close, Counters, Delivered, DropReason, Grant, Io, Opened, QueuePolicy, Routed, Session, SessionKey,
    Settings, admit, refuse_connect,
};

use super::books::Books;
use crate::allocations;
use crate::wire::Draw;

/// What one packet may cost while it is handled: a bitmap of packet ids, tables that begin.
const PACKET_BASE_BYTES: usize = 24 << 10;
/// And so many bytes for each of its own: a filter of one byte becomes an entry of a table.
const PER_PACKET_BYTE: usize = 64;
/// What a session may cost before anything was asked of it, generously.
const SESSION_BASE_BYTES: usize = 32 << 10;
/// Tables around one kept message, acknowledgement or subscription.
const PER_ENTRY_BYTES: usize = 256;

/// What a CONNECT led to.
pub(super) struct Granted {
    pub(super) session_present: bool,
    /// An old session was discarded; whether its will had still been waiting.
    pub(super) ended_will: Option<bool>,
}

/// What time has brought; a will has been published.
pub(super) struct Ticked {
    pub(super) close: Option<Close>,
    pub(super) will: bool,
    pub(super) ended: bool,
}

pub(super) struct Broker {
    pub(super) settings: Arc<Settings>,
    pub(super) limits: Limits,
    pub(super) session: Option<Session>,
    pub(super) out: Vec<u8>,
    pub(super) now_ms: u64,
    counters: Counters,
    keys: u64,
    /// Bytes that the session holds.
    kept_bytes: isize,
}

impl Broker {
    /// Small bounds, so that a short input meets them; which of the policies hold is the input's choice.
    pub(super) fn new(draw: &mut Draw<'_, '_>) -> Self {
        let queue_policy = [QueuePolicy::DropOldest, QueuePolicy::DropNewest, QueuePolicy::Disconnect][draw.below(3)];
        let settings = Settings {
            subscriptions_max: 4,
            session_expiry_s_max: 1000,
            session_expiry_s_v311: 500,
            receive_maximum: 3,
            inflight_messages_max: 1 + draw.below(4) as u16,
            topic_alias_max: 4,
            topic_alias_sent_max: 3,
            mqtt31: !draw.one_in(8),
            packet_bytes_max: 512,
            queue_messages_max: 6,
            queue_bytes_max: 4096,
            queue_policy,
            output_high_bytes: 1024,
            ..Settings::default()
        };
        let limits = Limits { packet_bytes_max: 512, topic_bytes_max: 100, ..Limits::default() };
        Broker {
            settings: Arc::new(settings),
            limits,
            session: None,
            out: Vec::new(),
            now_ms: 1_000_000,
            counters: Counters::default(),
            keys: 100,
            kept_bytes: 0,
        }
    }

    /// Calls the session, if there is one, and counts what it allocates. `len`: bytes of the packet that causes it.
    pub(super) fn with<T>(&mut self, len: usize, work: impl FnOnce(&mut Session, u64, &mut Io<'_>) -> T) -> Option<T> {
        let Broker { session, out, counters, now_ms, .. } = self;
        let session = session.as_mut()?;
        let capacity = out.capacity();
        let (result, used) = allocations::count(|| work(session, *now_ms, &mut Io::new(out, counters)));
        self.charge(len, capacity, used);
        Some(result)
    }

    fn charge(&mut self, len: usize, capacity: usize, used: allocations::Used) {
        // What is written lies in the output buffer, which is the connection's and has bounds of its own.
        let written = self.out.capacity() - capacity;
        self.kept_bytes += used.kept_bytes - written as isize;
        let may = PACKET_BASE_BYTES + PER_PACKET_BYTE * len + written;
        assert!(used.peak_bytes <= may, "{} bytes allocated for a packet of {len}", used.peak_bytes);
    }

    pub(super) fn admit(&mut self, connect: &Connect<'_>) -> Result<Admission, Close> {
        admit(connect, &self.settings, || "assigned".to_owned())
    }

    pub(super) fn refuse(&mut self, connect: &Connect<'_>, reason: ReasonCode) {
        refuse_connect(connect, reason, Some("refused"), &mut self.out);
    }

    pub(super) fn open(&mut self, connect: &Connect<'_>, admission: &Admission, len: usize) -> Granted {
        self.keys += 1;
        let key = SessionKey(self.keys);
        let existing = self.session.take();
        let capacity = self.out.capacity();
        let Broker { settings, out, counters, now_ms, .. } = self;
        let (opened, used) = allocations::count(|| {
            let mut io = Io::new(out, counters);
            let Opened { session, session_present, discarded } =
                Session::open(connect, admission, key, settings, existing, *now_ms, &mut io);
            let ended_will = discarded.map(|discarded| discarded.end(*now_ms, counters).will.is_some());
            (session, Granted { session_present, ended_will })
        });
        self.charge(len, capacity, used);
        self.session = Some(opened.0);
        opened.1
    }

    /// Ends the session; returns whether its will had still been waiting.
    pub(super) fn end(&mut self) -> bool {
        let Some(session) = self.session.take() else { return false };
        let counters = &mut self.counters;
        let now_ms = self.now_ms;
        let (will, used) = allocations::count(|| session.end(now_ms, counters).will.is_some());
        self.kept_bytes += used.kept_bytes;
        will
    }

    /// The connection is gone; returns whether the will was published, and whether the session has ended.
    pub(super) fn disconnected(&mut self) -> Option<(bool, bool)> {
        self.with(0, |session, now_ms, _| {
            let departure = session.disconnected(now_ms);
            (departure.will.is_some(), departure.ended)
        })
    }

    pub(super) fn tick(&mut self) -> Option<Ticked> {
        self.with(0, |session, now_ms, io| {
            let tick = session.tick(now_ms, io);
            Ticked { close: tick.close, will: tick.will.is_some(), ended: tick.ended }
        })
    }

    pub(super) fn deliver(
        &mut self,
        publish: Publish<'_>,
        from: SessionKey,
        grants: &[Grant],
        len: usize,
    ) -> Option<Delivered> {
        let len = len + publish.topic.len() + publish.payload.len();
        self.with(len, |session, now_ms, io| {
            let routed = Routed::new(publish, from, now_ms);
            session.deliver(&routed, grants.iter(), None, now_ms, io)
        })
    }

    /// What the session's own subscriptions grant for `name`.
    pub(super) fn grants_for(&self, name: &str) -> Vec<Grant> {
        let Some(session) = &self.session else { return Vec::new() };
        let wanted = |filter: &str| !filter.starts_with("$share/") && topic::matches(filter, name);
        session.subscriptions().filter(|(filter, _)| wanted(filter)).map(|(_, grant)| grant).collect()
    }

    pub(super) fn key(&self) -> SessionKey {
        self.session.as_ref().map_or(SessionKey(0), |session| session.key())
    }

    /// Every table within its bounds, every message accounted for.
    pub(super) fn judge(&self, books: &Books) {
        let settings = &self.settings;
        let mut queued = 0;
        if let Some(session) = &self.session {
            queued = session.queued_messages();
            assert!(queued <= settings.queue_messages_max as usize, "{queued} messages wait");
            assert!(session.queued_bytes() <= settings.queue_bytes_max, "{} bytes wait", session.queued_bytes());
            assert!(session.subscriptions().len() <= settings.subscriptions_max as usize);
            if self.counters.dropped(DropReason::PacketTooLarge) == 0 {
                assert_eq!(session.inflight_messages(), books.inflight(), "messages under way");
            }
        }
        let dropped: u64 = DropReason::ALL.iter().map(|reason| self.counters.dropped(*reason)).sum();
        books.judge_account(queued, dropped);
        let entries = settings.queue_messages_max as usize
            + usize::from(settings.inflight_messages_max)
            + settings.subscriptions_max as usize
            + usize::from(settings.topic_alias_max)
            + usize::from(settings.topic_alias_sent_max)
            + books.owed_max();
        let may = SESSION_BASE_BYTES
            + 2 * settings.queue_bytes_max as usize
            + 4 * self.limits.packet_bytes_max as usize
            + entries * (PER_ENTRY_BYTES + usize::from(self.limits.topic_bytes_max));
        assert!(self.kept_bytes <= may as isize, "the session holds {} bytes, more than {may}", self.kept_bytes);
    }
}
