//! The fuzz targets' oracles on a stable compiler, around what is valid and at random.

use lapwing_oracle::allocations::{Counting, assert_installed};
use lapwing_oracle::variants::check_near;

use super::*;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Does every oracle see enough of what is valid, and of what is not?
fn check(target: &str, seeds: &[Vec<u8>], runs: usize, oracle: impl Fn(&[u8]) -> bool) {
    assert_installed();
    let (mut taken, mut others) = (0, 0);
    check_near(target, seeds, runs, |input| if oracle(input) { taken += 1 } else { others += 1 });
    assert!(taken > runs / 100 && others > runs / 20, "{taken} taken, {others} not");
}

#[test]
fn any_proxy_header() {
    check("proxy", &proxy_seeds(), 3_000, check_proxy);
}

#[test]
fn any_head_of_an_upgrade() {
    check("web_head", &head_seeds(), 1_500, check_head);
}

#[test]
fn any_frames() {
    check("web_frames", &frames_seeds(), 3_000, |input| check_frames(input) > 0);
}

/// Few, for each answer takes a signature.
#[test]
fn any_first_bytes_of_tls() {
    check("tls", &tls_seeds(), 150, check_tls);
}

/// Few, for a handshake takes two signatures and four agreements.
#[test]
fn any_datagrams_of_dtls() {
    check("dtls", &dtls_seeds(), 60, check_dtls);
}
