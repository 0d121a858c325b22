//! Any bytes as an UNSUBACK, in both versions.

#![no_main]

lapwing_fuzz::packet_target!(UnsubAck);
