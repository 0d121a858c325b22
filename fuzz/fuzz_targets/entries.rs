//! Any bytes as entries of a data group, one after another.

#![no_main]

/// What the tests of the room share: histories, of which the seeds are made, and what is asked of a state.
#[allow(dead_code, unused_imports, reason = "the tests of the room ask more")]
#[path = "../../crates/ledger/tests/ledger/histories.rs"]
mod histories;
#[allow(dead_code, unused_imports, reason = "the tests of the room ask more")]
#[path = "../../crates/ledger/tests/ledger/model.rs"]
mod model;
#[path = "../../crates/ledger/tests/ledger/operation.rs"]
mod operation;
#[allow(dead_code, reason = "the other target asks it")]
#[path = "../../crates/ledger/tests/ledger/oracle.rs"]
mod oracle;
#[allow(dead_code, unused_imports, reason = "the tests of the room ask more")]
#[path = "../../crates/ledger/tests/ledger/picture.rs"]
mod picture;
#[path = "../../crates/ledger/tests/ledger/random.rs"]
mod random;
#[allow(dead_code, unused_imports, reason = "the tests of the room ask more")]
#[path = "../../crates/ledger/tests/ledger/snapshots.rs"]
mod snapshots;

lapwing_fuzz::target!(oracle::check_entries, oracle::entries_seeds);
