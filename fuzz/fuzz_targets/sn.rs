//! Any bytes as a datagram of MQTT-SN.

#![no_main]

#[path = "../../crates/sn/tests/sn/oracle.rs"]
mod oracle;

lapwing_fuzz::target!(oracle::check_datagram, oracle::datagram_seeds);
