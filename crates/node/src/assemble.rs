//! Putting a node together: log, listeners, mailboxes between every pair of shards, shards.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::thread::Thread;

use lapwing_store::StreamIndex;

use crate::clock::NodeClock;
use crate::config::{self, Config};
use crate::data_groups::Share;
use crate::error::NodeError;
use crate::event_loop::EventLoop;
use crate::extensions::Extensions;
use crate::handshakes::{HandshakeRoom, HandshakeThread, lay_handshakes};
use crate::hooks::{HookControl, HookFeed, HookThread, Hooks, lay_hooks};
use crate::listeners::Listeners;
use crate::log::{LogBatch, LogFeed, LogShared, LogWiring, StreamRoute};
use crate::mailbox::{Bell, Inlet, Lane, Wake, lane};
use crate::metrics::ShardCounters;
use crate::opened_log::{LogReaders, OpenedBy, OpenedLog};
use crate::passwords::{PasswordParts, lay_passwords};
use crate::queue_pages::{PageControl, PageFeed, PageThread, lay_pages};
use crate::shard::{LanesIn, LanesOut, ParcelLimits, Post, Recovered, Shard, ShardParts, Sys, codec_limits};
use crate::shared::Shared;
use crate::slot::ShardId;
use crate::sn::{SnThread, lay_sn};
use crate::stamps::Stamps;
use crate::streams::Streams;

/// Everything of a node before its threads run.
pub(crate) struct Parts {
    pub(crate) shared: Arc<Shared>,
    pub(crate) shards: Vec<Shard>,
    pub(crate) log: Option<LogParts>,
    /// Consumer groups that were kept.
    pub(crate) shares: Option<Arc<BTreeMap<Box<str>, Share>>>,
    pub(crate) pages: Option<PageParts>,
    pub(crate) hooks: Option<HookParts>,
    pub(crate) passwords: PasswordParts,
    /// No thread where no listener has TLS.
    pub(crate) handshakes: (Vec<HandshakeThread>, Arc<HandshakeRoom>),
    /// No thread where no listener is of MQTT-SN.
    pub(crate) sn: Option<SnThread>,
    pub(crate) listeners: Vec<String>,
    pub(crate) streams: Streams,
}

/// The log thread but for what it writes with, and what the node needs to end it.
pub(crate) struct LogParts {
    pub(crate) wiring: LogWiring,
    pub(crate) readers: LogReaders,
    pub(crate) opened_by: OpenedBy,
    pub(crate) shared: Arc<LogShared>,
    pub(crate) bell: Bell,
}

/// The thread that reads what waits for sessions, and what the node needs to end it.
pub(crate) struct PageParts {
    pub(crate) thread: PageThread,
    pub(crate) control: Arc<PageControl>,
}

/// The hook thread, and what the node needs to end it.
pub(crate) struct HookParts {
    pub(crate) thread: HookThread,
    pub(crate) control: Arc<HookControl>,
}

/// Batches in the lane from a shard to the log; their bytes are bounded by `log_lane_bytes`.
const LOG_LANE_BATCHES: usize = 1024;

