//! The fuzz targets' oracles on a stable compiler: any bytes are packets or a `ProtocolError`, and nothing is allocated.

use lapwing_oracle::allocations::{self, Counting};
use lapwing_oracle::first_bytes::check_first_bytes;
use lapwing_oracle::packet::{check_kind, check_stream};
use lapwing_oracle::variants::{check_around, check_near, seeds};
use lapwing_oracle::wire::Kind;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Does each packet type hold, around the kept inputs and at random?
#[test]
fn any_body_of_each_packet_type() {
    allocations::assert_installed();
    for kind in Kind::ALL {
        let (mut accepted, mut refused) = (0, 0);
        check_around(&kind.name(), 3_000, |input| {
            let outcome = check_kind(kind, input);
            accepted += outcome.accepted;
            refused += usize::from(outcome.refused);
        });
        assert!(accepted > 100 && refused > 100, "{kind:?}: {accepted} accepted, {refused} refused");
    }
}

/// Does a stream of packets?
#[test]
fn any_stream_of_packets() {
    allocations::assert_installed();
    let mut accepted = 0;
    check_around("decode", 20_000, |input| accepted += check_stream(input).accepted);
    assert!(accepted > 1_000, "{accepted} accepted");
}

/// Does no byte of a stranger take a decision back?
#[test]
fn any_first_bytes() {
    allocations::assert_installed();
    // Inputs of those targets have a byte of choices, or the level, before the packets.
    let seeds: Vec<_> =
        ["connect", "decode"].into_iter().flat_map(seeds).map(|seed| seed[1.min(seed.len())..].to_vec()).collect();
    let mut taken = 0;
    check_near("first_bytes", &seeds, 3_000, |input| taken += usize::from(check_first_bytes(input)));
    assert!(taken > 10, "{taken} taken");
}
