//! Any bytes as an AUTH, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(Auth);
