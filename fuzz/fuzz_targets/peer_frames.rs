//! Any bytes as what comes on a connection between two nodes of a cluster.

#![no_main]

#[path = "../../crates/peer/tests/peer/oracle.rs"]
mod oracle;

lapwing_fuzz::target!(oracle::check_frames, oracle::frames_seeds);
