//! Takeover, sessions that outlive connections, wills, keep alive.

use std::time::{Duration, Instant};

use lapwing_codec::{
    ConnectProperties, Disconnect, Packet, QoS, ReasonCode, SubscriptionOptions, Version, WillProperties,
};

use crate::client::Client;
use crate::packets::{ConnectExt, connect as plain, lasting, will};
use crate::{connect, eventually, ids_on_both_shards, metric, node};

/// Does a second connection of a client take its session over, wherever it was accepted, and is the first told?
#[test]
fn a_second_connection_takes_over() {
    let node = node(r#"{"shards": 2}"#);
    let mut first = Client::connect_with(&node, &lasting("x")).0;
    first.subscribe("t", SubscriptionOptions::new(QoS::AtLeastOnce));
    for _ in 0..5 {
        let (second, present) = Client::connect_with(&node, &lasting("x"));
        assert!(present);
        first.expect_end(Some(ReasonCode::SessionTakenOver));
        first = second;
    }
    connect(&node, "sender").publish_acked("t", b"1");
    assert_eq!(first.receive().payload, b"1");
    assert_eq!(metric(&node, "lapwing_sessions_offline", ""), 0);
}

/// Does a session keep its subscriptions and collect QoS 1 messages while its client is away?
#[test]
fn a_session_collects_while_its_client_is_away() {
    let node = node(r#"{"shards": 2}"#);
    let [here, there] = ids_on_both_shards();
    let mut receiver = Client::connect_with(&node, &lasting(&here)).0;
    receiver.subscribe("t", SubscriptionOptions::new(QoS::AtLeastOnce));
    receiver.disconnect();
    let mut sender = connect(&node, &there);
    sender.publish("t", b"lost", QoS::AtMostOnce, None);
    sender.publish_acked("t", b"1");
    sender.publish_acked("t", b"2");
    eventually("the drop is counted", || metric(&node, "lapwing_messages_dropped_total", "offline") == 1);
    let (mut receiver, present) = Client::connect_with(&node, &lasting(&here));
    assert!(present);
    for payload in [b"1", b"2"] {
        let received = receiver.receive();
        assert_eq!(received.payload, payload);
        receiver.acknowledge(&received);
    }
    receiver.expect_silence();
    let (mut receiver, present) = Client::connect_with(&node, &plain(&here));
    assert!(!present, "a clean start discards the session");
    sender.publish_acked("t", b"3");
    receiver.expect_silence();
    assert_eq!(metric(&node, "lapwing_subscriptions", ""), 0);
}

/// Do the many subscriptions of a session that has ended all go, and none of those that came in its place?
#[test]
fn what_an_ended_session_subscribed_to_goes_and_nothing_else() {
    const FILTERS: u64 = 5_000;
    let node = node(r#"{"shards": 2}"#);
    let [here, there] = ids_on_both_shards();
    let at_most_once = SubscriptionOptions::new(QoS::AtMostOnce);
    let (mut watcher, mut sender) = (connect(&node, "watcher"), connect(&node, &there));
    watcher.subscribe("w", at_most_once);
    for _ in 0..3 {
        let mut ended = connect(&node, &here);
        for n in 0..FILTERS {
            ended.send_subscribe(&format!("t/{n}"), at_most_once);
        }
        eventually("all are subscribed to", || metric(&node, "lapwing_subscriptions", "") == FILTERS + 1);
        drop(ended);
        let mut next = connect(&node, &here);
        let last = format!("t/{}", FILTERS - 1);
        next.subscribe(&last, at_most_once);
        sender.publish_acked(&last, b"once");
        assert_eq!(next.receive().topic, last);
        eventually("its subscriptions are gone", || metric(&node, "lapwing_subscriptions", "") == 2);
        sender.publish_acked(&last, b"again");
        assert_eq!(next.receive().payload, b"again");
        next.expect_silence();
        next.disconnect();
        eventually("the other's too", || metric(&node, "lapwing_subscriptions", "") == 1);
    }
}

/// Does a session end when its expiry is over?
#[test]
fn a_session_expires() {
    let node = node(r#"{"shards": 1}"#);
    let properties = ConnectProperties { session_expiry_s: 3, ..Default::default() };
    Client::connect_with(&node, &lapwing_codec::Connect { properties, ..plain("x") }).0.disconnect();
    assert_eq!(metric(&node, "lapwing_sessions", ""), 1);
    eventually("the session ends", || metric(&node, "lapwing_sessions", "") == 0);
    assert_eq!(metric(&node, "lapwing_sessions_offline", ""), 0);
}

/// Is the will published when the connection breaks, and not when the client says goodbye?
#[test]
fn the_will_is_published_when_the_connection_breaks() {
    let node = node(r#"{"shards": 2}"#);
    let [here, there] = ids_on_both_shards();
    let mut watcher = connect(&node, &here);
    watcher.subscribe("wills/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    let (polite, _) = Client::connect_with(&node, &plain(&there).with_will(will("wills/polite", b"no")));
    polite.disconnect();
    let (broken, _) = Client::connect_with(&node, &plain(&there).with_will(will("wills/broken", b"yes")));
    drop(broken);
    assert_eq!(watcher.receive().topic, "wills/broken");
    let (mut wrong, _) = Client::connect_with(&node, &plain(&there).with_will(will("wills/wrong", b"yes")));
    wrong.send_bytes(&[0xff, 0x00]);
    wrong.expect_end(Some(ReasonCode::MalformedPacket));
    assert_eq!(watcher.receive().topic, "wills/wrong");
    let (mut kept, _) = Client::connect_with(&node, &plain(&there).with_will(will("wills/kept", b"yes")));
    kept.send(&Packet::Disconnect(Disconnect::new(ReasonCode::DisconnectWithWill)));
    assert_eq!(watcher.receive().topic, "wills/kept");
    assert_eq!(metric(&node, "lapwing_wills_published_total", ""), 3);
}

/// Does a will wait for its delay, and not come at all when the client is back before?
#[test]
fn a_delayed_will_waits_and_is_cancelled() {
    let node = node(r#"{"shards": 1}"#);
    let mut watcher = connect(&node, "watcher");
    watcher.subscribe("wills/#", SubscriptionOptions::new(QoS::AtMostOnce));
    let properties = WillProperties { delay_s: 3, ..Default::default() };
    let delayed = |topic| lapwing_codec::Will { properties, ..will(topic, b"x") };
    let begun = Instant::now();
    drop(Client::connect_with(&node, &lasting("a").with_will(delayed("wills/a"))).0);
    drop(Client::connect_with(&node, &lasting("b").with_will(delayed("wills/b"))).0);
    eventually("both are away", || metric(&node, "lapwing_sessions_offline", "") == 2);
    let (_back, present) = Client::connect_with(&node, &lasting("b"));
    assert!(present);
    assert_eq!(watcher.receive().topic, "wills/a");
    assert!(begun.elapsed() >= Duration::from_secs(3));
    watcher.expect_silence();
}

/// Is a session that would be one too many without a connection ended, and counted?
#[test]
fn a_session_too_many_ends_with_its_connection() {
    let node = node(r#"{"shards": 2, "limits": {"sessions_offline_max": 1}}"#);
    for id in ["one", "two", "three"] {
        Client::connect_with(&node, &lasting(id)).0.disconnect();
    }
    eventually("two are counted", || metric(&node, "lapwing_sessions_not_kept_total", "") == 2);
    assert_eq!(metric(&node, "lapwing_sessions_offline", ""), 1);
}

/// Does everything left unacknowledged come again, when it is more than the output buffer takes at once?
#[test]
fn what_is_resent_goes_on_beyond_the_output_mark() {
    let node = node(r#"{"shards": 1, "limits": {"output_high_bytes": 10000}}"#);
    let mut receiver = Client::connect_with(&node, &lasting("receiver")).0;
    receiver.subscribe("t", SubscriptionOptions::new(QoS::AtLeastOnce));
    let mut sender = connect(&node, "sender");
    for n in 0..100_u8 {
        sender.publish_acked("t", &[n; 1000]);
        assert_eq!(receiver.receive().payload[0], n);
    }
    drop(receiver);
    eventually("it is away", || metric(&node, "lapwing_sessions_offline", "") == 1);
    let mut receiver = Client::connect_with(&node, &lasting("receiver")).0;
    for n in 0..100_u8 {
        assert_eq!(receiver.receive().payload[0], n);
    }
}

/// Is a silent client disconnected after one and a half times its keep alive?
#[test]
fn a_silent_client_is_disconnected() {
    let node = node(r#"{"shards": 1}"#);
    let begun = Instant::now();
    let packet = lapwing_codec::Connect { keep_alive_s: 1, ..plain("x") };
    let mut client = Client::connect_with(&node, &packet).0;
    client.expect_end(Some(ReasonCode::KeepAliveTimeout));
    assert!(begun.elapsed() >= Duration::from_millis(1500));
}

/// Is a connection ended that carries nothing, with the code for that, and is that counted?
#[test]
fn an_idle_connection_is_ended() {
    let node = node(r#"{"shards": 1, "limits": {"connection_idle_ms_max": 50}}"#);
    let mut client = connect(&node, "x");
    client.expect_end(Some(ReasonCode::MaximumConnectTime));
    assert_eq!(metric(&node, "lapwing_connections_closed_total", "maximum_connect_time"), 1);
}

/// Does a 3.1.1 session live on without being asked for how long?
#[test]
fn a_session_of_311_lives_on() {
    let node = node(r#"{"shards": 1}"#);
    let packet = lapwing_codec::Connect { clean_start: false, ..plain("x") }.in_version(Version::V311);
    assert!(!Client::connect_with(&node, &packet).1);
    eventually("the second connection finds the session", || Client::connect_with(&node, &packet).1);
}
