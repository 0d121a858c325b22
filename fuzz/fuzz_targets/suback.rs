//! Any bytes as a SUBACK, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(SubAck);
