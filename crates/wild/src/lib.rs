//! Clients that do anything at any moment, against a whole node on disk: for tests on a stable compiler and for the fuzzer.
//!
//! Rules of this room:
//! - Nothing of the broker depends on it. It knows the node as a peer does: bytes over sockets, and whether it has failed.
//! - What is done comes from bytes alone ([`action`]); a seed stands for many of them. When which shard does what is the
//!   machine's affair, so the same bytes need not end the same way twice, and nothing is judged that depends on it.
//! - Packets are written without waiting for what they bring, so that connections of one client id meet in every moment:
//!   this is what the model test (`crates/node/tests/model`), which settles after each step, cannot reach.
//! - The oracle ([`books`]) says what can never be right, whatever the order was: see there.
//! - A failure is an `Err` with the step, never a panic, so that whoever runs this can print what was done.
//!
//! [`client`] is one connection, [`witness`] a client with a kept session that nobody disturbs, [`run`] does the actions,
//! [`disk`] makes every sync take its time. The node runs in this process, or as `lapwing broker` in one of its own that is
//! killed between two steps ([`run::Arrangement`]).

#![forbid(unsafe_code)]

pub mod action;
pub mod books;
mod choices;
pub mod client;
pub mod disk;
mod folder;
mod hearing;
pub mod id_books;
mod place;
mod process;
pub mod run;
mod traffic;
pub mod witness;

pub use action::{Step, steps};
pub use run::{Arrangement, SMALLEST_MAILBOXES, Story, check, check_bytes, run};
