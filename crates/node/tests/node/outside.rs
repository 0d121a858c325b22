//! Somebody else is asked who a client is: what he is told, what his answers do, and what happens without one.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use lapwing_codec::{Connect, QoS, ReasonCode, SubscriptionOptions};
use lapwing_node::{Handle, HttpClaim, Identified};
use serde_json::{Value, json};

use crate::client::Client;
use crate::packets::{self, lasting};
use crate::tokens::knock;
use crate::{eventually, metric, node};

const BAD: ReasonCode = ReasonCode::BadUserNameOrPassword;
const AT_MOST_ONCE: SubscriptionOptions = SubscriptionOptions::new(QoS::AtMostOnce);
/// Hashing is costly by design: once for all tests.
static HASH: LazyLock<String> = LazyLock::new(|| lapwing_access::hash_password(b"right").expect("it can be hashed"));

/// Whoever is asked: gives each question to `answer`, with the stream to answer on.
struct Judge {
    url: String,
    asked: Arc<AtomicUsize>,
    questions: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Judge {
    fn new(answer: impl Fn(&Value, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/check", listener.local_addr().unwrap());
        let judge = Judge { url, asked: Arc::default(), questions: Arc::default() };
        let (asked, questions, answer) = (judge.asked.clone(), judge.questions.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (asked, questions, answer) = (asked.clone(), questions.clone(), answer.clone());
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    asked.fetch_add(1, Ordering::SeqCst);
                    let (head, question) = question(&mut stream);
                    questions.lock().unwrap().push((head, question.clone()));
                    answer(&question, &mut stream);
                });
            }
        });
        judge
    }

    /// Answers 200 with what `say` makes of a question.
    fn saying(say: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        Judge::new(move |question, stream| {
            let _ = stream.write_all(ok(&say(question).to_string()).as_bytes());
        })
    }

    fn settings(&self, more: Value) -> Value {
        let mut settings = json!({"url": self.url, "timeout_ms": 60_000, "in_flight_max": 4, "answer_bytes_max": 1000,
            "ttl_ms": 3_600_000, "ttl_ms_max": 3_600_000, "refused_ttl_ms": 3_600_000, "remembered_max": 100,
            "names": "*"});
        more.as_object().unwrap().iter().for_each(|(name, value)| settings[name] = value.clone());
        settings
    }

    fn start(&self, more: Value) -> Handle {
        let users = ["alice", "dora"].map(|name| json!({"name": name, "password": *HASH}));
        let auth = json!({"outside": self.settings(more), "users": users});
        node(
            &json!({"shards": 2, "auth": auth, "guesses": {"delay_ms_max": 0, "failures_max": 0},
            "limits": {"connect_timeout_ms": 600_000}})
            .to_string(),
        )
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn question(stream: &mut TcpStream) -> (String, Value) {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && let Ok(question) = serde_json::from_str(body)
        {
            return (head.to_ascii_lowercase(), question);
        }
        let read = stream.read(&mut part).unwrap();
        assert!(read > 0, "the question was cut off: {text}");
        bytes.extend_from_slice(&part[..read]);
    }
}

fn with<'a>(id: &'a str, name: &'a str, password: &'a [u8]) -> Connect<'a> {
    Connect { username: Some(name), password: Some(password), ..packets::connect(id) }
}

fn claim<'a>(username: &'a str, address: &'a str) -> HttpClaim<'a> {
    HttpClaim { username: Some(username), password: b"right", address, listener: "http://127.0.0.1" }
}

/// Who is allowed comes in as whom the answer says, with its rules and its client id, and his connection ends when it says so;
/// the one who is asked is told all of it, and not about users of the file.
#[test]
fn an_answer_lets_in() {
    let judge = Judge::saying(|question| {
        if question["password"] != "right" {
            return json!({"allow": false});
        }
        match question["username"].as_str() {
            Some("brief") => json!({"allow": true, "expires_in_s": 2}),
            Some("bound") => json!({"allow": true, "client_id": "its-own"}),
            Some("other") => json!({"allow": true, "username": "anna",
                "rules": [{"may": ["publish", "subscribe"], "topics": ["of/%u/#"]}]}),
            _ => json!({"allow": true}),
        }
    });
    let node = judge.start(json!({"authorization": "Bearer of the broker"}));
    assert_eq!(knock(&node, &with("c", "alice", b"right")), ReasonCode::Success, "a user of the file");
    assert_eq!(knock(&node, &with("c", "alice", b"wrong")), BAD);
    assert_eq!(judge.asked(), 0);
    assert_eq!(knock(&node, &with("c1", "bob", b"right")), ReasonCode::Success);
    assert_eq!(knock(&node, &with("c2", "bob", b"wrong")), BAD);
    let (head, told) = judge.questions.lock().unwrap()[0].clone();
    assert!(head.starts_with("post /check") && head.contains("authorization: bearer of the broker"), "{head}");
    let listener = node.listeners()[0].clone();
    assert_eq!(
        (&told["client_id"], &told["username"], &told["password"]),
        (&json!("c1"), &json!("bob"), &json!("right"))
    );
    assert_eq!((&told["address"], &told["listener"]), (&json!("127.0.0.1"), &json!(listener)));

    let (mut anna, _) = Client::connect_with(&node, &with("a", "other", b"right"));
    anna.subscribe("of/anna/1", AT_MOST_ONCE);
    assert_eq!(anna.try_subscribe("of/other/1", AT_MOST_ONCE), ReasonCode::NotAuthorized);
    assert_eq!(knock(&node, &with("its-own", "bound", b"right")), ReasonCode::Success);
    assert_eq!(knock(&node, &with("another", "bound", b"right")), ReasonCode::ClientIdentifierNotValid);
    let brief = Connect { username: Some("brief"), password: Some(b"right"), ..lasting("b") };
    let (mut client, _) = Client::connect_with(&node, &brief);
    client.expect_end(Some(ReasonCode::NotAuthorized));
    assert_eq!(metric(&node, "lapwing_auth_http_checks_total", "denied"), 1);
}

