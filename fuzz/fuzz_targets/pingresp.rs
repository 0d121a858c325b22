//! Any bytes as a PINGRESP, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(PingResp);
