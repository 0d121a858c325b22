//! Any bytes as a stream of packets of any type.

#![no_main]

lapwing_fuzz::target!(lapwing_fuzz::oracle::packet::check_stream);
