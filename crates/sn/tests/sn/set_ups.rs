//! CONNECTs whose will cannot be, whose client goes before it is answered, or has not heard its answer.

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

/// Is a client that came back from sleep, and says so again because its CONNACK was lost, still there, without another session?
#[test]
fn section_6_14_a_return_whose_connack_was_lost_is_one_again() {
    let mut gateway = Gateway::connected();
    gateway.expect("04 18 0064", Event::Asleep, "02 18");
    for _ in 0..2 {
        gateway.expect("09 04 00 01 003C 'abc'", Event::Returned, "03 05 00");
    }
    assert_eq!(gateway.client.phase(), Phase::Active);
    gateway.expect("02 16", Event::Nothing, "02 17");
    gateway.hear("09 04 00 01 003C 'abc'", |event| assert!(matches!(event, Event::Connect { .. }), "it begins anew"));
    for other in ["09 04 04 01 003C 'abc'", "09 04 00 01 003C 'xyz'"] {
        let mut gateway = Gateway::connected();
        gateway.expect("04 18 0064", Event::Asleep, "02 18");
        gateway.expect("09 04 00 01 003C 'abc'", Event::Returned, "03 05 00");
        gateway.hear(other, |event| assert!(matches!(event, Event::Connect { .. }), "{other}"));
    }
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

/// Does a late copy of the CONNECT of a clean session end nothing that its client has begun since; is another CONNECT none; and is a
/// client that begins anew served when that time is over, however often it has said so?
#[test]
fn section_6_13_a_late_copy_of_a_clean_connect_ends_nothing() {
    let connect = "09 04 04 01 003C 'abc'";
    let used = || {
        let mut gateway = Gateway::connected();
        gateway.connect(connect);
        gateway.expect("02 16", Event::Nothing, "02 17");
        gateway
    };
    let mut gateway = used();
    for now_ms in [1, 2_500, 4_999] {
        gateway.now_ms = now_ms;
        gateway.expect(connect, Event::Nothing, "");
        assert_eq!(gateway.client.phase(), Phase::Active);
    }
    gateway.now_ms = 5_000;
    gateway.connect(connect);
    for other in ["09 04 00 01 003C 'abc'", "09 04 04 01 003D 'abc'", "09 04 04 01 003C 'xyz'"] {
        used().connect(other);
    }
    used().expect("09 04 0C 01 003C 'abc'", Event::Nothing, "02 06");
    let mut gateway = used();
    gateway.expect("04 18 0064", Event::Asleep, "02 18");
    gateway.connect(connect);
}
