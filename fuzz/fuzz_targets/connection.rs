//! Whole connections of one client id, one after another: bytes, deliveries, commits, time and breaks in any order.

#![no_main]

lapwing_fuzz::target!(lapwing_fuzz::oracle::connection::check_connections);