/// Opens the listeners and lays the lanes, to the log too if there is one.
///
/// That was opened before: a node whose log is damaged must not hold a port. It stays the caller's, who tries again where this
/// fails.
pub(crate) fn parts(
    config: Arc<Config>,
    opened: Option<&OpenedLog>,
    extensions: Extensions,
) -> Result<Parts, NodeError> {
    let Extensions { hooks, progress: _, on_bound, strategists: _ } = extensions;
    let shards = config.shard_count() as usize;
    let authority = config::authority(&config.auth, &config.rules)?;
    // The folder is ours from here on.
    let clock = NodeClock::open(&config)?;
    let stamps = Stamps::open(&config)?;
    let (bound, states) = Listeners::bind(&config)?;
    on_bound.map_or(Ok(()), |give_up| give_up())?;
    let urls = states.iter().map(|state| state.url.clone()).collect();
    let event_loops = open_event_loops(shards)?;
    let bells: Vec<Bell> = event_loops.iter().map(EventLoop::bell).collect();
    let (shaking, listeners): (Vec<_>, Vec<_>) =
        bound.listeners.into_iter().partition(|(_, listener)| listener.has_tls());
    let shaking_loops = open_event_loops(if shaking.is_empty() { 0 } else { config.handshake_threads() as usize })?;
    let sn_loop = if bound.datagrams.is_empty() { None } else { Some(EventLoop::open()?) };
    let side_bells = shaking_loops.iter().chain(&sn_loop).map(EventLoop::bell).collect();
    let shared = Shared::new(config.clone(), authority, clock, stamps, states, bells.clone(), side_bells);
    let shared = Arc::new(shared.bound_by(opened.and_then(|opened| opened.writers.lease())));
    let mut handshakes = lay_handshakes(&shared, shaking_loops, &shaking, &bells)?;
    let sn = match sn_loop {
        Some(event_loop) => {
            let (thread, inlets) = lay_sn(&shared, event_loop, bound.datagrams, &bells)?;
            handshakes.inlets.iter_mut().zip(inlets).for_each(|(all, inlet)| all.push(inlet));
            Some(thread)
        }
        None => None,
    };
    let reader = opened.map(|opened| opened.readers.streams.clone());
    let recovered = opened.and_then(|opened| opened.readers.recovered());
    let (feeds, log) = match opened {
        Some(opened) => lay_log(&config, opened, &bells),
        None => ((0..shards).map(|_| None).collect(), None),
    };
    let (mut page_feeds, pages) = lay_queue_pages(recovered.as_ref(), &bells);
    let (hook_feeds, hooks) = lay(&config, hooks, &bells);
    let (mut password_feeds, passwords) = lay_passwords(&shared, &bells);
    let mail = lay_mail(&config, &bells);
    let counters: Vec<Arc<ShardCounters>> = (0..shards).map(|_| Arc::default()).collect();
    let counting = counters.iter().cloned().chain(handshakes.threads.iter().map(HandshakeThread::counters));
    let mut sys = Sys::new(counting.collect(), config.sys.interval_ms);
    let mut built = Vec::with_capacity(shards);
    for (index, (((event_loop, feed), hook_feed), (post, inlets))) in
        event_loops.into_iter().zip(feeds).zip(hook_feeds).zip(mail).enumerate()
    {
        let id = ShardId(index as u8);
        let listeners =
            listeners.iter().map(|(id, listener)| Ok((*id, listener.try_clone()?))).collect::<Result<_, _>>();
        let listeners = listeners.map_err(|source| NodeError::System { doing: "share a listener", source })?;
        built.push(Shard::new(ShardParts {
            id,
            shared: shared.clone(),
            event_loop,
            listeners,
            shaken: std::mem::take(&mut handshakes.inlets[index]),
            inlets,
            post,
            log: feed,
            recovered: recovered.clone(),
            pages: page_feeds.remove(0),
            hooks: hook_feed,
            passwords: password_feeds.remove(0),
            counters: counters[index].clone(),
            sys: sys.take(),
        })?);
    }
    let handshakes = (handshakes.threads, handshakes.room);
    let streams = Streams::new(reader, config);
    let shares = recovered.map(|recovered| recovered.shares);
    Ok(Parts { shared, shards: built, log, shares, pages, hooks, passwords, handshakes, sn, listeners: urls, streams })
}

fn open_event_loops(threads: usize) -> Result<Vec<EventLoop>, NodeError> {
    (0..threads).map(|_| EventLoop::open()).collect()
}

/// For each shard its way to the hooks, if there are any that want anything.
fn lay(config: &Config, hooks: Option<Box<dyn Hooks>>, shards: &[Bell]) -> (Vec<Option<HookFeed>>, Option<HookParts>) {
    let Some(hooks) = hooks.filter(|hooks| !hooks.interests().is_empty()) else {
        return (shards.iter().map(|_| None).collect(), None);
    };
    let (feeds, thread, control) = lay_hooks(hooks, &config.hooks, codec_limits(&config.limits), shards);
    (feeds.into_iter().map(Some).collect(), Some(HookParts { thread, control }))
}

