//! A node as a member of a cluster: it keeps a copy of every group's log, and serves when it leads them all.
//!
//! - One thread decides ([`raft_thread`]): the replicas of all groups, their states, connections to the other members. One
//!   beside it writes the log ([`disk`]), one lets clients in and sends them away ([`serving`]).
//! - A state has what is committed *and* on this disk: whatever a shard reads of the log is there.
//! - Shards hand over batches by the same lanes as on a node of its own; one round is one batch of each data group, and is told
//!   as committed when all of them are.
//! - Who lacks what the logs no longer have is sent snapshots, over connections and threads of their own ([`moving`]).
//! - Behind the time that a majority has confirmed no shard answers anybody ([`lease`]).

mod core;
mod disk;
mod door;
mod error;
mod fetch;
mod figures;
mod found;
mod hearing;
mod installing;
mod join;
mod joining;
mod lanes;
mod lease;
mod links;
mod members;
mod moving;
mod news;
mod pace;
mod raft_thread;
mod serving;
mod settings;
mod snapshots;
mod start;
mod status;
mod table;
mod telling;
mod uncommitted;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use lapwing_cluster::{Ending, Entry, Token};
use lapwing_peer::NodeId;
use lapwing_store::random_bytes;
use lapwing_transport::{PeerListener, PeerTls};

use self::core::{Core, Found};
use crate::config::Config;
use crate::event_loop::EventLoop;
use crate::handle::Handle;
use crate::life::Failure;
use crate::metrics::Metric;
use crate::opened_log::{KeptReader, LogReaders, MemberLog};
use crate::replica;
use disk::{Disk, DiskParts};
use door::Order;
use joining::Desk;
use links::Links;
use moving::Moving;
use pace::Pace;
use raft_thread::{Clock, RaftThread, Room, TICK};
use serving::{Current, ServingOrder, ServingThread};

pub(crate) use door::Door;
pub use error::MemberError;
pub use found::{NewCluster, found_cluster, own_files};
pub use join::{JoinError, Joined, NewNode, join_cluster};
pub(crate) use lease::Lease;
pub(crate) use news::features;
pub use serving::MakeExtensions;
pub use settings::MemberConfig;
pub use status::{MemberStatus, NodeStatus};
pub use table::ClusterTable;

