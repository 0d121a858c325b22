//! Any bytes as the first of a connection, one by one.

#![no_main]

use lapwing_fuzz::oracle::first_bytes::check_first_bytes;
use lapwing_fuzz::oracle::variants::seeds;

lapwing_fuzz::target!(check_first_bytes, || {
    // Of that target, whose inputs have the level before the packets.
    seeds("decode").into_iter().filter_map(|seed| seed.split_first().map(|(_, packets)| packets.to_vec())).collect()
});
