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
mod room;
mod shard_parts;
mod spinning;
mod subscribe;
mod turn;
mod verdicts;

use std::sync::Arc;

use mio::Token;

use crate::event_loop::EventLoop;
use crate::memory::Pressure;
use crate::metrics::ShardCounters;
use crate::shared::Shared;
use crate::slot::ShardId;
use crate::timers::Timers;
use connections::ConnectionRoom;
use connections::client_settings::ClientSettings;
pub(crate) use connections::client_settings::codec_limits;
use connections::clients::Clients;
pub(crate) use connections::sent::Sent;
use due::Due;
use durable::DurableRoom;
pub(crate) use durable::keeping::{Kept, Origin, Recovered};
pub(crate) use durable::owed_wills::Debt;
use groups::GroupRoom;
use holds::Holds;
pub(crate) use holds::ranked as ranked_holds;
use mail::MailRoom;
pub(crate) use mail::post::{LanesIn, LanesOut, ParcelLimits, Post};
#[cfg(test)]
pub(crate) use one_offs::count as one_off_count;
use operators::OperatorRoom;
pub(crate) use operators::sys::Sys;
use publish::PublishRoom;
use retained::RetainedRoom;
use rights::RightsRoom;
pub(crate) use shard_parts::ShardParts;
use subscribe::SubscribeRoom;
use verdicts::VerdictRoom;

/// Events of connections begin here; below are listeners.
const CONNECTIONS: usize = 1 << 16;

fn token_of(index: usize) -> Token {
    Token(index + CONNECTIONS)
}

/// One event loop. Only its own thread touches it once it runs. What has state of its own is a room.
pub(crate) struct Shard {
    id: ShardId,
    shared: Arc<Shared>,
    event_loop: EventLoop,
    connections: ConnectionRoom,
    clients: Clients,
    verdicts: VerdictRoom,
    rights: RightsRoom,
    mail: MailRoom,
    publish: PublishRoom,
    subscriptions: SubscribeRoom,
    retained: RetainedRoom,
    groups: GroupRoom,
    /// Messages that wait for their first subscriber.
    holds: Holds,
    durable: DurableRoom,
    operators: OperatorRoom,
    timers: Timers<Due>,
    counters: Arc<ShardCounters>,
    /// The node's clock at the beginning of the turn.
    now_ms: u64,
    /// The node's memory, as it was at the beginning of the turn.
    pressure: Pressure,
    /// Clients are being sent away.
    draining: bool,
}

impl Shard {
    pub(crate) fn id(&self) -> ShardId {
        self.id
    }

    /// What holds for a connection; for one that is gone, what holds at the first listener.
    fn client_settings(&mut self, index: usize) -> &ClientSettings {
        let listener = self.clients.connection(index).map(|connection| connection.listener).unwrap_or_default();
        &self.connections.settings[usize::from(listener.0)]
    }

    pub(crate) fn counters(&self) -> Arc<ShardCounters> {
        self.counters.clone()
    }
}
