//! Messages from where nobody is connected: what is answered, and that no answer is: a source may be made up, and be another
//! gateway's address or a gateway's own.

use lapwing_sn::peer::{Client, Context, Event, Predefined, Settings};
use lapwing_sn::{Kind, Message, decode};
use proptest::prelude::*;

use crate::gateway::{Gateway, bytes};
use crate::pool::{messages, pool};

/// What a gateway says to somebody whom it does not know, for one message.
fn answer(message: &Message<'_>) -> Vec<u8> {
    let (settings, predefined, mut out) = (Settings::default(), Predefined::default(), Vec::new());
    let cx = &mut Context { settings: &settings, now_ms: 0, out: &mut out };
    Client::default().handle(message, &predefined, cx).expect("every answer fits");
    out
}

/// Whether a gateway sends it on its own part, or as an answer, to whoever it takes for a client; and a client does not.
fn is_of_a_gateway(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Advertise
            | Kind::GwInfo
            | Kind::ConnAck
            | Kind::WillTopicReq
            | Kind::WillMsgReq
            | Kind::SubAck
            | Kind::UnsubAck
            | Kind::WillTopicResp
            | Kind::WillMsgResp
    )
}

/// Whether it answers another message, whoever says it.
fn is_an_answer(kind: Kind) -> bool {
    matches!(kind, Kind::RegAck | Kind::PubAck | Kind::PubRec | Kind::PubComp | Kind::PingResp)
}

proptest! {
    /// Does what a gateway answers a stranger with end there, if it comes from a stranger itself; and each other answer?
    #[test]
    fn section_5_4_21_no_answer_is_answered(pool in pool()) {
        for message in messages(&pool) {
            let first = answer(&message);
            if is_of_a_gateway(message.kind()) || is_an_answer(message.kind()) {
                prop_assert!(first.is_empty(), "{message:?} is answered by {first:02x?}");
            }
            if !first.is_empty() {
                let again = decode(&first, &Settings::default().limits).expect("an answer is a message").message;
                prop_assert!(answer(&again).is_empty(), "{message:?} is answered by {again:?}, and so is that");
            }
        }
    }
}

#[test]
fn section_5_4_21_a_strangers_end_is_not_answered() {
    assert_eq!(answer(&Message::PingReq(lapwing_sn::PingReq { client_id: None })), bytes("02 18"));
    let mut gateway = Gateway::new();
    gateway.expect("02 18", Event::OutOfState, "");
    gateway.expect("04 18 0064", Event::Unknown, "02 18");
    let mut gateway = Gateway::connected();
    gateway.expect("02 18", Event::Gone, "02 18");
    gateway.expect("02 18", Event::OutOfState, "");
}
