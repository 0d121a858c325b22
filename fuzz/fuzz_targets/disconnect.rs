//! Any bytes as a DISCONNECT, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(Disconnect);
