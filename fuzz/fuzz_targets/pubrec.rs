//! Any bytes as a PUBREC, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(PubRec);
