//! Any bytes as what clients say of themselves: reports, and user properties.

#![no_main]

/// The room of the node itself, without the node: so the fuzzer does not build what it does not look at.
#[allow(dead_code, unused_imports, reason = "the oracle does not look at all of it")]
#[path = "../../crates/node/src/signals/mod.rs"]
mod signals;

#[path = "../../crates/node/src/signals/oracle.rs"]
mod oracle;

lapwing_fuzz::target!(oracle::check);
