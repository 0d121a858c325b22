//! Any rules and users, and anybody who asks.

#![no_main]

#[path = "../../crates/access/tests/any_bytes/naive.rs"]
mod naive;
#[path = "../../crates/access/tests/any_bytes/oracle.rs"]
mod oracle;

lapwing_fuzz::target!(oracle::check_access, oracle::access_seeds);
