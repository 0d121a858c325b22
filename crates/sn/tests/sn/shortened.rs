//! Messages whose end is missing, with a length that says so truly: is each a shorter message, or an error in its place?

use lapwing_sn::{Limits, Reason, decode};

use crate::oracle::{Outcome, check_datagram, datagram_seeds};

/// Does every shorter form of a message keep to the oracle, and is every error within it?
#[test]
fn section_5_2_1_a_shorter_message_with_a_true_length() {
    let (mut accepted, mut refused) = (0, 0);
    // Those whose length is one byte and counts everything.
    for seed in datagram_seeds().into_iter().filter(|seed| seed[1] > 1 && seed[2] != 0xFE) {
        for len in 2..seed.len() - 1 {
            let mut shorter = seed[..=len].to_vec();
            shorter[1] = len as u8;
            match check_datagram(&shorter) {
                Outcome::Accepted => accepted += 1,
                Outcome::Answered | Outcome::Refused => refused += 1,
            }
        }
    }
    assert!(accepted > 50 && refused > 200, "{accepted} {refused}");
}

/// Is every datagram that ends before its length does cut short, and one that goes on too long?
#[test]
fn section_5_2_1_a_message_with_another_length() {
    for seed in datagram_seeds() {
        let datagram = &seed[1..];
        for len in 0..datagram.len() {
            let error = decode(&datagram[..len], &Limits::default()).unwrap_err();
            assert_eq!((error.reason, error.at, error.answer), (Reason::CutShort, len, None), "{seed:x?} of {len}");
        }
        let error = decode(&[datagram, &[0]].concat(), &Limits::default()).unwrap_err();
        assert_eq!((error.reason, error.at), (Reason::TrailingBytes, datagram.len()), "{seed:x?}");
    }
}
