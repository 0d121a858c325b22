//! The streams, `/metrics`, `/healthz` and `/readyz` over plain HTTP on loopback.
//!
//! Rules of this room:
//! - Answers are those of the package, byte by byte: `tests/lapwingd/test_same_answers.py` asks both the same. What a body of a
//!   stream is the node makes for both; what stands here is who asks, what for, and what is refused how.
//! - Health is open; every other path passes the gate, in the order of the package: the name of the listener, pages of other sites,
//!   bodies, who it is, which path, which right. Whoever may not read a stream does not learn that it exists.
//! - One request a connection, a thread each: what follows a request is never another one. No body is ever read.
//! - Everything has a limit: connections, heads, reads at a time and of one identity, failed attempts, the time until a request is
//!   whole, and the pace at which an answer is taken. What is refused is counted, and told in the log at a rate.

mod answer;
mod answering;
mod caller;
mod connection;
mod counters;
mod error;
mod identify;
mod known_callers;
mod names;
mod pace;
mod parameters;
mod places;
mod query;
mod read_places;
mod refusals;
mod request;
mod route;
mod server;
mod settings;
mod streams;
mod text;

pub(crate) use server::Server;
pub(crate) use settings::Settings;
