//! The session, driven as the node drives it, its memory watched.

use std::collections::BTreeSet;
use std::sync::Arc;

use lapwing_codec::{Connect, Limits, PacketId, Publish, ReasonCode, topic};
use lapwing_session::{
    Admission, Close, Counters, Delivered, DropReason, Fact, Grant, Io, Opened, QueuePolicy, Restored, Routed, Session,
    SessionKey, Settings, admit, refuse_connect,
};

use super::books::{Books, Clocks};
use super::ledger::{self, Ledger};
use crate::allocations;
use crate::wire::Draw;

/// What one packet may cost while it is handled: a bitmap of packet ids, tables that begin.
const PACKET_BASE_BYTES: usize = 24 << 10;
/// And so many bytes for each of its own: a filter of one byte becomes an entry of a table.
const PER_PACKET_BYTE: usize = 64;
/// What a session may cost before anything was asked of it, generously.
const SESSION_BASE_BYTES: usize = 32 << 10;
/// More than one call can tell.
const FACTS: usize = 1024;
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
    /// What a CONNECT may have, and what all else.
    limits: [Limits; 2],
    pub(super) session: Option<Session>,
    pub(super) out: Vec<u8>,
    pub(super) now_ms: u64,
    counters: Counters,
    keys: u64,
    /// Sessions that outlive their connections are kept.
    keeps: bool,
    ledger: Ledger,
    /// Told and not in the ledger yet.
    facts: Vec<Fact>,
    has_crashed: bool,
    /// Bytes that the session holds.
    kept_bytes: isize,
}

