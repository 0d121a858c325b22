//! The first bytes of a connection, as a stranger sends them: one by one, and no byte takes a decision back.

use lapwing_codec::{FirstBytes, Limits, Packet, Version, decode, first_bytes};

use crate::allocations;

/// The most that a stranger's CONNECT may have, here: less than the codec's own limit, so that inputs reach it.
const CONNECT_BYTES_MAX: u32 = 300;

/// Reads `input` as the first bytes of a connection, as they come.
///
/// Returns whether they are a CONNECT.
pub fn check_first_bytes(input: &[u8]) -> bool {
    let limits = Limits { packet_bytes_max: CONNECT_BYTES_MAX, ..Limits::default() };
    let mut last = FirstBytes::Wait;
    for length in 0..=input.len() {
        let bytes = &input[..length];
        let (now, used) = allocations::count(|| first_bytes(bytes, &limits));
        assert_eq!(used.calls, 0, "judging allocates nothing");
        check_step(last, now, length);
        check_against_decoder(bytes, now, &limits);
        last = now;
    }
    last == FirstBytes::Connect
}

/// Who waits may wait on or be decided about; a decision stays, and a refusal may learn the version to answer in.
fn check_step(last: FirstBytes, now: FirstBytes, length: usize) {
    let stays = match (last, now) {
        (FirstBytes::Wait, _) | (FirstBytes::Connect, FirstBytes::Connect) => true,
        (FirstBytes::Refuse(before), FirstBytes::Refuse(after)) => {
            before.reason == after.reason && (before.connect.is_none() || before.connect == after.connect)
        }
        _ => false,
    };
    assert!(stays, "{last:?}, then {now:?} at byte {length}");
    // A CONNECT that announces more is refused as soon as that is read.
    assert!(now != FirstBytes::Wait || length < CONNECT_BYTES_MAX as usize, "it waits for ever");
}

/// What the decoder takes is not refused; what is taken is whole; what is refused the decoder refuses, too, once it is whole.
fn check_against_decoder(bytes: &[u8], now: FirstBytes, limits: &Limits) {
    let decoded = decode(bytes, Version::V5, limits);
    match now {
        FirstBytes::Wait => assert!(!matches!(decoded, Ok(Some((Packet::Connect(_), _)))), "a whole CONNECT waits"),
        FirstBytes::Connect => assert!(!matches!(decoded, Ok(None)), "it is not whole"),
        FirstBytes::Refuse(error) => {
            assert!(error.reason.is_error());
            assert!(!matches!(decoded, Ok(Some((Packet::Connect(_), _)))), "a CONNECT is refused: {error:?}");
        }
    }
}
