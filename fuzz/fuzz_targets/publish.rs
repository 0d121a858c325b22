//! Any bytes as a PUBLISH, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(Publish);
