//! CONNECTs that come to nothing: whose will cannot be, and who goes before it is answered.

use lapwing_sn::ReturnCode;
use lapwing_sn::peer::{Client, Context, Event, Phase};

use crate::gateway::Gateway;

/// Is a CONNECT over whose will cannot be, and nothing refused where none was asked for?
#[test]
fn section_6_2_a_set_up_is_refused() {
    let mut gateway = Gateway::new();
    let refuse = |client: &mut Client, cx: &mut Context<'_>| client.refuse_setup(ReturnCode::NOT_SUPPORTED, cx);
    assert_eq!(gateway.act(refuse), Ok(false));
    gateway.expect("09 04 0C 01 003C 'abc'", Event::Nothing, "02 06");
    assert!(gateway.client.is_setting_up());
    assert_eq!(gateway.act(refuse), Ok(true));
    gateway.sent("03 05 03");
    assert!(!gateway.client.is_setting_up());
    gateway.expect("04 07 30 'w'", Event::OutOfState, "");
}

/// Is a client that says DISCONNECT before its CONNACK gone, whatever it was asked for, and nobody's session opened?
#[test]
fn section_6_12_disconnect_ends_a_connect_that_is_not_answered() {
    for (connect, answer) in [("09 04 0C 01 003C 'abc'", "02 06"), ("09 04 04 01 003C 'abc'", "")] {
        let mut gateway = Gateway::new();
        gateway.hear(connect, |_| ());
        gateway.sent(answer);
        gateway.expect("02 18", Event::Gone, "02 18");
        gateway.expect("04 07 30 'w'", Event::OutOfState, "");
        assert_eq!(gateway.act(|client, cx| client.opened(ReturnCode::ACCEPTED, cx)), Ok(false));
        assert_eq!(gateway.client.phase(), Phase::Disconnected);
        gateway.sent("");
    }
}
