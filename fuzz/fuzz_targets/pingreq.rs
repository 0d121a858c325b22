//! Any bytes as a PINGREQ, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(PingReq);
