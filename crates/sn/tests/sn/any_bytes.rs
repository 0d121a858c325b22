//! The fuzz target's oracle on a stable compiler: any bytes are a message or an error, and nothing is allocated.

use lapwing_oracle::allocations::assert_installed;
use lapwing_oracle::variants::check_near;
use lapwing_sn::{Limits, decode};

use crate::oracle::{Outcome, check_datagram, datagram_seeds};

/// Does every datagram decode to what encodes to the same, or to an error with its place?
#[test]
fn any_datagram() {
    assert_installed();
    let (mut accepted, mut answered, mut refused) = (0, 0, 0);
    check_near("sn", &datagram_seeds(), 20_000, |input| match check_datagram(input) {
        Outcome::Accepted => accepted += 1,
        Outcome::Answered => answered += 1,
        Outcome::Refused => refused += 1,
    });
    assert!(accepted > 1_000 && answered > 100 && refused > 1_000, "{accepted} {answered} {refused}");
}

/// Are the seeds what they are meant to be: messages of every type, and none that the limits of a broker refuse?
#[test]
fn seeds_are_messages() {
    let mut kinds = std::collections::HashSet::new();
    for seed in datagram_seeds() {
        let datagram = decode(&seed[1..], &Limits::default()).unwrap_or_else(|error| panic!("{seed:x?}: {error}"));
        kinds.insert(datagram.message.kind());
    }
    assert!(kinds.len() >= 25, "{kinds:?}");
}

/// Every datagram of up to three bytes, without chance.
#[test]
fn all_short_datagrams() {
    let mut accepted = 0;
    for first in 0..=255 {
        for second in 0..=255 {
            accepted += usize::from(check_datagram(&[0, first, second]) == Outcome::Accepted);
            for third in [0, 1, 2, 0x20, b'a', 0x80, 0xFF] {
                accepted += usize::from(check_datagram(&[0, first, second, third]) == Outcome::Accepted);
            }
        }
    }
    assert!(accepted > 20, "{accepted}");
}