/// Is an answer asked for once, while it is remembered: yes and no; and anew for another password, client id, or name?
#[test]
fn answers_are_remembered() {
    let judge = Judge::saying(|question| match question["username"].as_str() {
        Some("forgotten") => json!({"allow": true, "ttl_s": 0}),
        _ => json!({"allow": question["password"] == "right"}),
    });
    let node = judge.start(json!({}));
    for _ in 0..5 {
        assert_eq!(knock(&node, &with("c", "bob", b"right")), ReasonCode::Success);
        assert_eq!(knock(&node, &with("c", "bob", b"wrong")), BAD);
    }
    assert_eq!((judge.asked(), metric(&node, "lapwing_auth_http_checks_remembered_total", "")), (2, 8));
    for (id, name) in [("d", "bob"), ("c", "carol")] {
        assert_eq!(knock(&node, &with(id, name, b"right")), ReasonCode::Success);
    }
    assert_eq!(judge.asked(), 4);
    for n in 5..8 {
        assert_eq!(knock(&node, &with("c", "forgotten", b"")), ReasonCode::Success);
        assert_eq!(judge.asked(), n);
    }
    let access = json!({"auth": {"outside": judge.settings(json!({"names": "b*"}))}});
    node.reload(&json!({ "access": access }).to_string()).unwrap();
    assert_eq!(knock(&node, &with("c", "bob", b"right")), ReasonCode::Success);
    assert_eq!(knock(&node, &with("c", "carol", b"right")), ReasonCode::ServerUnavailable);
    assert_eq!(judge.asked(), 9, "other settings remember nothing");
}

/// An error, a redirect, a huge answer, one that is cut off, no HTTP, nothing at all, nobody there: does each let nobody in, told,
/// without a word of the password, and does a flood of them leave users of the file alone?
#[test]
fn without_a_clear_yes_nobody_comes_in() {
    let huge = format!("{{\"allow\": true, \"username\": \"{}\"}}", "x".repeat(2000));
    let answers = Arc::new(Mutex::new(String::new()));
    let says = answers.clone();
    let judge = Judge::new(move |_, stream| {
        let _ = stream.write_all(says.lock().unwrap().as_bytes());
    });
    let node = judge.start(json!({}));
    for (n, answer) in [
        "HTTP/1.1 500 Oh\r\nContent-Length: 15\r\n\r\n{\"allow\": true}".to_owned(),
        "HTTP/1.1 401 No\r\nContent-Length: 15\r\n\r\n{\"allow\": true}".into(),
        format!("HTTP/1.1 307 There\r\nLocation: {}\r\nContent-Length: 15\r\n\r\n{{\"allow\": true}}", judge.url),
        ok(&huge),
        ok(""),
        ok("{}"),
        ok("{\"allow\": \"yes\"}"),
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"allow\": true}".into(),
        "allow".into(),
        String::new(),
    ]
    .into_iter()
    .enumerate()
    {
        answers.lock().unwrap().clone_from(&answer);
        let refused = knock(&node, &with("c", "bob", b"a password of bob's"));
        assert_eq!(refused, ReasonCode::ServerUnavailable, "{answer}");
        assert_eq!(metric(&node, "lapwing_auth_http_checks_total", "failed"), n as u64 + 1);
    }
    answers.lock().unwrap().clone_from(&ok("{\"allow\": true}"));
    assert_eq!(knock(&node, &with("c", "bob", b"\xff\xfe")), ReasonCode::ServerUnavailable, "no text");
    assert_eq!(
        knock(&node, &with("c", "bob", b"a password of bob's")),
        ReasonCode::Success,
        "no failure is remembered"
    );
    let mut told = String::new();
    eventually("it is told", || {
        told += &node.take_notices().join("\n");
        told.contains("nobody could say who they are")
    });
    assert!(!told.contains("a password of"), "{told}");

    let silent = Judge::new(|_, _| thread::park());
    let node = silent.start(json!({"timeout_ms": 50}));
    assert_eq!(knock(&node, &with("c", "bob", b"x")), ReasonCode::ServerUnavailable);

    let nobody = Judge { url: "http://127.0.0.1:1/".into(), asked: Arc::default(), questions: Arc::default() };
    let node = nobody.start(json!({}));
    assert_eq!(knock(&node, &with("c", "bob", b"x")), ReasonCode::ServerUnavailable);
    assert_eq!(knock(&node, &with("c", "alice", b"right")), ReasonCode::Success);
}

