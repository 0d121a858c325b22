//! Hooks that judge who comes in.

use std::sync::{Arc, Mutex};

use lapwing_codec::{Connect, Packet, ReasonCode, Version};
use lapwing_node::{HookAnswer, HookCall, HookName};

use crate::client::Client;
use crate::hook_double::{Barrier, Double, node};
use crate::packets::{self, ConnectExt, lasting};
use crate::{ids_on_both_shards, metric};

/// Sends a CONNECT; the reason in the CONNACK.
fn knock(node: &lapwing_node::Handle, packet: &Connect<'_>) -> (Client, ReasonCode) {
    let mut client = Client::open(node);
    client.version = packet.version;
    client.send(&Packet::Connect(*packet));
    let reason = client.expect("CONNACK", |packet| match packet {
        Packet::ConnAck(ack) => Some(ack.reason),
        _ => None,
    });
    (client, reason)
}

fn with_name<'a>(id: &'a str, name: &'a str) -> Connect<'a> {
    Connect { username: Some(name), password: Some(b"secret"), ..packets::connect(id) }
}

/// Is a client let in, named or refused as the hook says, on either shard and in both versions?
#[test]
fn a_client_is_let_in_or_refused() {
    let names = Arc::new(Mutex::new(Vec::new()));
    let seen = names.clone();
    let hooks = Double::new(&[HookName::Connect, HookName::Connected], move |call| match call {
        HookCall::Connect(call) => match call.username.as_deref() {
            Some("eve") => HookAnswer::Refuse { reason: ReasonCode::Banned, text: Some("not you".into()) },
            Some(name) if call.password.as_deref() == Some(b"secret") => HookAnswer::Admit(Some(name.into())),
            _ => HookAnswer::Pass,
        },
        HookCall::Connected { client, .. } => {
            seen.lock().unwrap().push(client.identity.as_deref().map(str::to_owned));
            HookAnswer::Pass
        }
        other => panic!("{other:?}"),
    });
    let node = node(r#"{"shards": 2}"#, hooks);
    for id in ids_on_both_shards() {
        for (version, refused) in [(Version::V5, ReasonCode::Banned), (Version::V311, ReasonCode::NotAuthorized)] {
            let (mut eve, reason) = knock(&node, &with_name(&id, "eve").in_version(version));
            assert_eq!(reason, refused, "{version:?}");
            eve.expect_end(None);
            assert_eq!(knock(&node, &with_name(&id, "bob").in_version(version)).1, ReasonCode::Success);
            assert_eq!(knock(&node, &packets::connect(&id).in_version(version)).1, ReasonCode::Success);
        }
    }
    crate::eventually("all are told", || names.lock().unwrap().len() == 8);
    assert_eq!(names.lock().unwrap().iter().flatten().filter(|name| **name == "bob").count(), 4);
    assert_eq!(metric(&node, "lapwing_hook_refusals_total", "on_connect"), 4);
}

/// Is nobody let in under a name that is too long to be kept with a session, and is that counted?
#[test]
fn a_name_is_as_long_as_a_session_can_keep_it() {
    let dir = tempfile::tempdir().unwrap();
    let json = format!(r#"{{"shards": 1, "data_dir": {:?}}}"#, dir.path());
    let hooks = Double::new(&[HookName::Connect], |call| match call {
        HookCall::Connect(call) => HookAnswer::Admit(call.username.as_deref().map(Into::into)),
        other => panic!("{other:?}"),
    });
    let node = node(&json, hooks);
    let named = |name: &'static str| Connect { username: Some(name), ..lasting("x") };
    let longest: &'static str = "n".repeat(1023).leak();
    assert_eq!(knock(&node, &named(longest)).1, ReasonCode::Success);
    let shown = node.session("x", 0).expect("the node answers").expect("it is there").session;
    assert!(shown.contains(r#""is_durable":true"#), "{shown}");
    assert_eq!(metric(&node, "lapwing_not_authorized_total", "identity"), 0);
    assert_eq!(knock(&node, &named("n".repeat(1024).leak())).1, ReasonCode::NotAuthorized);
    assert_eq!(metric(&node, "lapwing_not_authorized_total", "identity"), 1);
}

/// Has a client without an id the one that the hook was told, and what follows its CONNECT at once waits in order?
#[test]
fn an_assigned_id_is_the_one_that_was_judged() {
    let ids = Arc::new(Mutex::new(Vec::new()));
    let seen = ids.clone();
    let node = node(
        r#"{"shards": 2}"#,
        Double::new(&[HookName::Connect], move |call| {
            let HookCall::Connect(call) = call else { panic!("{call:?}") };
            seen.lock().unwrap().push(call.client.client_id.to_string());
            HookAnswer::Pass
        }),
    );
    for n in 0..8 {
        let mut client = Client::open(&node);
        let mut bytes = Vec::new();
        Packet::Connect(packets::connect("")).encode(Version::V5, &mut bytes).unwrap();
        Packet::PingReq.encode(Version::V5, &mut bytes).unwrap();
        client.send_bytes(&bytes);
        let id = client.expect("CONNACK", |packet| match packet {
            Packet::ConnAck(ack) => ack.properties.assigned_client_id.map(str::to_owned),
            _ => None,
        });
        client.expect("PINGRESP", |packet| matches!(packet, Packet::PingResp).then_some(()));
        assert_eq!(ids.lock().unwrap()[n], id);
        assert_eq!(ids.lock().unwrap().len(), n + 1, "asked once");
    }
}

/// Does a client keep its connection and session while somebody with its id is judged, and for good if he is refused?
#[test]
fn nothing_is_taken_over_before_the_verdict() {
    let barrier = Barrier::default();
    let held = barrier.clone();
    let node = node(
        r#"{"shards": 2, "hooks": {"timeout_ms": 60000}}"#,
        Double::new(&[HookName::Connect], move |call| {
            let HookCall::Connect(call) = call else { panic!("{call:?}") };
            match call.username.as_deref() {
                Some("thief") => {
                    held.pass();
                    HookAnswer::Refuse { reason: ReasonCode::NotAuthorized, text: None }
                }
                _ => HookAnswer::Pass,
            }
        }),
    );
    let (mut owner, reason) = knock(&node, &lasting("x"));
    assert_eq!(reason, ReasonCode::Success);
    let mut thief = Client::open(&node);
    thief.send(&Packet::Connect(Connect { clean_start: true, ..with_name("x", "thief") }));
    barrier.somebody_waits();
    owner.publish_acked("t", b"");
    barrier.open();
    assert_eq!(
        thief.expect("CONNACK", |packet| match packet {
            Packet::ConnAck(ack) => Some(ack.reason),
            _ => None,
        }),
        ReasonCode::NotAuthorized
    );
    owner.publish_acked("t", b"");
}

/// Does the time for a CONNECT cover the wait for its verdict, however patient the hooks are?
#[test]
fn the_connect_timeout_covers_the_wait() {
    let barrier = Barrier::default();
    let held = barrier.clone();
    let json = r#"{"shards": 1, "limits": {"connect_timeout_ms": 2000}, "hooks": {"timeout_ms": 60000}}"#;
    let node = node(
        json,
        Double::new(&[HookName::Connect], move |_| {
            held.pass();
            HookAnswer::Pass
        }),
    );
    let mut client = Client::open(&node);
    client.send(&Packet::Connect(packets::connect("x")));
    client.expect_end(None);
    assert_eq!(metric(&node, "lapwing_connections_closed_total", "connect_timeout"), 1);
    barrier.open();
    assert_eq!(knock(&node, &packets::connect("y")).1, ReasonCode::Success, "its late answer concerns nobody else");
}

mod authentication {
    use lapwing_codec::{Auth, AuthProperties, ConnectProperties, Disconnect, Limits, Version, decode};
    use lapwing_node::{AuthCall, Handle};

    use super::*;

    /// A method of two steps: the client says its name, hears a number, and answers with both.
    fn answer(call: &AuthCall) -> HookAnswer {
        let refuse = |reason| HookAnswer::Refuse { reason, text: None };
        match (call.method.as_str(), call.is_first, call.data.as_deref()) {
            ("two-steps", true, Some(name)) => HookAnswer::Continue(Some([name, b"?"].concat().into())),
            ("two-steps", false, Some(b"bob!")) => {
                HookAnswer::Success { data: Some(b"welcome".as_slice().into()), identity: Some("bob".into()) }
            }
            ("two-steps", false, Some(b"eve!")) => HookAnswer::Success { data: None, identity: Some("eve".into()) },
            ("fails", ..) => HookAnswer::Failed,
            ("two-steps", ..) => refuse(ReasonCode::NotAuthorized),
            _ => refuse(ReasonCode::BadAuthenticationMethod),
        }
    }

    fn hooked(json: &str) -> (Handle, Arc<Mutex<Vec<Option<String>>>>) {
        let names = Arc::new(Mutex::new(Vec::new()));
        let seen = names.clone();
        let hooks = Double::new(&[HookName::Auth, HookName::Connect], move |call| match call {
            HookCall::Auth(call) => answer(call),
            HookCall::Connect(call) => {
                seen.lock().unwrap().push(call.client.identity.as_deref().map(str::to_owned));
                HookAnswer::Pass
            }
            other => panic!("{other:?}"),
        });
        (node(json, hooks), names)
    }

    fn connect<'a>(id: &'a str, method: &'a str, data: &'a [u8]) -> Packet<'a> {
        let properties =
            ConnectProperties { auth_method: Some(method), auth_data: Some(data), ..ConnectProperties::default() };
        Packet::Connect(Connect { properties, ..packets::connect(id) })
    }

    fn auth<'a>(reason: ReasonCode, method: &'a str, data: &'a [u8]) -> Packet<'a> {
        let properties =
            AuthProperties { auth_method: Some(method), auth_data: Some(data), ..AuthProperties::default() };
        Packet::Auth(Auth { reason, properties })
    }

    /// The data of the next packet, which must be an AUTH with this reason.
    fn expect_auth(client: &mut Client, reason: ReasonCode) -> Vec<u8> {
        client.expect("AUTH", |packet| match packet {
            Packet::Auth(auth) if auth.reason == reason && auth.properties.auth_method == Some("two-steps") => {
                Some(auth.properties.auth_data.unwrap_or_default().to_vec())
            }
            _ => None,
        })
    }

    fn expect_connack(client: &mut Client) -> (ReasonCode, Option<Vec<u8>>) {
        client.expect("CONNACK", |packet| match packet {
            Packet::ConnAck(ack) => Some((ack.reason, ack.properties.auth_data.map(<[u8]>::to_vec))),
            _ => None,
        })
    }

    /// Does a client that answers rightly come in under the name it has proved, wherever it was accepted?
    #[test]
    fn a_client_proves_who_it_is() {
        let (node, names) = hooked(r#"{"shards": 2}"#);
        for id in ids_on_both_shards() {
            let mut client = Client::open(&node);
            client.send(&connect(&id, "two-steps", b"bob"));
            assert_eq!(expect_auth(&mut client, ReasonCode::ContinueAuthentication), b"bob?");
            client.send(&auth(ReasonCode::ContinueAuthentication, "two-steps", b"bob!"));
            assert_eq!(expect_connack(&mut client), (ReasonCode::Success, Some(b"welcome".to_vec())));
            client.publish_acked("t", b"");
        }
        assert_eq!(*names.lock().unwrap(), [Some("bob".into()), Some("bob".into())]);
    }

    /// Is everything else refused with its reason: a wrong answer, another method, another packet, a hook that fails?
    #[test]
    fn what_proves_nothing_is_refused() {
        let (node, names) = hooked(r#"{"shards": 1, "hooks": {"on_failure": "pass"}}"#);
        let two = |second: Packet<'_>| {
            let mut client = Client::open(&node);
            client.send(&connect("x", "two-steps", b"bob"));
            expect_auth(&mut client, ReasonCode::ContinueAuthentication);
            client.send(&second);
            let reason = expect_connack(&mut client).0;
            client.expect_end(None);
            reason
        };
        let go_on = ReasonCode::ContinueAuthentication;
        assert_eq!(two(auth(go_on, "two-steps", b"wrong")), ReasonCode::NotAuthorized);
        assert_eq!(two(auth(go_on, "other", b"bob!")), ReasonCode::ProtocolError);
        assert_eq!(two(auth(ReasonCode::ReAuthenticate, "two-steps", b"bob!")), ReasonCode::ProtocolError);
        assert_eq!(two(Packet::PingReq), ReasonCode::ProtocolError);
        assert_eq!(two(connect("x", "two-steps", b"bob")), ReasonCode::ProtocolError);
        for (method, reason) in
            [("fails", ReasonCode::ServerUnavailable), ("unknown", ReasonCode::BadAuthenticationMethod)]
        {
            let mut client = Client::open(&node);
            client.send(&connect("x", method, b""));
            assert_eq!(expect_connack(&mut client).0, reason, "{method}: silence proves nothing");
        }
        let mut leaver = Client::open(&node);
        leaver.send(&connect("x", "two-steps", b"bob"));
        expect_auth(&mut leaver, go_on);
        leaver.send(&Packet::Disconnect(Disconnect::new(ReasonCode::Success)));
        leaver.expect_end(None);
        assert!(names.lock().unwrap().is_empty(), "on_connect is asked about those only who have proved something");
        assert_eq!(metric(&node, "lapwing_sessions", ""), 0);
    }

    /// Can an open client prove itself anew while its other packets go on, and not become another, or fail and stay?
    #[test]
    fn a_client_proves_itself_anew() {
        let (node, _) = hooked(r#"{"shards": 1}"#);
        let open = || {
            let mut client = Client::open(&node);
            client.send(&connect("x", "two-steps", b"bob"));
            expect_auth(&mut client, ReasonCode::ContinueAuthentication);
            client.send(&auth(ReasonCode::ContinueAuthentication, "two-steps", b"bob!"));
            assert_eq!(expect_connack(&mut client).0, ReasonCode::Success);
            client.send(&auth(ReasonCode::ReAuthenticate, "two-steps", b"bob"));
            expect_auth(&mut client, ReasonCode::ContinueAuthentication);
            client.publish_acked("t", b"meanwhile");
            client
        };
        let mut client = open();
        client.send(&auth(ReasonCode::ContinueAuthentication, "two-steps", b"bob!"));
        assert_eq!(expect_auth(&mut client, ReasonCode::Success), b"welcome");
        client.expect_silence();
        for wrong in [b"eve!".as_slice(), b"what"] {
            let mut client = open();
            client.send(&auth(ReasonCode::ContinueAuthentication, "two-steps", wrong));
            client.expect_end(Some(ReasonCode::NotAuthorized));
        }
    }

    /// Is a method refused where nobody has written on_auth, and is AUTH an error for who has named none?
    #[test]
    fn without_on_auth_there_is_no_method() {
        let node = crate::node(r#"{"shards": 1}"#);
        let mut client = Client::open(&node);
        client.send(&connect("x", "two-steps", b"bob"));
        assert_eq!(expect_connack(&mut client).0, ReasonCode::BadAuthenticationMethod);
        let mut bytes = Vec::new();
        auth(ReasonCode::ReAuthenticate, "two-steps", b"").encode(Version::V5, &mut bytes).unwrap();
        assert!(matches!(decode(&bytes, Version::V5, &Limits::PROTOCOL), Ok(Some(_))));
        let mut client = crate::connect(&node, "y");
        client.send_bytes(&bytes);
        client.expect_end(Some(ReasonCode::ProtocolError));
    }
}
