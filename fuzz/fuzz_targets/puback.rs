//! Any bytes as a PUBACK, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(PubAck);
