//! Subscriptions that are refused.

use lapwing_sn::peer::Event;
use lapwing_sn::{QoS, ReturnCode};

use crate::gateway::Gateway;

/// Is a SUBSCRIBE that was refused asked for once more when it comes again, and one that was granted not?
#[test]
fn section_6_13_a_refused_subscribe_is_new_again() {
    let mut gateway = Gateway::connected();
    let answers =
        [(Err(ReturnCode::CONGESTION), "08 13 00 0000 0007 01"), (Ok(QoS::AtMostOnce), "08 13 00 0001 0007 00")];
    for (granted, answer) in answers {
        let request = gateway.hear("06 12 80 0007 'a'", |event| match event {
            Event::Subscribe { request, .. } => request,
            other => panic!("{other:?}"),
        });
        gateway.act(|client, cx| client.subscribed(request, granted, cx)).unwrap();
        gateway.sent(answer);
    }
    gateway.expect("06 12 80 0007 'a'", Event::Nothing, "08 13 00 0001 0007 00");
}
