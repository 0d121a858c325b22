//! A whole node on disk, and clients that do anything at any moment, several connections of one client id among them.

#![no_main]

use lapwing_fuzz::oracle::variants::Random;

/// Choices: about fifty steps each.
fn seeds() -> Vec<Vec<u8>> {
    (0..16).map(|seed| Random::new(seed).bytes(400)).collect()
}

lapwing_fuzz::plain_target!(
    |input: &[u8]| {
        if let Err(what) = lapwing_wild::check_bytes(input) {
            panic!("{what}");
        }
    },
    seeds
);
