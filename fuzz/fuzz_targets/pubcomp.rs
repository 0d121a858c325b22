//! Any bytes as a PUBCOMP, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(PubComp);
