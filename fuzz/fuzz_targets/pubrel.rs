//! Any bytes as a PUBREL, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(PubRel);