/// A running member.
pub struct Member {
    door: Door,
    address: SocketAddr,
    /// What is in its tokens beside a secret: where it is reached, and the authority's fingerprint.
    invites: Option<(String, [u8; 32])>,
    current: Current,
    hindrance: Arc<Mutex<Option<String>>>,
    failure: Arc<Mutex<Option<MemberError>>>,
    serving: Sender<ServingOrder>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Member {
    /// Starts a member on its folder. It serves when it is the one to do so; `make_extensions` makes the user's own code for
    /// each serving.
    ///
    /// # Errors
    /// The folder is no member's or not whole, the address for the others is taken, or its certificate is not its own.
    pub fn start(
        config: Config,
        settings: &MemberConfig,
        make_extensions: MakeExtensions,
    ) -> Result<Member, MemberError> {
        config.check()?;
        settings.check(&config)?;
        let MemberLog { log, mut journal, reader, readers } = MemberLog::open(&config)?;
        let started = replica::start(&mut journal, &reader)?;
        let own = start::own(&config, settings, &started)?;
        let tls = PeerTls::load(&settings.files)?;
        settings::check_certificate(&tls, &own)?;
        let listener = PeerListener::bind(&settings.listen)?;
        let found = Found::of(&started, config.limits.log_snapshot_bytes);
        let replica = start::replicas(&own, settings, &started)?;
        let readers = LogReaders {
            streams: readers,
            kept: Some(KeptReader { reader: reader.clone(), data_groups: started.data_groups.clone() }),
        };
        let event_loop = EventLoop::open()?;
        let dir = config.data_dir.clone().unwrap_or_default();
        let data_groups = started.data_groups;
        let parts = DiskParts { dir: dir.clone(), log, journal, reader: reader.clone(), data_groups };
        let disk = Disk::start(parts, event_loop.bell())?;
        let system = |source| MemberError::System { doing: "watch the address for other nodes", source };
        let tls = Arc::new(tls);
        let links = Links::new(own.node, tls.clone(), listener, event_loop.registry()).map_err(system)?;
        let desk = Desk::new(found::own_authority(&dir, &settings.files.ca, own.cluster)?);
        let moving = Moving::new(own.clone(), tls, reader.clone(), settings.move_bytes_per_s, event_loop.bell());
        let core = Core::new(own, replica, reader, found, desk);
        Self::begin(config, settings.keep_log_bytes, (event_loop, core, links, disk, moving), readers, make_extensions)
    }

    fn begin(
        config: Config,
        keep_log_bytes: u64,
        (event_loop, core, links, disk, moving): (EventLoop, Core, Links, Disk, Moving),
        readers: LogReaders,
        make_extensions: MakeExtensions,
    ) -> Result<Member, MemberError> {
        let (lease, address) = (Arc::new(Lease::new()), links.address());
        let fingerprint = core.desk.authority.as_ref().map(lapwing_authority::Authority::fingerprint);
        let invites = core.own.addresses.first().cloned().zip(fingerprint);
        let pace = Pace::new(&event_loop.bell());
        let (door, orders) = Door::new(event_loop.bell(), pace.bell(), lease.clone());
        let (serving, serving_orders) = channel();
        let (failure, current) = (Arc::<Mutex<Option<MemberError>>>::default(), Current::default());
        let hindrance = Arc::<Mutex<Option<String>>>::default();
        let now = Instant::now();
        let raft_thread = RaftThread {
            event_loop,
            core,
            links,
            disk,
            moving,
            installing: None,
            keep_log_bytes,
            purged: BTreeMap::new(),
            orders,
            serving: serving.clone(),
            lease,
            clock: Clock { next_tick: now + TICK, last_tend: now },
            lanes: None,
            pace,
            is_to_serve: false,
            room: Room::default(),
            is_snapshot_busy: false,
            covered: Vec::new(),
            farewell_in: None,
            stopping_since: None,
        };
        let serving_thread = ServingThread {
            config,
            readers,
            door: door.clone(),
            make_extensions,
            current: current.clone(),
            hindrance: hindrance.clone(),
            failure: failure.clone(),
        };
        let noted = failure.clone();
        let to_serving = serving.clone();
        let raft = move || {
            let note = |error| {
                noted.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            };
            match catch_unwind(AssertUnwindSafe(|| raft_thread.run())) {
                Ok(ended) => ended.unwrap_or_else(note),
                Err(panic) => {
                    // Its state is unknown: the lease has an end of its own, and the serving is told.
                    note(MemberError::Panicked);
                    let _ = to_serving.send(ServingOrder::End(Ending::Unconfirmed));
                    resume_unwind(panic);
                }
            }
        };
        let threads =
            vec![spawn("lapwing-raft", raft)?, spawn("lapwing-serving", move || serving_thread.run(&serving_orders))?];
        Ok(Member { door, address, invites, current, hindrance, failure, serving, threads: Mutex::new(threads) })
    }

    /// Where other nodes reach it, with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The node that serves, while this one does.
    pub fn serving(&self) -> Option<Arc<Handle>> {
        self.current.get()
    }

    /// Where it stands.
    ///
    /// # Errors
    /// `Ended`: it has failed, or ends.
    pub fn status(&self) -> Result<MemberStatus, MemberError> {
        self.door.status()
    }

    /// What it counts, beside what a node counts that serves.
    ///
    /// # Errors
    /// `Ended`.
    pub fn metrics(&self) -> Result<Vec<Metric>, MemberError> {
        Ok(figures::figures(&self.door.status()?))
    }

    /// Lets another node serve: that one, or whichever is furthest; nothing where this one does not.
    ///
    /// # Errors
    /// `NoSuccessor`: there is no other voter to be seen. `NotSuccessor`: the node that is named could not serve. `Ended`.
    pub fn step_down(&self, to: Option<u8>) -> Result<(), MemberError> {
        self.door.status()?.check_successor(to)?;
        self.door.ask(Order::StepDown(to.and_then(NodeId::new)));
        Ok(())
    }

    /// Makes a token, by which one node joins within an hour. Only the node that leads can.
    ///
    /// # Errors
    /// `NotLeader`, `Unsaid`, `Unanswered`; `NoAuthority`: its certificates are of somebody else's authority.
    pub fn make_token(&self) -> Result<Token, MemberError> {
        self.make_token_at(members::wall_ms())
    }

    /// The same by a clock that says so, in milliseconds since the epoch.
    ///
    /// # Errors
    /// As [`Member::make_token`].
    #[doc(hidden)]
    pub fn make_token_at(&self, made_at_ms: u64) -> Result<Token, MemberError> {
        let (address, authority) = self.invites.clone().ok_or(MemberError::NoAuthority)?;
        let secret = random_bytes().map_err(replica::ReplicaError::from)?;
        let token = Token::new(address, authority, secret);
        self.door.say(Entry::TokenMade { secret: token.secret_hash(), made_at_ms })?;
        Ok(token)
    }

    /// Takes a member out of the cluster for ever: it is none when this returns, and is taken out of all groups then. Only the
    /// node that leads can, and not itself.
    ///
    /// # Errors
    /// `NotLeader`, `Unanswered`; `Unsaid`: there is no such member, or too few would be left that are connected.
    pub fn remove(&self, node: u8) -> Result<(), MemberError> {
        self.door.say(Entry::Removed { node: lapwing_cluster::NodeId(node) })
    }

    /// Why it did not serve when it was to, if that was so at the last try; it tries again.
    pub fn hindrance(&self) -> Option<String> {
        self.hindrance.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first thing that has failed; the process is to end then.
    pub fn failure(&self) -> Option<Failure> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        let told =
            |error: &MemberError| Failure { code: error.code(), message: error.to_string(), remedy: error.remedy() };
        failure.as_ref().map(told)
    }

    /// Ends its serving, commits what it can, closes the log. A second call does nothing.
    ///
    /// # Errors
    /// What has failed before, or on the way down.
    pub fn stop(&self) -> Result<(), MemberError> {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        // The thread that serves ends first: what its shards hand over is replicated still.
        for (thread, order) in threads.into_iter().rev().zip([None, Some(Order::Stop)]) {
            match order {
                // It has ended by itself where nobody hears that.
                None => drop(self.serving.send(ServingOrder::Stop)),
                Some(order) => self.door.ask(order),
            }
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
        }
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(()), Err)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // Whoever wants to hear of a failure has asked for it.
        let _ = self.stop();
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, MemberError> {
    let spawned = Builder::new().name(name.into()).spawn(work);
    spawned.map_err(|source| MemberError::System { doing: "start a thread", source })
}
