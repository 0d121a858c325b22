//! Any bytes as a CONNECT, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(Connect);
