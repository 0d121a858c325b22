//! The node: threads, sockets, sessions, routes and streams composed into a broker.
//!
//! Rules of this room:
//! - One shard per core: a pinned thread with its own event loop, clients, filter tree and retained topics. What a shard
//!   owns nobody else touches; shards talk through mailboxes only. There is no lock on a message's path.
//! - A client lives on the shard of its id's slot. Its connection is accepted anywhere and moves there once, after its
//!   CONNECT was read; so takeover and everything of a session is local.
//! - Everything is done in batches: a turn of the loop reads what is there, handles every whole packet, sends one parcel
//!   per other shard, hands one batch to the log, and flushes each touched connection once.
//! - Every queue is bounded. What finds no room holds its cause back: a connection that publishes is not read on. What
//!   has no cause to hold back (wills, answers) waits in small queues.
//! - The rooms below know nothing of each other: `codec` reads bytes, `session` decides, `router` matches, `store`
//!   keeps; here they are joined, and only here.
//! - A peer's bytes can close its own connection and nothing else. A panic is a defect: it stops the node, loudly.

mod assemble;
mod audit;
mod clock;
mod config;
mod data_groups;
mod descriptors;
mod desk;
mod doors;
mod entrance;
mod error;
mod event_loop;
mod events;
mod extensions;
mod file_digest;
mod file_rights;
mod group_book;
mod group_declarations;
mod group_pages;
mod group_reports;
mod group_tables;
mod handle;
mod handshakes;
mod holder;
mod hooks;
mod identity_shares;
pub mod inspect;
mod life;
mod listeners;
mod little_spare;
mod log;
mod mail;
mod mailbox;
mod member;
mod memory;
mod metrics;
mod niceness;
mod note;
mod notices;
mod one_line;
mod opened_log;
mod passwords;
mod placement;
mod queue_pages;
mod reload;
mod replica;
mod reserved_room;
mod retained_holders;
mod retained_share;
mod secrets;
mod session_pages;
mod session_reports;
mod session_rows;
mod shard;
mod shard_set;
mod shared;
mod side_thread;
mod signals;
mod slot;
mod sn;
mod stamps;
mod start_pages;
mod start_progress;
mod strangers;
mod strategies;
mod streams;
mod sys;
mod table_key;
mod timers;
mod times_free;
mod token_keys;
mod topic_book;
mod wall_time;
mod words;

pub use config::{
    Acknowledges, AuditConfig, AuditFailure, ClientCertificateMode, Config, DEADLINE_MS_MAX, DispatchConfig,
    EnvelopeConfig, EventsConfig, Expired, GROUP_TABLES_MAX, GroupConfig, GroupRule, GuessesConfig, HooksConfig,
    IdentitySource, Limits, ListenerConfig, OnFailure, Overflow, PredefinedTopic, Priority, QueuePolicy, SnConfig,
    StampPolicy, StreamConfig, StreamKey, SysConfig, check_access, default_tables_json, dispatch_table_json, for_share,
};
pub use entrance::{Entrance, NO_LISTENER, TokensTaken, Unguarded, unseen_in_name, users_notice};
pub use error::NodeError;
pub use extensions::{Extensions, OnBound};
pub use file_digest::files_digest;
pub use file_rights::{
    Believed, FileFault, Looked, Trusted, believed_files, is_private_group, kind_at, look_at_files, made_files,
    strange_kind,
};
pub use group_pages::{GroupPage, GroupQuery};
pub use handle::{Ban, Handle, Hindrance, HttpClaim, Identified, LogLine};
pub use hooks::{
    AuthCall, ConnectCall, HookAnswer, HookCall, HookClient, HookFailure, HookMessage, HookName, Hooks, Interests,
    SubscribeCall,
};
pub use lapwing_access::Right;
pub use lapwing_codec::{QoS, ReasonCode, RetainHandling, SubscriptionOptions};
pub use lapwing_store::{ReadBy, ReaderInfo};
pub use lapwing_transport::{CertificateTimes, WeakRsaKey, certificate_times, weak_rsa_key};
pub use life::Failure;
pub use member::{
    ClusterTable, JoinError, Joined, MakeExtensions, Member, MemberConfig, MemberError, MemberStatus, NewCluster,
    NewNode, NodeStatus, found_cluster, join_cluster, own_files,
};
pub use memory::memory_notices;
pub use metrics::{Metric, MetricKind, to_text as metrics_text};
pub use one_line::{is_hidden, one_line};
pub use opened_log::{NotServed, OpenLog, OpenedLog};
pub use placement::{NodeId, Owner, Placement};
#[doc(hidden)]
pub use replica::found_together;
pub use session_pages::{SessionOrder, SessionQuery};
pub use session_reports::Emptied;
pub use session_rows::{SessionList, SessionShown};
pub use slot::{DATA_GROUPS, SLOTS, ShardId, Slot, stable_hash};
pub use start_pages::give_back_start;
pub use start_progress::StartProgress;
pub use strategies::{
    ClientNames, DeferredCounters, MemberState, Question, Strategies, Strategist, Strategy, StrategyAsk, StrategyDesk,
    StrategyError, StrategyFailure, StrategyHandle, Trial, TrialMember, TrialReport, Verdict,
};
pub use streams::{ArrowRead, StreamReadError, Streams};
pub use wall_time::WallTime;