impl Broker {
    /// Small bounds, so that a short input meets them; which of the policies hold is the input's choice.
    pub(super) fn new(draw: &mut Draw<'_, '_>) -> Self {
        let queue_policy =
            [QueuePolicy::DropOldest, QueuePolicy::DropNewest, QueuePolicy::Refuse, QueuePolicy::Disconnect]
                [draw.below(4)];
        let settings = Settings {
            subscriptions_max: 4,
            topic_bytes_max: 100,
            topic_levels_max: 6,
            user_properties_max: 3,
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
        let limits = [
            Limits { packet_bytes_max: 512, topic_bytes_max: 100, ..Limits::default() },
            Limits { packet_bytes_max: 512, ..Limits::PROTOCOL },
        ];
        Broker {
            settings: Arc::new(settings),
            limits,
            session: None,
            out: Vec::new(),
            now_ms: 1_000_000,
            counters: Counters::default(),
            keys: 100,
            keeps: draw.one_in(2),
            ledger: Ledger::default(),
            facts: Vec::with_capacity(FACTS),
            has_crashed: false,
            kept_bytes: 0,
        }
    }

    /// What a packet may have; once there is a session, that judges topics and user properties.
    pub(super) fn limits(&self, is_client: bool) -> &Limits {
        &self.limits[usize::from(is_client)]
    }

    /// Calls the session, if there is one, and counts what it allocates. `len`: bytes of the packet that causes it.
    pub(super) fn with<T>(&mut self, len: usize, work: impl FnOnce(&mut Session, u64, &mut Io<'_>) -> T) -> Option<T> {
        let result = self.call(len, work);
        self.note();
        result
    }

    fn call<T>(&mut self, len: usize, work: impl FnOnce(&mut Session, u64, &mut Io<'_>) -> T) -> Option<T> {
        let Broker { session, out, counters, now_ms, facts, .. } = self;
        let session = session.as_mut()?;
        let capacity = out.capacity();
        let (result, used) = allocations::count(|| {
            let result = work(session, *now_ms, &mut Io::new(out, counters));
            session.take_facts(facts);
            result
        });
        self.charge(len, capacity, used);
        Some(result)
    }

    /// Puts what was told into the ledger.
    fn note(&mut self) {
        assert!(self.facts.capacity() == FACTS, "one call tells more than there is");
        self.facts.drain(..).for_each(|fact| self.ledger.apply(&fact));
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
        let Broker { settings, out, counters, now_ms, facts, keeps, .. } = self;
        let (opened, used) = allocations::count(|| {
            let mut io = Io::new(out, counters);
            let Opened { mut session, session_present, discarded } =
                Session::open(connect, admission, key, settings, existing, *now_ms, &mut io);
            session.take_facts(facts);
            match *keeps && session.expiry_s() > 0 {
                true => session.keep(ledger::NAME),
                false => session.forget(),
            }
            let ended_will = discarded.map(|discarded| discarded.end(*now_ms, counters).will.is_some());
            (session, Granted { session_present, ended_will })
        });
        self.charge(len, capacity, used);
        if !opened.1.session_present {
            self.ledger.forget();
        }
        self.note();
        if opened.0.kept_id().is_none() {
            self.ledger.forget();
        }
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
        self.ledger.forget();
        will
    }

    /// Whether there is a session that a crash does not end.
    pub(super) fn is_kept(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.kept_id().is_some())
    }

    /// Everything is lost but what was told; returns the messages of the client that are known to have been taken.
    pub(super) fn crash(&mut self, clocks: &Clocks) -> Option<BTreeSet<PacketId>> {
        let old = self.session.take()?;
        let Broker { settings, now_ms, ledger, .. } = self;
        let (session, used) = allocations::count(|| {
            let restored = Restored {
                client_id: old.client_id(),
                key: old.key(),
                settings,
                id: ledger::NAME,
                expiry_s: old.expiry_s(),
                remaining_ms: clocks.remaining_ms,
                will: old.will().zip(clocks.will_ms),
                away_since: None,
                next_use: 1,
                now_ms: *now_ms,
            };
            let session = ledger.restore(restored, &old);
            drop(old);
            session
        });
        self.kept_bytes += used.kept_bytes;
        self.out.clear();
        self.has_crashed = true;
        self.session = Some(session);
        Some(self.ledger.received().clone())
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
        let entry = self.ledger.next();
        let expires_at_ms = Routed::new(publish, from, self.now_ms).expires_at_ms();
        let delivered = self.call(len, |session, now_ms, io| {
            let routed = Routed::new(publish, from, now_ms);
            session.deliver(&routed, grants.iter(), Some(entry), now_ms, io)
        });
        let options = self.session.as_ref().and_then(|session| session.kept_options(entry));
        if let Some(options) = options {
            let options = (options.qos, options.retain, options.ids.iter().collect());
            self.ledger.published(entry, &publish, from, expires_at_ms, options);
        }
        self.note();
        delivered
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

    fn under_way(&self) -> usize {
        self.settings.inflight_messages_max.into()
    }

    fn again_bytes(&self) -> u64 {
        self.settings.queue_bytes_max + u64::from(self.settings.packet_bytes_max)
    }

    /// Every table within its bounds, every message accounted for.
    pub(super) fn judge(&self, books: &Books) {
        let settings = &self.settings;
        let mut queued = 0;
        if let Some(session) = &self.session {
            queued = session.queued_messages();
            // After a crash what was under way with QoS 1 waits again, whatever room there is.
            let (more, more_bytes) = if self.has_crashed { (self.under_way(), self.again_bytes()) } else { (0, 0) };
            assert!(queued <= settings.queue_messages_max as usize + more, "{queued} messages wait");
            let bytes = session.queued_bytes();
            assert!(bytes <= settings.queue_bytes_max + more_bytes, "{bytes} bytes wait");
            if session.kept_id().is_some() {
                self.ledger.judge(session);
            }
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
            + if self.has_crashed { self.again_bytes() as usize } else { 0 }
            + 4 * settings.packet_bytes_max as usize
            + entries * (PER_ENTRY_BYTES + usize::from(settings.topic_bytes_max));
        assert!(self.kept_bytes <= may as isize, "the session holds {} bytes, more than {may}", self.kept_bytes);
    }
}
