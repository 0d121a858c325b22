//! What all threads of a node share: its life, its clock, and whatever more than one of them reads or counts.

mod answering;
mod connections;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use lapwing_access::Authority;

use crate::audit::Audit;
use crate::clock::NodeClock;
use crate::config::Config;
use crate::descriptors;
use crate::desk::Desk;
use crate::error::NodeError;
use crate::group_book::GroupBook;
use crate::group_reports::GroupAsk;
use crate::holder::Holder;
use crate::identity_shares::IdentityShares;
use crate::life::{Life, Phase};
use crate::listeners::{ListenerId, ListenerState, Listeners};
use crate::mail::NoRoom;
use crate::mailbox::Bell;
use crate::member::Lease;
use crate::memory::Memory;
use crate::metrics::HoldCounters;
use crate::notices::{Line, NoticeKind, Notices};
use crate::placement::Placement;
use crate::reserved_room::ReservedRoom;
use crate::retained_share::RetainedShare;
use crate::session_reports::SessionAsk;
use crate::shard::ranked_holds;
use crate::slot::ShardId;
use crate::stamps::Stamps;
use crate::strangers::Strangers;
use crate::strategies::Strategies;
use crate::token_keys::KeyControl;
use crate::topic_book::TopicBook;

/// Which bound has no room for one more connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crowded {
    /// `limits.connections_max`.
    Node,
    /// `connections_max` of its listener.
    Listener,
}

/// One per node. Each field says who writes it.
pub(crate) struct Shared {
    pub(crate) config: Arc<Config>,
    /// Who owns which slots; asked by everybody.
    pub(crate) placement: Placement,
    /// Users and rules; asked by every thread, changed by the handle.
    pub(crate) authority: Authority,
    /// Settings of consumer groups; read by every shard, changed by the handle.
    pub(crate) groups: GroupBook,
    /// What each holder has of the node's tables; asked and written by every shard.
    pub(crate) shares: Arc<IdentityShares>,
    /// What holds for some topics; read by every shard, changed by the handle.
    pub(crate) topics: TopicBook,
    /// Code of the user's own that chooses members; started by the handle.
    pub(crate) strategies: Strategies,
    /// By hold, the most specific first.
    pub(crate) hold_counters: Vec<Arc<HoldCounters>>,
    /// By shard, who asks for its groups.
    report_desks: Vec<Desk<GroupAsk>>,
    /// By shard, who asks for its sessions.
    session_desks: Vec<Desk<SessionAsk>>,
    listeners: Listeners,
    /// As configured, or fewer where the process may not open so many files.
    connections_max: u32,
    /// Whether messages say who has published them; asked by every shard for each message.
    pub(crate) stamps: Stamps,
    /// What clients may take up, and do.
    pub(crate) memory: Memory,
    /// Connections that are no clients yet, and what they may take up.
    pub(crate) strangers: Arc<Strangers>,
    /// What the operator should hear; emptied by whoever tells it.
    pub(crate) notices: Notices,
    /// Where it is written down who came, was refused, changed what.
    pub(crate) audit: Audit,
    pub(crate) clock: NodeClock,
    /// The thread that fetches keys of tokens; asked by those that check them.
    pub(crate) token_keys: Arc<KeyControl>,
    /// Where it is in its life; written by the handle, by whoever fails, and by each shard that has drained.
    pub(crate) life: Life,
    /// Open connections; written by every shard when one comes or goes.
    connections: AtomicU32,
    /// The most there were at a time.
    connections_peak: AtomicU32,
    /// Sessions without a connection; written by every shard.
    offline: AtomicU32,
    /// Room for retained messages; taken by every shard.
    pub(crate) retained: Arc<RetainedShare>,
    /// Retained messages found no room: whoever has expired ones gives them up. Goes up; written by every shard.
    pub(crate) retained_wanted: AtomicU64,
    /// Messages of one shard that another one has on disk: by the one that has them, then by the one that sent them.
    /// Written by the former.
    confirmed: Vec<AtomicU64>,
    /// Shards that have brought back what was on disk, and whose subscriptions all others know.
    restored: AtomicU32,
    /// One per shard, to tell them of a new phase.
    pub(crate) bells: Vec<Bell>,
    /// One per thread beside them with an event loop of its own, for the same.
    side_bells: Vec<Bell>,
    /// Until when anybody may be answered; `None`: as long as the node runs.
    lease: Option<Arc<Lease>>,
}

