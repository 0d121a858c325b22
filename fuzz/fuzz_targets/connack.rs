//! Any bytes as a CONNACK, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(ConnAck);
