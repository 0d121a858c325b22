//! Does every message that we write come back equal, and is its length known beforehand?

use std::collections::HashSet;

use lapwing_sn::{Datagram, EncodeError, Kind, Limits, Message, decode};
use proptest::prelude::*;

use crate::pool::{Pool, messages, pool};

fn check(datagram: Datagram<'_>, limits: &Limits) -> Result<(), TestCaseError> {
    let mut out = vec![0xAA];
    let len = datagram.encode(limits, &mut out).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!((len, datagram.encoded_len()), (out.len() - 1, out.len() - 1));
    prop_assert_eq!(decode(&out[1..], limits), Ok(datagram));
    Ok(())
}

fn check_kind(pool: &Pool, is_meant: impl Fn(Kind) -> bool) -> Result<(), TestCaseError> {
    let mut met = 0;
    for message in messages(pool).into_iter().filter(|message| is_meant(message.kind())) {
        met += 1;
        check(Datagram { forwarding: None, message }, &Limits::default())?;
        check(Datagram { forwarding: pool.forwarding(), message }, &Limits::PROTOCOL)?;
    }
    prop_assert!(met > 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sections_5_4_1_to_3_gateways(pool in pool()) {
        check_kind(&pool, |kind| kind.value() <= 0x02)?;
    }

    #[test]
    fn sections_5_4_4_to_9_connections_and_wills(pool in pool()) {
        check_kind(&pool, |kind| (0x04..=0x09).contains(&kind.value()))?;
    }

    #[test]
    fn sections_5_4_10_and_11_registrations(pool in pool()) {
        check_kind(&pool, |kind| matches!(kind, Kind::Register | Kind::RegAck))?;
    }

    #[test]
    fn section_5_4_12_publish(pool in pool()) {
        check_kind(&pool, |kind| kind == Kind::Publish)?;
    }

    #[test]
    fn sections_5_4_13_and_14_acknowledgements(pool in pool()) {
        check_kind(&pool, |kind| (0x0D..=0x10).contains(&kind.value()))?;
    }

    #[test]
    fn sections_5_4_15_to_18_subscriptions(pool in pool()) {
        check_kind(&pool, |kind| (0x12..=0x15).contains(&kind.value()))?;
    }

    #[test]
    fn sections_5_4_19_to_25_pings_ends_and_updates(pool in pool()) {
        check_kind(&pool, |kind| kind.value() >= 0x16)?;
    }

    /// Is what is larger than the limit an error with its size, and what is as large written?
    #[test]
    fn section_5_2_1_a_limit_is_kept(pool in pool()) {
        for message in messages(&pool) {
            let datagram = Datagram { forwarding: pool.forwarding(), message };
            let len = datagram.encoded_len();
            let limits = Limits { datagram_bytes_max: len as u16, ..Limits::PROTOCOL };
            check(datagram, &limits)?;
            let (max, mut out) = (len - 1, Vec::new());
            let limits = Limits { datagram_bytes_max: max as u16, ..limits };
            let refused = datagram.encode(&limits, &mut out);
            prop_assert!(matches!(refused, Err(EncodeError::TooLarge { .. })), "{:?}", refused);
            prop_assert!(out.is_empty());
        }
    }
}

/// Are the random messages of every type that there is?
#[test]
fn section_5_2_2_every_type_is_met() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let pool = pool().new_tree(&mut runner).expect("nothing is filtered").current();
    let met: HashSet<Kind> = messages(&pool).iter().map(Message::kind).collect();
    assert!(Kind::all().all(|kind| met.contains(&kind)), "{met:?}");
}
