//! What an operator sees of sessions, and ends by order.

use lapwing_codec::{ConnectProperties, QoS, ReasonCode, SubscriptionOptions, Version, WillProperties};
use lapwing_node::{Handle, SessionOrder, SessionQuery};
use serde_json::Value;

use crate::client::Client;
use crate::packets::{ConnectExt, connect as plain, lasting, will};
use crate::{connect, eventually, ids_on_both_shards, metric, node};

fn at_least_once() -> SubscriptionOptions {
    SubscriptionOptions::new(QoS::AtLeastOnce)
}

fn page(node: &Handle, query: SessionQuery) -> Value {
    let list = node.sessions(query).expect("the node answers");
    let mut page: Value = serde_json::from_str(&list.rest).expect("JSON");
    page["sessions"] = rows(&list.sessions);
    page
}

fn rows(texts: &[String]) -> Value {
    texts.iter().map(|text| serde_json::from_str::<Value>(text).expect("JSON")).collect()
}

fn ids(page: &Value) -> Vec<String> {
    let sessions = page["sessions"].as_array().expect("a list");
    sessions.iter().map(|session| session["client_id"].as_str().expect("a client id").to_owned()).collect()
}

fn shown(node: &Handle, client_id: &str) -> Option<Value> {
    let one = node.session(client_id, 10).expect("the node answers")?;
    let mut shown: Value = serde_json::from_str(&one.session).expect("JSON");
    shown["subscribed"] = rows(&one.subscribed);
    shown["queue"] = rows(&one.queue);
    Some(shown)
}

/// A session that is away, with so many messages of two bytes waiting under `to/ID`.
fn away(node: &Handle, id: &str, waiting: usize) {
    let mut client = Client::connect_with(node, &lasting(id)).0;
    client.subscribe(&format!("to/{id}"), at_least_once());
    client.disconnect();
    let mut sender = connect(node, "sender");
    (0..waiting).for_each(|_| sender.publish_acked(&format!("to/{id}"), b"xx"));
    sender.disconnect();
    eventually("the sender has gone", || shown(node, "sender").is_none());
}

/// Is every session on exactly one page, in the order of client ids and whatever shard it lives on?
#[test]
fn pages_follow_each_other() {
    let node = node(r#"{"shards": 2}"#);
    let clients: Vec<Client> = (0..23).map(|n| connect(&node, &format!("c-{n:02}"))).collect();
    let _other = connect(&node, "other");
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let query = SessionQuery { prefix: "c-".into(), after, limit: 5, ..SessionQuery::default() };
        let page = page(&node, query);
        assert_eq!(page["matching"], 23);
        found.extend(ids(&page));
        after = page["next"].as_str().map(str::to_owned);
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, (0..23).map(|n| format!("c-{n:02}")).collect::<Vec<_>>());
    drop(clients);
}

