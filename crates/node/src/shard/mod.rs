//! One event loop with everything it owns: connections, sessions, routes, retained topics, lanes to the others.
//!
//! A turn of the loop, in order: take new connections; take mail (control, then direct, then publish); acknowledge what
//! the log has made durable; send on what was read back from it; read and handle connections; timers; replays; then hand over all mail and log records, and
//! flush every connection that was written to. Each step does a bounded amount of work.

mod connect;
mod connections;
mod due;
mod durable;
#[cfg(debug_assertions)]
mod faults;
mod groups;
mod holds;
mod mail;
#[cfg(test)]
mod one_offs;
mod operators;
mod pressure;
mod publish;
mod retained;
mod rights;
mod shard_parts;
mod spinning;
mod subscribe;
mod turn;
mod verdicts;

use std::collections::VecDeque;
use std::sync::Arc;

use mio::Token;

use crate::doors::Doors;
use crate::event_loop::EventLoop;
use crate::events::EventQueue;
use crate::handshakes::Shaken;
use crate::hooks::HookFeed;
use crate::log::LogFeed;
use crate::memory::Pressure;
use crate::metrics::ShardCounters;
use crate::passwords::PasswordFeed;
use crate::queue_pages::PageFeed;
use crate::shared::Shared;
use crate::slot::ShardId;
use crate::timers::Timers;
use crate::words::Word;
use connections::client_settings::ClientSettings;
pub(crate) use connections::client_settings::codec_limits;
use connections::clients::Clients;
use connections::in_hand::InHand;
use connections::pause::Paused;
pub(crate) use connections::sent::Sent;
use due::Due;
use durable::commits::Confirmations;
pub(crate) use durable::keeping::{Kept, Origin, Recovered};
pub(crate) use durable::owed_wills::Debt;
use durable::owed_wills::OwedWills;
use durable::settlement::Settlement;
use groups::{GroupTable, Pending};
use holds::Holds;
pub(crate) use holds::ranked as ranked_holds;
pub(crate) use mail::post::{LanesIn, LanesOut, ParcelLimits, Post};
#[cfg(test)]
pub(crate) use one_offs::count as one_off_count;
use operators::OperatorRequests;
pub(crate) use operators::sys::Sys;
use publish::route::Tree;
use publish::topic_rules::TopicRules;
use retained::RetainedRoom;
pub(crate) use shard_parts::ShardParts;
use subscribe::Waiter;
use subscribe::answers::Answers;
use subscribe::endings::Endings;
use subscribe::interest::Announcer;

/// Events of connections begin here; below are listeners.
const CONNECTIONS: usize = 1 << 16;

fn token_of(index: usize) -> Token {
    Token(index + CONNECTIONS)
}

/// One event loop. Only its own thread touches it once it runs.
pub(crate) struct Shard {
    id: ShardId,
    shared: Arc<Shared>,
    /// By listener.
    client_settings: Vec<ClientSettings>,
    event_loop: EventLoop,
    doors: Doors,
    /// From each thread that does handshakes: connections to take.
    shaken: Vec<Shaken>,
    inlets: Vec<LanesIn>,
    post: Post,
    log: Option<LogFeed>,
    /// What the log had when the node started.
    recovered: Option<Recovered>,
    /// The way to the thread that reads back, page by page, what waits in the log for kept sessions.
    pages: Option<PageFeed>,
    /// How far this shard has settled QoS 2 messages for publishers that are silent.
    settlement: Settlement,
    /// Messages of other shards that are logged here: how many, and when those shards may be told.
    confirmations: Confirmations,
    /// All that was restored is known to every shard; only then clients may come.
    is_restored: bool,
    is_listening: bool,
    hooks: Option<HookFeed>,
    passwords: PasswordFeed,
    clients: Clients,
    tree: Tree,
    groups: GroupTable,
    /// Messages that wait for their first subscriber.
    holds: Holds,
    /// What of groups, and of their messages here, waits for the disk or for room.
    pending: Pending,
    /// What sessions here say to groups here.
    words: VecDeque<Word>,
    /// Subscriptions of sessions that are over, still in the tree.
    endings: Endings,
    announcer: Announcer<Waiter>,
    answers: Answers,
    /// What operators want of the sessions here.
    operator_requests: OperatorRequests,
    retained: RetainedRoom,
    /// Where this shard publishes the `$SYS` tree.
    sys: Option<Sys>,
    /// What clients have done, to be published.
    happenings: EventQueue,
    stamper: publish::stamp::Stamper,
    /// Messages that were given a name.
    stamped: u64,
    owed_wills: OwedWills,
    timers: Timers<Due>,
    counters: Arc<ShardCounters>,
    /// Connections that are not read until there is room; each knows why.
    paused: Paused,
    /// Shared by all connections; what is left of a read moves to the connection.
    read_buffer: Vec<u8>,
    /// The node's clock at the beginning of the turn.
    now_ms: u64,
    /// Clients are being sent away.
    draining: bool,
    /// The version of users and rules that all permissions were made under; none before the first turn, which compares what the
    /// log had with the users and rules of today.
    permissions_version: Option<u64>,
    /// The version of users and rules under which sessions were looked through last: those that may not be there any more are
    /// over.
    expelled_version: Option<u64>,
    /// The version of the groups' tables that holds here.
    groups_version: u64,
    /// Who has still to be held against certificates that were read again.
    recheck: rights::certificates::Recheck,
    /// Which messages are kept in memory alone.
    topic_rules: TopicRules,
    /// Filters that the connection in hand has subscribed to or cancelled in this turn.
    filters_taken: u64,
    /// The node's memory, as it was at the beginning of the turn.
    pressure: Pressure,
    /// Connections that are over for us and wait for their peer's end.
    lingering: usize,
    /// Mail came or went in this turn: worth looking again before sleeping.
    mail_moved: bool,
    /// What is due waits for this turn: see [`Shard::must_hear_first`].
    timers_wait: bool,
    /// What is being done for a client.
    in_hand: InHand,
    spinning: spinning::Spinning,
}

impl Shard {
    pub(crate) fn id(&self) -> ShardId {
        self.id
    }

    /// What holds for a connection; for one that is gone, what holds at the first listener.
    fn client_settings(&mut self, index: usize) -> &ClientSettings {
        let listener = self.clients.connection(index).map(|connection| connection.listener).unwrap_or_default();
        &self.client_settings[usize::from(listener.0)]
    }

    pub(crate) fn counters(&self) -> Arc<ShardCounters> {
        self.counters.clone()
    }
}