/// While nobody is answered, do users of the file come in, are no more questions under way than may be, and does each who waits
/// hear no?
#[test]
fn a_slow_answer_holds_up_nobody_else() {
    let gate = Arc::new(Mutex::new(()));
    let held = gate.clone();
    let (under_way, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, peak) = (under_way, most.clone());
    let judge = Judge::new(move |_, stream| {
        peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        drop(held.lock());
        now.fetch_sub(1, Ordering::SeqCst);
        let _ = stream.write_all(ok("{\"allow\": true}").as_bytes());
    });
    let node = judge.start(json!({"in_flight_max": 2}));
    let closed = gate.lock().unwrap();
    let mut waiting: Vec<Client> = (0..20)
        .map(|n| {
            let mut client = Client::open(&node);
            let id = format!("slow-{n}");
            client.send(&lapwing_codec::Packet::Connect(with(&id, "bob", b"x")));
            client
        })
        .collect();
    eventually("all wait", || metric(&node, "lapwing_auth_http_checks_waiting", "") == 18);
    assert_eq!(knock(&node, &with("a", "alice", b"right")), ReasonCode::Success);
    assert_eq!(metric(&node, "lapwing_auth_http_checks_under_way", ""), 2);
    // The same over HTTP: whoever is asked about hangs, from as many addresses as there are, and a user of the file does not.
    let (answers, told) = channel();
    let ask = |name: &'static str, address: &str| {
        let (answers, claim) = (answers.clone(), claim(name, address));
        node.identify(claim, move |identified| answers.send((name, identified)).unwrap())
    };
    for n in 0..500 {
        assert_eq!(ask("bob", &format!("192.0.2.{}", n % 5)), None);
    }
    let next = || told.recv_timeout(Duration::from_secs(30)).expect("an answer");
    (0..500 - 5 * 64).for_each(|_| assert_eq!(next(), ("bob", Identified::Busy), "64 of one address wait"));
    assert!(matches!(ask("alice", "192.0.2.1"), Some(Identified::Known { .. })), "who is known");
    assert_eq!(ask("dora", "192.0.2.1"), None, "of the address that waits for itself");
    assert_eq!(next(), ("dora", Identified::Known { name: "dora".into(), good_for_ms: 60_000 }));
    drop(closed);
    (0..5 * 64).for_each(|_| assert!(matches!(next(), ("bob", Identified::Known { .. }))));
    for client in &mut waiting {
        assert_eq!(client.connack(), Some(ReasonCode::Success));
    }
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

/// Is a refusal a guess: slowed and barred by name from an address, with nobody asked any more?
#[test]
fn refusals_are_guesses() {
    let judge = Judge::saying(|_| json!({"allow": false, "ttl_s": 0}));
    let auth = json!({"outside": judge.settings(json!({}))});
    let guesses = json!({"delay_ms_max": 0, "failures_max": 5, "name_failures_max": 0, "bar_local": true});
    let node = node(&json!({"shards": 1, "auth": auth, "guesses": guesses}).to_string());
    for _ in 0..5 {
        assert_eq!(knock(&node, &with("c", "bob", b"x")), BAD);
    }
    assert_eq!(knock(&node, &with("c", "bob", b"x")), ReasonCode::Banned);
    assert_eq!(judge.asked(), 5);
}

/// A defect in what is done with an answer refuses the client it is about, is counted, and costs no place: with room for one
/// question at a time the next ones are asked.
#[test]
fn a_panic_of_who_asks_costs_no_place() {
    let judge = Judge::saying(|question| json!({"allow": question["password"] == "right"}));
    let node = judge.start(json!({"in_flight_max": 1}));
    for _ in 0..3 {
        assert_eq!(knock(&node, &with("c", "$fault/panic", b"right")), ReasonCode::ServerUnavailable);
    }
    assert_eq!((judge.asked(), metric(&node, "lapwing_auth_http_checks_total", "failed")), (0, 3));
    assert_eq!(knock(&node, &with("c", "bob", b"right")), ReasonCode::Success);
    assert_eq!(knock(&node, &with("c", "bob", b"wrong")), BAD);
    assert!(node.failure().is_none());
}
