//! What a shard is made of, and the shard that becomes of it: empty, and not running yet.

use std::collections::VecDeque;
use std::sync::Arc;

use lapwing_session::Grant;
use lapwing_transport::Listener;

use super::connections::client_settings::ClientSettings;
use super::connections::clients::Clients;
use super::connections::in_hand::InHand;
use super::connections::pause::Paused;
use super::durable::commits::Confirmations;
use super::durable::owed_wills::OwedWills;
use super::durable::settlement::Settlement;
use super::groups::{GroupTable, Pending};
use super::holds::Holds;
use super::operators::OperatorRequests;
use super::publish::route::{Target, Tree};
use super::publish::stamp;
use super::publish::topic_rules::TopicRules;
use super::retained::RetainedRoom;
use super::rights::certificates;
use super::subscribe::answers::Answers;
use super::subscribe::endings::Endings;
use super::subscribe::interest::Announcer;
use super::{LanesIn, Post, Recovered, Shard, Sys, spinning};
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
        let mut tree = Tree::new();
        for (n, stream) in shared.config.streams.values().enumerate() {
            tree.insert(&stream.filter, Target::Stream(n as u32), Grant::default());
        }
        let left_holds = recovered.as_ref().map(|recovered| recovered.holds()).unwrap_or_default();
        let authentication = hooks.as_ref().is_some_and(|hooks| hooks.wants(HookName::Auth));
        Ok(Shard {
            client_settings: shared
                .listeners()
                .iter()
                .map(|state| ClientSettings::new(&shared.config, state.packet_bytes_max, authentication))
                .collect(),
            clients: Clients::new(id, post.shards(), limits.output_high_bytes as usize / 2),
            confirmations: Confirmations::new(post.shards()),
            recovered,
            pages,
            settlement: Settlement::default(),
            is_restored: false,
            is_listening: false,
            tree,
            groups: GroupTable::new(id),
            holds: Holds::new(&shared, id, left_holds.iter().map(|filter| &**filter)),
            pending: Pending::default(),
            words: VecDeque::new(),
            announcer: Announcer::new(id, post.shards()),
            answers: Answers::default(),
            operator_requests: OperatorRequests::default(),
            endings: Endings::default(),
            retained: RetainedRoom::new(id, post.shards(), &shared.retained, &shared.shares),
            timers: Timers::new(),
            counters,
            sys,
            happenings: EventQueue::new(&shared.config.events, post.shards()),
            stamper: stamp::Stamper::default(),
            stamped: 0,
            owed_wills: OwedWills::default(),
            paused: Paused::default(),
            read_buffer: vec![0; limits.read_bytes_per_turn as usize],
            now_ms: 0,
            draining: false,
            permissions_version: None,
            expelled_version: None,
            groups_version: 0,
            recheck: certificates::Recheck::default(),
            topic_rules: TopicRules::unread(),
            filters_taken: 0,
            pressure: Pressure::Normal,
            lingering: 0,
            mail_moved: false,
            timers_wait: false,
            in_hand: InHand::Nobody,
            spinning: spinning::Spinning::default(),
            id,
            shared,
            event_loop,
            doors: Doors::new(listeners),
            shaken,
            inlets,
            post,
            log,
            hooks,
            passwords,
        })
    }
}