/// Are more sessions than a shard looks at in one turn all found, while a client is served between two shares?
#[test]
fn many_sessions_are_looked_at_by_and_by() {
    const MANY: usize = 1_500;
    let node = node(r#"{"shards": 1}"#);
    for n in 0..MANY {
        Client::connect_with(&node, &lasting(&format!("c-{n:04}"))).0.disconnect();
    }
    let query = SessionQuery { limit: 1_000, ..SessionQuery::default() };
    let first = page(&node, query.clone());
    assert_eq!((ids(&first).len(), &first["matching"], &first["next"]), (1_000, &MANY.into(), &"c-0999".into()));
    let rest = page(&node, SessionQuery { after: Some("c-0999".into()), ..query });
    assert_eq!((ids(&rest).len(), &rest["next"]), (500, &Value::Null));
}

/// Are the longest queues found, by messages and by bytes, and only those for whom something waits?
#[test]
fn the_longest_queues_come_first() {
    let node = node(r#"{"shards": 2}"#);
    let [here, there] = ids_on_both_shards();
    away(&node, &here, 3);
    away(&node, &there, 5);
    away(&node, "none", 0);
    let longest = |order| SessionQuery { order, waiting: true, limit: 10, ..SessionQuery::default() };
    let by_messages = page(&node, longest(SessionOrder::Messages));
    assert_eq!(ids(&by_messages), [there.clone(), here.clone()]);
    assert_eq!((&by_messages["matching"], &by_messages["waiting_messages"]), (&2.into(), &8.into()));
    assert_eq!(ids(&page(&node, longest(SessionOrder::Bytes))), [there.clone(), here]);
    let one = page(&node, SessionQuery { limit: 1, ..longest(SessionOrder::Messages) });
    assert_eq!((ids(&one), &one["next"]), (vec![there], &Value::Null));
}

/// Does a row say who is there and how long who is away stays?
#[test]
fn a_row_tells_who_is_here_and_who_is_away() {
    let node = node(r#"{"shards": 1}"#);
    away(&node, "away", 0);
    let mut here = Client::connect_with(&node, &plain("here").in_version(Version::V311)).0;
    here.subscribe("t", at_least_once());
    let connected = |connected| SessionQuery { connected: Some(connected), limit: 9, ..SessionQuery::default() };
    let page_here = page(&node, connected(true));
    assert_eq!(ids(&page_here), ["here"]);
    let row = &page_here["sessions"][0];
    assert_eq!((&row["version"], &row["expiry_s"], &row["away_since_ms"]), (&"3.1.1".into(), &0.into(), &Value::Null));
    assert!(row["address"].as_str().is_some_and(|address| address.starts_with("127.0.0.1:")), "{row}");
    let page_away = page(&node, connected(false));
    assert_eq!(ids(&page_away), ["away"]);
    let row = &page_away["sessions"][0];
    assert_eq!((&row["version"], &row["expiry_s"], &row["subscriptions"]), (&Value::Null, &3600.into(), &1.into()));
    assert!(row["ends_in_s"].as_u64().is_some_and(|left| (3_590..=3_600).contains(&left)), "{row}");
    assert!(row["away_since_ms"].as_u64().is_some_and(|at_ms| at_ms > 1_700_000_000_000), "{row}");
}

/// Does a session show what it subscribes to and the head of its queue, without payloads?
#[test]
fn a_session_shows_its_queue() {
    let node = node(r#"{"shards": 2}"#);
    away(&node, "device/7", 12);
    assert!(shown(&node, "nobody").is_none());
    let session = shown(&node, "device/7").expect("it is there");
    let subscribed = &session["subscribed"][0];
    assert_eq!((&subscribed["filter"], &subscribed["qos"]), (&"to/device/7".into(), &1.into()));
    assert_eq!(session["waiting_messages"], 12);
    let queue = session["queue"].as_array().expect("a list");
    assert_eq!(queue.len(), 10);
    assert!(queue.iter().all(|message| message["topic"] == "to/device/7" && message["qos"] == 1), "{queue:?}");
    assert!(!session.to_string().contains("xx"), "no payload is shown");
}

/// Is a connected client told 0x98, its session gone at once, its will published, and its id free for a new session?
#[test]
fn a_connected_session_ends_by_order() {
    let node = node(r#"{"shards": 2}"#);
    let mut watcher = connect(&node, "watcher");
    watcher.subscribe("wills", at_least_once());
    // Its delay ends with its session.
    let properties = WillProperties { delay_s: 600, ..WillProperties::default() };
    let last_words = lapwing_codec::Will { properties, ..will("wills", b"gone") };
    let mut client = Client::connect_with(&node, &lasting("x").with_will(last_words)).0;
    client.subscribe("t", at_least_once());
    assert!(node.end_session("x").expect("the node answers"));
    client.expect_end(Some(ReasonCode::AdministrativeAction));
    assert_eq!(watcher.receive().payload, b"gone");
    assert!(shown(&node, "x").is_none());
    assert!(!node.end_session("x").expect("the node answers"), "there is none any more");
    assert_eq!(metric(&node, "lapwing_sessions_ended_by_order_total", ""), 1);
    assert_eq!(metric(&node, "lapwing_sessions_offline", ""), 0);
    assert!(!Client::connect_with(&node, &lasting("x")).1, "no session is present");
}

/// Does a session that is away end with what waits for it, counted, and its subscriptions?
#[test]
fn a_session_that_is_away_ends_by_order() {
    let node = node(r#"{"shards": 2}"#);
    away(&node, "x", 4);
    assert!(node.end_session("x").expect("the node answers"));
    assert_eq!(metric(&node, "lapwing_sessions_offline", ""), 0);
    eventually("its messages are counted", || metric(&node, "lapwing_messages_dropped_total", "session_ended") == 4);
    eventually("its subscriptions are gone", || metric(&node, "lapwing_subscriptions", "") == 0);
}

/// Is a queue emptied in shares, counted, and what comes later kept?
#[test]
fn a_queue_is_emptied_by_order() {
    const MANY: u64 = 2_500;
    let node = node(r#"{"shards": 1}"#);
    away(&node, "x", 0);
    let mut sender = connect(&node, "sender");
    for _ in 0..MANY / 500 {
        (1..=500).for_each(|id| sender.publish("to/x", b"old", QoS::AtLeastOnce, Some(id)));
        (1..=500).for_each(|id| sender.expect_ack(id));
    }
    let emptied = node.empty_queue("x").expect("the node answers").expect("it is there");
    assert_eq!(emptied.messages, MANY);
    assert!(emptied.bytes > MANY * 3);
    assert!(node.empty_queue("nobody").expect("the node answers").is_none());
    eventually("they are counted", || metric(&node, "lapwing_messages_dropped_total", "queue_emptied") == MANY);
    sender.publish_acked("to/x", b"new");
    let (mut client, present) = Client::connect_with(&node, &lasting("x"));
    assert!(present);
    assert_eq!(client.receive().payload, b"new");
    client.expect_silence();
}

/// Does what is kept on disk know how old it is, and is an order on disk when it is answered?
#[test]
fn orders_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let json = format!(r#"{{"shards": 2, "data_dir": {:?}}}"#, dir.path());
    let node = crate::node(&json);
    away(&node, "dropped", 2);
    away(&node, "emptied", 2);
    away(&node, "kept", 2);
    let session = shown(&node, "kept").expect("it is there");
    assert_eq!(session["is_durable"], true);
    assert!(session["queue"][0]["age_ms"].as_u64().is_some_and(|age_ms| age_ms < 60_000), "{session}");
    assert!(node.end_session("dropped").expect("the node answers"));
    assert_eq!(node.empty_queue("emptied").expect("the node answers").expect("it is there").messages, 2);
    node.stop().expect("the node stops");
    let again = crate::node(&json);
    assert!(shown(&again, "dropped").is_none());
    assert_eq!(shown(&again, "emptied").expect("it is there")["waiting_messages"], 0);
    let session = shown(&again, "kept").expect("it is there");
    assert_eq!((&session["waiting_messages"], &session["is_connected"]), (&2.into(), &false.into()));
    assert!(session["away_since_ms"].as_u64() > Some(1_700_000_000_000), "{session}");
}

/// Does a session without expiry that an order ends leave as it came, and one for ever say so?
#[test]
fn expiry_is_told() {
    let node = node(r#"{"shards": 1, "limits": {"session_expiry_s_max": 4294967295}}"#);
    let properties = ConnectProperties { session_expiry_s: u32::MAX, ..ConnectProperties::default() };
    let for_ever = lapwing_codec::Connect { properties, ..lasting("for-ever") };
    Client::connect_with(&node, &for_ever).0.disconnect();
    let session = shown(&node, "for-ever").expect("it is there");
    assert_eq!((&session["expiry_s"], &session["ends_in_s"]), (&Value::Null, &Value::Null));
    let mut brief = connect(&node, "brief");
    assert!(node.end_session("brief").expect("the node answers"));
    brief.expect_end(Some(ReasonCode::AdministrativeAction));
}
