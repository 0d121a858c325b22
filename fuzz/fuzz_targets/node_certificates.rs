//! Any bytes as the certificate of a node, or as the request for one.

#![no_main]

#[path = "../../crates/authority/tests/oracle/mod.rs"]
mod oracle;

lapwing_fuzz::target!(oracle::check_certificates, oracle::certificates_seeds);
