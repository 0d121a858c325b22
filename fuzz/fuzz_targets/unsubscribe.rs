//! Any bytes as an UNSUBSCRIBE, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(Unsubscribe);
