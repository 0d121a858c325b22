//! The journal against its promises: on a real file system, and on one that loses what was not synced.

mod common;
mod compact;
mod counted;
mod crash;
mod damage;
mod effort;
mod expected;
mod faults;
mod filled;
mod format;
mod full;
mod idle;
mod journal;
mod model;
mod raft;
mod raft_model;
mod received;
mod same_bytes;
#[path = "../store/sim/mod.rs"]
mod sim;
mod snapshot;
mod threads;
