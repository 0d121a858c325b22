//! Keys of tokens that are fetched from a URL: rotation, keys nobody knows, and a URL that is down.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use data_encoding::BASE64URL_NOPAD;
use lapwing_codec::ReasonCode;
use lapwing_node::Handle;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use crate::packets;
use crate::tokens::{knock, settings, signed, with};
use crate::{eventually, metric, node};

struct Key {
    pair: Ed25519KeyPair,
    kid: &'static str,
}

impl Key {
    fn new(kid: &'static str) -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Key { pair: Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap(), kid }
    }

    fn jwk(&self) -> Value {
        let x = BASE64URL_NOPAD.encode(self.pair.public_key().as_ref());
        json!({"kty": "OKP", "crv": "Ed25519", "kid": self.kid, "x": x})
    }

    fn token(&self) -> String {
        self.token_of(self.kid)
    }

    fn token_of(&self, kid: &str) -> String {
        signed(&json!({"alg": "EdDSA", "kid": kid}), json!({}), |message| self.pair.sign(message).as_ref().to_vec())
    }
}

/// Serves whatever was put last, as HTTP; counts how often it was asked.
struct Issuer {
    url: String,
    answer: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
}

impl Issuer {
    fn new(answer: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/jwks.json", listener.local_addr().unwrap());
        let issuer = Issuer { url, answer: Arc::new(Mutex::new(answer)), asked: Arc::default() };
        let (answer, asked) = (issuer.answer.clone(), issuer.asked.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                asked.fetch_add(1, Ordering::SeqCst);
                let mut head = [0; 4096];
                let _ = stream.read(&mut head);
                let _ = stream.write_all(answer.lock().unwrap().as_bytes());
            }
        });
        issuer
    }

    fn says(&self, answer: String) {
        *self.answer.lock().unwrap() = answer;
    }

    fn start(&self, refresh_ms: u64, retry_ms: u64, stale_ms_max: u64) -> Handle {
        let jwt = self.jwt(&["EdDSA"], [refresh_ms, retry_ms, stale_ms_max], 4096);
        node(&json!({"shards": 1, "auth": {"jwt": jwt}, "guesses": {"delay_ms_max": 0}}).to_string())
    }

    /// Settings that ask this issuer; `pace_ms`: refresh, retry, stale_max.
    fn jwt(&self, algorithms: &[&str], pace_ms: [u64; 3], bytes_max: u64) -> Value {
        let [refresh_ms, retry_ms, stale_ms_max] = pace_ms;
        let keys = json!({"url": {"url": self.url, "refresh_ms": refresh_ms, "retry_ms": retry_ms,
            "stale_ms_max": stale_ms_max, "timeout_ms": 60_000, "bytes_max": bytes_max}});
        settings(json!(algorithms), keys, json!({}))
    }
}

