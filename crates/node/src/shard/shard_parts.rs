//! What a shard is made of, and the shard that becomes of it: empty, and not running yet.

use std::sync::Arc;

use lapwing_session::Grant;
use lapwing_transport::Listener;

use super::connections::ConnectionRoom;
use super::connections::client_settings::ClientSettings;
use super::connections::clients::Clients;
use super::durable::DurableRoom;
use super::groups::GroupRoom;
use super::holds::Holds;
use super::mail::MailRoom;
use super::operators::{OperatorRequests, OperatorRoom};
use super::publish::PublishRoom;
use super::publish::route::{Target, Tree};
use super::retained::RetainedRoom;
use super::rights::RightsRoom;
use super::subscribe::SubscribeRoom;
use super::verdicts::VerdictRoom;
use super::{LanesIn, Post, Recovered, Shard, Sys};
use crate::doors::Doors;
use crate::error::NodeError;
use crate::event_loop::EventLoop;
use crate::events::EventQueue;
use crate::handshakes::Shaken;
use crate::hooks::{HookFeed, HookName};
use crate::listeners::ListenerId;
use crate::log::LogFeed;
use crate::memory::Pressure;
use crate::metrics::ShardCounters;
use crate::passwords::PasswordFeed;
use crate::queue_pages::PageFeed;
use crate::shared::Shared;
use crate::slot::ShardId;
use crate::timers::Timers;

/// What a shard is made of.
pub(crate) struct ShardParts {
    pub(crate) id: ShardId,
    pub(crate) shared: Arc<Shared>,
    pub(crate) event_loop: EventLoop,
    pub(crate) listeners: Vec<(ListenerId, Listener)>,
    /// From each thread that does handshakes.
    pub(crate) shaken: Vec<Shaken>,
    pub(crate) inlets: Vec<LanesIn>,
    pub(crate) post: Post,
    pub(crate) log: Option<LogFeed>,
    /// What the log has of sessions and retained messages, if it keeps them.
    pub(crate) recovered: Option<Recovered>,
    /// The way to whoever reads it, then.
    pub(crate) pages: Option<PageFeed>,
    pub(crate) hooks: Option<HookFeed>,
    pub(crate) passwords: PasswordFeed,
    pub(crate) counters: Arc<ShardCounters>,
    /// For one shard of the node.
    pub(crate) sys: Option<Sys>,
}

impl Shard {
    pub(crate) fn new(parts: ShardParts) -> Result<Self, NodeError> {
        let ShardParts {
            id,
            shared,
            event_loop,
            listeners,
            shaken,
            inlets,
            post,
            log,
            recovered,
            pages,
            hooks,
            passwords,
            counters,
            sys,
        } = parts;
        let limits = &shared.config.limits;
        let shards = post.shards();
        let mut tree = Tree::new();
        for (n, stream) in shared.config.streams.values().enumerate() {
            tree.insert(&stream.filter, Target::Stream(n as u32), Grant::default());
        }
        let left_holds = recovered.as_ref().map(|recovered| recovered.holds()).unwrap_or_default();
        let authentication = hooks.as_ref().is_some_and(|hooks| hooks.wants(HookName::Auth));
        let settings = shared
            .listeners()
            .iter()
            .map(|state| ClientSettings::new(&shared.config, state.packet_bytes_max, authentication))
            .collect();
        let read_bytes = limits.read_bytes_per_turn as usize;
        let happenings = EventQueue::new(&shared.config.events, shards);
        Ok(Shard {
            id,
            connections: ConnectionRoom::new(settings, Doors::new(listeners), shaken, read_bytes),
            clients: Clients::new(id, shards, limits.output_high_bytes as usize / 2),
            verdicts: VerdictRoom { hooks, passwords },
            rights: RightsRoom::default(),
            mail: MailRoom::new(inlets, post),
            publish: PublishRoom::new(),
            subscriptions: SubscribeRoom::new(id, shards, tree),
            retained: RetainedRoom::new(id, shards, &shared.retained, &shared.shares),
            groups: GroupRoom::new(id),
            holds: Holds::new(&shared, id, left_holds.iter().map(|filter| &**filter)),
            durable: DurableRoom::new(log, recovered, pages, shards),
            operators: OperatorRoom { requests: OperatorRequests::default(), sys, happenings },
            timers: Timers::new(),
            counters,
            now_ms: 0,
            pressure: Pressure::Normal,
            draining: false,
            shared,
            event_loop,
        })
    }
}