impl Shared {
    pub(crate) fn new(
        config: Arc<Config>,
        authority: Authority,
        clock: NodeClock,
        stamps: Stamps,
        listeners: Listeners,
        bells: Vec<Bell>,
        side_bells: Vec<Bell>,
    ) -> Self {
        let (connections_max, notice) = descriptors::connections(&config);
        let memory = Memory::new(&config.limits, bells.len());
        let limits = &config.limits;
        let retained_bytes_max = limits.retained_bytes_max.min(memory.high_bytes() / 2);
        let retained = RetainedShare::new(limits.retained_messages_max, retained_bytes_max);
        let notices = Notices::new(config.limits.notices_per_minute);
        for notice in notice.into_iter().chain(listeners.notices()) {
            notices.tell(NoticeKind::Start, notice, clock.now_ms());
        }
        let places: Vec<&Bell> = bells.iter().chain(&side_bells).collect();
        Shared {
            placement: Placement::of_shards(bells.len() as u32),
            strangers: Strangers::new(&config.limits, connections_max, memory.high_bytes(), &places),
            groups: GroupBook::new(config.groups.clone()),
            shares: Arc::new(IdentityShares::new(&config.limits)),
            topics: TopicBook::new(config.topics.clone()),
            strategies: Strategies::default(),
            hold_counters: ranked_holds(&config).iter().map(|_| Arc::default()).collect(),
            report_desks: bells.iter().map(|_| Desk::default()).collect(),
            session_desks: bells.iter().map(|_| Desk::default()).collect(),
            audit: Audit::new(&config.audit),
            memory,
            config,
            authority,
            stamps,
            connections_max,
            notices,
            listeners,
            clock,
            token_keys: Arc::default(),
            life: Life::new(bells.len()),
            connections: AtomicU32::new(0),
            connections_peak: AtomicU32::new(0),
            offline: AtomicU32::new(0),
            retained: Arc::new(retained),
            retained_wanted: AtomicU64::new(0),
            confirmed: (0..bells.len() * bells.len()).map(|_| AtomicU64::new(0)).collect(),
            restored: AtomicU32::new(0),
            bells,
            side_bells,
            lease: None,
        }
    }

    /// Shard `keeper` has `count` messages of shard `sender` on disk, of those that had to be.
    pub(crate) fn confirm(&self, keeper: ShardId, sender: usize, count: u64) {
        let cell = &self.confirmed[keeper.index() * self.bells.len() + sender];
        if cell.load(Ordering::Relaxed) != count {
            cell.store(count, Ordering::Release);
            self.bells[sender].ring();
        }
    }

    /// How many messages of shard `sender` shard `keeper` has on disk, of those that had to be.
    pub(crate) fn confirmed(&self, keeper: usize, sender: ShardId) -> u64 {
        self.confirmed[keeper * self.bells.len() + sender.index()].load(Ordering::Acquire)
    }

    /// One more shard has brought back its own.
    pub(crate) fn restored(&self) {
        self.restored.fetch_add(1, Ordering::AcqRel);
        self.ring();
    }

    /// True when all have: clients may come.
    pub(crate) fn is_restored(&self) -> bool {
        self.restored.load(Ordering::Acquire) as usize >= self.bells.len()
    }

    /// The node's clock in milliseconds, the same on every shard.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// The same in microseconds.
    pub(crate) fn now_us(&self) -> u64 {
        self.clock.now_us()
    }

    pub(crate) fn phase(&self) -> Phase {
        self.life.phase()
    }

    /// Moves on to `phase` and tells every shard.
    pub(crate) fn enter(&self, phase: Phase) {
        self.life.enter(phase);
        self.ring();
    }

    /// Wakes every thread that clients come through.
    fn ring(&self) {
        self.bells.iter().chain(&self.side_bells).for_each(Bell::ring);
    }

    /// Where one shard is asked for its groups.
    pub(crate) fn report_desk(&self, shard: usize) -> &Desk<GroupAsk> {
        &self.report_desks[shard]
    }

    /// Where one shard is asked for its sessions.
    pub(crate) fn session_desk(&self, shard: usize) -> &Desk<SessionAsk> {
        &self.session_desks[shard]
    }

    /// Asks one shard about its sessions, and wakes it.
    pub(crate) fn ask(&self, shard: usize, ask: SessionAsk) {
        self.session_desks[shard].put(ask);
        self.bells[shard].ring();
    }

    /// Asks one shard about its groups, and wakes it.
    pub(crate) fn ask_groups(&self, shard: usize, ask: GroupAsk) {
        self.report_desks[shard].put(ask);
        self.bells[shard].ring();
    }

    /// Notes why the node fails (the first reason counts) and stops it.
    pub(crate) fn fail(&self, error: &NodeError) {
        self.life.fail(error);
        self.enter(Phase::Stopping);
    }

    /// Lets the operator hear `notice`, as one line whatever names stand in it; as far as its kind has not said too much.
    pub(crate) fn tell(&self, kind: NoticeKind, notice: String) {
        self.notices.tell(kind, notice, self.now_ms());
    }

    /// The same for what is of no kind of its own.
    pub(crate) fn notify(&self, notice: String) {
        self.tell(NoticeKind::Other, notice);
    }

    /// Takes what the operator should hear.
    pub(crate) fn take_notices(&self) -> Vec<(NoticeKind, Line)> {
        self.notices.take(self.now_ms())
    }

    pub(crate) fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    pub(crate) fn listener(&self, id: ListenerId) -> &ListenerState {
        self.listeners.get(id)
    }

    /// Takes room for one more retained message of `holder`'s.
    ///
    /// # Errors
    /// Where there is none.
    pub(crate) fn reserve_retained(&self, holder: Option<Holder>, bytes: u64) -> Result<ReservedRoom, NoRoom> {
        ReservedRoom::take(&self.retained, &self.shares, holder, bytes)
    }

    /// A retained message found no room: shards that keep expired ones are woken to give them up.
    pub(crate) fn want_retained_room(&self) {
        self.retained_wanted.fetch_add(1, Ordering::Relaxed);
        self.ring();
    }
}
