//! A whole node on disk, and clients that do anything at any moment, several connections of one client id among them.

#![no_main]

lapwing_fuzz::libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(what) = lapwing_wild::check_bytes(input) {
        panic!("{what}");
    }
});