fn set(keys: &[&Key]) -> String {
    let body = json!({"keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>()}).to_string();
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn comes_in(node: &Handle, token: &str) -> bool {
    knock(node, &with(packets::connect("d"), token)) == ReasonCode::Success
}

/// Is a key that was not known fetched for the token that names it, and is one that is gone from the set not taken any more?
#[test]
fn keys_rotate() {
    let (old, new) = (Key::new("old"), Key::new("new"));
    let issuer = Issuer::new(set(&[&old]));
    let node = issuer.start(3_600_000, 1, 3_600_000);
    eventually("the first key is there", || comes_in(&node, &old.token()));
    issuer.says(set(&[&old, &new]));
    eventually("the second is there", || comes_in(&node, &new.token()));
    assert!(comes_in(&node, &old.token()));
    issuer.says(set(&[&new]));
    // Somebody names a key that nobody has.
    eventually("the first is gone", || !comes_in(&node, &new.token_of("nobody's")) && !comes_in(&node, &old.token()));
    assert!(comes_in(&node, &new.token()));
}

/// Does a flood of tokens with keys that nobody has cost the issuer no request more than its pace?
#[test]
fn a_flood_of_unknown_keys_does_not_reach_the_issuer() {
    let key = Key::new("k");
    let issuer = Issuer::new(set(&[&key]));
    let node = issuer.start(3_600_000, 3_600_000, 3_600_000);
    eventually("the key is there", || comes_in(&node, &key.token()));
    for n in 0..50 {
        assert!(!comes_in(&node, &key.token_of(&format!("unknown-{n}"))));
    }
    assert!(comes_in(&node, &key.token()));
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 1);
    assert_eq!(metric(&node, "lapwing_tokens_refused_total", "unknown_key"), 50);
}

/// While the URL gives no keys (an error, an empty set, a set that is cut off, a redirect, too much), do those there are stay,
/// said once; and are they given up when they are too old?
#[test]
fn keys_outlive_an_outage_for_a_time() {
    let key = Key::new("k");
    let issuer = Issuer::new(set(&[&key]));
    let node = issuer.start(1, 1, 3_600_000);
    eventually("the key is there", || comes_in(&node, &key.token()));
    let whole = set(&[&key]);
    for answer in [
        "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n".into(),
        set(&[]),
        whole[..whole.len() - 10].into(),
        format!("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{}", " ".repeat(5000)),
        String::new(),
    ] {
        issuer.says(answer.clone());
        let before = metric(&node, "lapwing_jwks_failures_total", "");
        eventually("it fails some times", || metric(&node, "lapwing_jwks_failures_total", "") >= before + 3);
        assert!(comes_in(&node, &key.token()), "{answer}");
    }
    let told = node.take_notices();
    assert_eq!(told.iter().filter(|line| line.contains("no new keys of tokens")).count(), 1, "{told:?}");
    let issuer = Issuer::new(whole);
    let node = issuer.start(1, 1, 200);
    eventually("the key is there", || comes_in(&node, &key.token()));
    issuer.says(String::new());
    eventually("it is too old", || {
        knock(&node, &with(packets::connect("d"), &key.token())) == ReasonCode::ServerUnavailable
    });
    issuer.says(set(&[&key]));
    eventually("it is there again", || comes_in(&node, &key.token()));
}

/// An hour between two fetches, whatever is wanted.
const SELDOM_MS: [u64; 3] = [3_600_000; 3];

fn reload(node: &Handle, jwt: &Value) {
    node.reload(&json!({"access": {"auth": {"jwt": jwt}, "rules": []}}).to_string()).expect("good settings");
}

/// Are keys there at once after a reload that names algorithms for which those of before were not read, and kept where it names the
/// same in another order?
#[test]
fn other_algorithms_ask_anew() {
    let key = Key::new("k");
    let issuer = Issuer::new(set(&[&key]));
    let [seldom_ms, ..] = SELDOM_MS;
    let node = issuer.start(seldom_ms, seldom_ms, seldom_ms);
    eventually("the key is there", || comes_in(&node, &key.token()));
    reload(&node, &issuer.jwt(&["EdDSA", "ES256"], SELDOM_MS, 4096));
    eventually("it is there again", || comes_in(&node, &key.token()));
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 2);
    reload(&node, &issuer.jwt(&["ES256", "EdDSA"], SELDOM_MS, 4096));
    assert!(comes_in(&node, &key.token()), "it never went");
}

/// Are keys that come while settings change those of the new settings too?
#[test]
fn keys_that_were_on_their_way_arrive() {
    let key = Key::new("k");
    let issuer = Issuer::new(set(&[&key]));
    let answer = issuer.answer.lock().unwrap();
    let [seldom_ms, ..] = SELDOM_MS;
    let node = issuer.start(seldom_ms, seldom_ms, seldom_ms);
    eventually("it is asked", || issuer.asked.load(Ordering::SeqCst) == 1);
    let mut jwt = issuer.jwt(&["EdDSA"], SELDOM_MS, 4096);
    jwt["leeway_s"] = json!(1);
    reload(&node, &jwt);
    drop(answer);
    eventually("the key is there", || comes_in(&node, &key.token()));
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 1);
}

/// Are keys given up in their time although settings were changed, and the issuer is down since?
#[test]
fn a_reload_makes_keys_no_younger() {
    let key = Key::new("k");
    let issuer = Issuer::new(set(&[&key]));
    let node = issuer.start(3_600_000, 1, 3_600_000);
    eventually("the key is there", || comes_in(&node, &key.token()));
    issuer.says(String::new());
    // Older than this by the time that it is read.
    reload(&node, &issuer.jwt(&["EdDSA"], [3_600_000, 1, 1], 4097));
    eventually("they are too old", || {
        knock(&node, &with(packets::connect("d"), &key.token())) == ReasonCode::ServerUnavailable
    });
}