/// For each shard its way to the thread that reads what waits in the log, if anything does.
fn lay_queue_pages(recovered: Option<&Recovered>, shards: &[Bell]) -> (Vec<Option<PageFeed>>, Option<PageParts>) {
    let Some(recovered) = recovered else { return (shards.iter().map(|_| None).collect(), None) };
    let (feeds, thread, control) = lay_pages(recovered, shards);
    (feeds.into_iter().map(Some).collect(), Some(PageParts { thread, control }))
}

/// Unparks a thread that makes itself known when it starts.
#[derive(Clone, Default)]
pub(crate) struct Unpark(Arc<OnceLock<Thread>>);

impl Unpark {
    /// Called once by the thread itself.
    pub(crate) fn is_me(&self) {
        // Only the one log thread calls this, so the cell is empty.
        let _ = self.0.set(std::thread::current());
    }
}

impl Wake for Unpark {
    fn wake(&self) {
        // Before the thread has started it needs no waking: it looks at its lanes first.
        if let Some(thread) = self.0.get() {
            thread.unpark();
        }
    }
}

fn lay_log(config: &Config, opened: &OpenedLog, shards: &[Bell]) -> (Vec<Option<LogFeed>>, Option<LogParts>) {
    let OpenedLog { writers, readers, opened_by } = opened;
    let unpark = Unpark::default();
    let bell = writers.bell(&unpark);
    let scale_bytes = writers.scale_bytes().unwrap_or(config.limits.log_segment_bytes);
    let shared =
        Arc::new(LogShared::new(shards.len(), scale_bytes, config.limits.log_lane_bytes, config.limits.stall_after()));
    let routes: Vec<StreamRoute> = config
        .streams
        .values()
        .enumerate()
        .map(|(n, stream)| StreamRoute { index: StreamIndex(n as u32), partitions: stream.partitions, key: stream.key })
        .collect();
    let (mut feeds, mut inlets) = (Vec::new(), Vec::new());
    for (shard, shard_bell) in shards.iter().enumerate() {
        let (to_log, inlet): (Lane<LogBatch>, Inlet<LogBatch>) =
            lane(LOG_LANE_BATCHES, shard_bell.clone(), bell.clone());
        let bytes_max = config.limits.log_lane_bytes;
        feeds.push(Some(LogFeed::new(to_log, shared.clone(), shard, routes.clone(), bytes_max)));
        inlets.push(inlet);
    }
    let wiring = LogWiring { inlets, shards: shards.to_vec(), bell: bell.clone(), unpark, shared: shared.clone() };
    let (readers, opened_by) = (readers.clone(), opened_by.clone());
    (feeds, Some(LogParts { wiring, readers, opened_by, shared, bell }))
}

/// For each shard its lanes out and in.
fn lay_mail(config: &Config, bells: &[Bell]) -> Vec<(Post, Vec<LanesIn>)> {
    let batches = config.limits.mailbox_batches as usize;
    let count = bells.len();
    let mut out: Vec<Vec<Option<LanesOut>>> = (0..count).map(|_| (0..count).map(|_| None).collect()).collect();
    let mut inlets: Vec<Vec<LanesIn>> = (0..count).map(|_| Vec::new()).collect();
    for from in 0..count {
        for to in (0..count).filter(|to| *to != from) {
            let (express_out, express) = lane(batches, bells[from].clone(), bells[to].clone());
            let (control_out, control) = lane(batches, bells[from].clone(), bells[to].clone());
            let (publish_out, publish) = lane(batches, bells[from].clone(), bells[to].clone());
            let (direct_out, direct) = lane(batches, bells[from].clone(), bells[to].clone());
            out[from][to] =
                Some(LanesOut { express: express_out, control: control_out, publish: publish_out, direct: direct_out });
            inlets[to].push(LanesIn { from: ShardId(from as u8), express, control, publish, direct });
        }
    }
    let limits = ParcelLimits {
        messages: config.limits.mailbox_batch_messages as usize,
        bytes: config.limits.mailbox_batch_bytes as usize,
    };
    out.into_iter().map(|lanes| Post::new(lanes, limits)).zip(inlets).collect()
}
