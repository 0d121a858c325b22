//! Any bytes as the envelope of a message of a stream.

#![no_main]

#[path = "../../crates/envelope/tests/oracle/mod.rs"]
mod oracle;

lapwing_fuzz::target!(oracle::check_envelope, oracle::envelope_seeds);
