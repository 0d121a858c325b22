//! Any bytes as a SUBSCRIBE, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(Subscribe);
