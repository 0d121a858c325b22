//! Attacks on passwords: from many connections, under many names, and through what costs nothing to ask.

use std::sync::LazyLock;
use std::time::Duration;

use lapwing_codec::{Connect, Packet, ReasonCode, Version};
use lapwing_node::{Config, Handle, ListenerConfig};

use crate::client::Client;
use crate::packets::{self, ConnectExt};
use crate::{config, eventually, metric};

/// Hashing is costly by design: once for all tests.
static HASH: LazyLock<String> = LazyLock::new(|| lapwing_access::hash_password(b"right").expect("it can be hashed"));

/// One that costs next to nothing, and is no password's: where all guess, nobody is to wait for the checks.
static CHEAP: LazyLock<String> =
    LazyLock::new(|| format!("$argon2id$v=19$m=8,t=1,p=1${}${}", "A".repeat(22), "A".repeat(43)));

/// Where those who guess come from, and where those do who do not.
const GUESSER: &str = "203.0.113.1";
const ELSEWHERE: &str = "203.0.113.2";

/// A node that knows alice and bob, and is told by a proxy who comes from where; `rest` goes on in JSON.
fn guarded(rest: &str) -> Handle {
    guarded_by(&HASH, rest)
}

fn guarded_by(hash: &str, rest: &str) -> Handle {
    let users = ["alice", "bob"].map(|name| format!(r#"{{"name": "{name}", "password": "{hash}"}}"#)).join(",");
    let mut made = config(&format!(r#"{{"shards": 2, "auth": {{"users": [{users}]}}{rest}}}"#));
    // However long the checks of all tests together take: nobody is to run out of time here.
    made.limits.connect_timeout_ms = 600_000;
    let proxied =
        ListenerConfig { proxy_protocol_from: vec!["127.0.0.0/8".into()], ..ListenerConfig::at("tcp://127.0.0.1:0") };
    Handle::start(Config { listen: vec![], listeners: vec![proxied], ..made }).expect("the node starts")
}

fn with<'a>(id: &'a str, name: &'a str, password: &'a [u8]) -> Connect<'a> {
    Connect { username: Some(name), password: Some(password), ..packets::connect(id) }
}

/// A client from that address, which has sent its CONNECT.
fn knock(node: &Handle, address: &str, packet: &Connect<'_>) -> Client {
    let mut client = Client::open(node);
    client.version = packet.version;
    client.send_bytes(format!("PROXY TCP4 {address} 127.0.0.1 50000 1883\r\n").as_bytes());
    client.send(&Packet::Connect(*packet));
    client
}

fn answer(node: &Handle, address: &str, packet: &Connect<'_>) -> ReasonCode {
    knock(node, address, packet).connack().expect("a CONNACK")
}

/// So many connections of one address that give a wrong password for `name`.
fn guess(node: &Handle, address: &str, name: &str, count: usize) -> Vec<Client> {
    (0..count).map(|n| knock(node, address, &with(&format!("guess-{address}-{name}-{n}"), name, b"wrong"))).collect()
}

fn checks(node: &Handle) -> u64 {
    metric(node, "lapwing_password_checks_total", "")
}

/// 200 connections guess bob's password; does bob come in from elsewhere, and even from the same address, before theirs
/// are through?
#[test]
fn who_knows_the_password_does_not_wait_for_those_who_guess() {
    let node =
        guarded(r#", "limits": {"password_threads": 1}, "guesses": {"failures_max": 0, "name_failures_max": 0}"#);
    let guesses = guess(&node, GUESSER, "bob", 200);
    eventually("they have begun", || checks(&node) > 0);
    for address in [ELSEWHERE, GUESSER] {
        assert_eq!(answer(&node, address, &with(address, "bob", b"right")), ReasonCode::Success, "{address}");
        assert!(metric(&node, "lapwing_password_checks_waiting", "") > 0, "{address}: behind all of them");
    }
    assert_eq!(metric(&node, "lapwing_password_checks_refused_total", ""), 0);
    drop(guesses);
}

/// Does a flood that fills the queue displace itself and not the one who comes from elsewhere?
#[test]
fn a_full_queue_refuses_whoever_filled_it() {
    let node = guarded(r#", "limits": {"password_threads": 1, "password_checks_max": 4}"#);
    let guesses = guess(&node, GUESSER, "bob", 100);
    for n in 0..5 {
        let (id, name) = (format!("in-{n}"), ["alice", "bob"][n % 2]);
        assert_eq!(answer(&node, ELSEWHERE, &with(&id, name, b"right")), ReasonCode::Success, "{n}");
    }
    eventually("the flood was refused", || metric(&node, "lapwing_password_checks_refused_total", "") > 50);
    drop(guesses);
}

/// Are more and more refusals late, in a place that costs nothing and is given up when the client leaves or the node ends?
#[test]
fn refusals_wait_and_hold_nothing_up() {
    let slow =
        r#", "guesses": {"refusals_per_s": 1, "delay_ms_max": 600000, "failures_max": 0, "name_failures_max": 0}"#;
    let node = guarded_by(&CHEAP, slow);
    let mut guesses = guess(&node, GUESSER, "bob", 100);
    let waiting = || metric(&node, "lapwing_password_refusals_waiting", "");
    eventually("all are checked", || checks(&node) == 100);
    eventually("most of them wait", || waiting() >= 20);
    assert_eq!(checks(&node), 100, "who waits does not guess");
    assert_eq!(metric(&node, "lapwing_connections_closed_total", "connect_timeout"), 0);
    let last = guesses.pop();
    drop(guesses);
    eventually("who has left has no place any more", || waiting() <= 1);
    drop(guess(&node, ELSEWHERE, "alice", 3));
    node.drain(Duration::from_secs(60)).expect("nobody waits for a refusal that waits");
    assert_eq!(waiting(), 0);
    drop(last);
}

/// Is a refusal for which there is no place to wait said at once?
#[test]
fn so_many_refusals_wait_and_no_more() {
    let node = guarded_by(
        &CHEAP,
        r#", "guesses": {"refusals_per_s": 1, "delay_ms_max": 600000, "delayed_max": 3, "failures_max": 0, "name_failures_max": 0}"#,
    );
    let mut guesses = guess(&node, GUESSER, "bob", 30);
    eventually("all are checked", || checks(&node) == 30);
    // How many depends on how long the checks took: each second one who waited has gone.
    eventually("those beyond were told", || metric(&node, "lapwing_password_refusals_full_total", "") > 0);
    assert!(metric(&node, "lapwing_password_refusals_waiting", "") <= 3);
    let told: usize = guesses.iter_mut().map(|client| usize::from(client.connack().is_some())).sum();
    assert_eq!(told, 30, "and those who wait hear of it too");
}

/// Is an address that guesses kept out, whatever the name, and told so; nobody else; and not for ever?
#[test]
fn an_address_that_guesses_is_barred_for_a_while() {
    let node = guarded(r#", "guesses": {"failures_max": 3, "bar_ms": 1500}"#);
    assert_eq!(answer(&node, GUESSER, &with("at-home", "alice", b"right")), ReasonCode::Success);
    for n in 0..3 {
        let wrong = with("x", ["bob", "eve", "mallory"][n], b"wrong");
        assert_eq!(answer(&node, GUESSER, &wrong), ReasonCode::BadUserNameOrPassword);
    }
    let before = checks(&node);
    let right = with("y", "bob", b"right");
    assert_eq!(answer(&node, GUESSER, &right), ReasonCode::Banned);
    assert_eq!(answer(&node, GUESSER, &right.in_version(Version::V311)), ReasonCode::NotAuthorized);
    assert_eq!(checks(&node), before, "nothing is checked");
    assert_eq!(answer(&node, GUESSER, &with("z", "alice", b"right")), ReasonCode::Success, "who was there before");
    assert_eq!(answer(&node, ELSEWHERE, &right), ReasonCode::Success, "the user is not locked out elsewhere");
    assert_eq!(metric(&node, "lapwing_password_checks_barred_total", ""), 2);
    assert_eq!(metric(&node, "lapwing_bars_total", ""), 1);
    eventually("it is over", || answer(&node, GUESSER, &right) == ReasonCode::Success);
    eventually("nobody is barred", || metric(&node, "lapwing_bars", "") == 0);
}

/// Can a barred address learn of a password that is known, and so costs nothing to try, from one that it was never right
/// at?
#[test]
fn what_is_known_is_no_oracle_for_who_is_barred() {
    let node = guarded(r#", "guesses": {"failures_max": 3, "refusals_per_s": 1000}"#);
    assert_eq!(answer(&node, ELSEWHERE, &with("known", "bob", b"right")), ReasonCode::Success);
    for _ in 0..3 {
        assert_eq!(answer(&node, GUESSER, &with("x", "eve", b"wrong")), ReasonCode::BadUserNameOrPassword);
    }
    eventually("its right guess is not told from wrong ones", || {
        answer(&node, GUESSER, &with("y", "bob", b"right")) == ReasonCode::Banned
    });
    assert_eq!(answer(&node, GUESSER, &with("y", "bob", b"wrong")), ReasonCode::Banned);
    assert_eq!(answer(&node, ELSEWHERE, &with("z", "bob", b"right")), ReasonCode::Success);
}

/// Is a name barred from the address it is guessed from and from no other; and do list and lift say and do so?
#[test]
fn a_name_is_barred_where_it_is_guessed_and_let_in_by_order() {
    let node = guarded(r#", "guesses": {"name_failures_max": 2}"#);
    for _ in 0..2 {
        answer(&node, GUESSER, &with("x", "bob", b"wrong"));
    }
    let (right, other) = (with("y", "bob", b"right"), with("z", "alice", b"right"));
    assert_eq!(answer(&node, GUESSER, &right), ReasonCode::Banned);
    assert_eq!(answer(&node, GUESSER, &other), ReasonCode::Success);
    assert_eq!(answer(&node, ELSEWHERE, &right), ReasonCode::Success);
    let bans = node.bans().expect("an answer");
    let [ban] = &bans[..] else { panic!("{bans:?}") };
    assert_eq!((&*ban.address, ban.user.as_deref(), ban.failures), ("203.0.113.1", Some("bob"), 2));
    assert!(ban.ends_in_s > 0);
    assert_eq!(node.lift_bans("nobody").expect("an answer"), 0);
    assert_eq!(node.lift_bans("bob").expect("an answer"), 1);
    assert_eq!(answer(&node, GUESSER, &right), ReasonCode::Success);
    assert_eq!(node.bans().expect("an answer"), []);
}

/// Does who is known come in from an address that guesses, and is what is guessed against it a guess like any other?
#[test]
fn who_is_known_comes_in_beside_those_who_guess() {
    let node = guarded(r#", "guesses": {"failures_max": 0, "name_failures_max": 0}"#);
    assert_eq!(answer(&node, GUESSER, &with("first", "alice", b"right")), ReasonCode::Success);
    let mut guesses = guess(&node, GUESSER, "alice", 20);
    eventually("they were checked", || checks(&node) == 21);
    for n in 0..20 {
        let id = format!("back-{n}");
        assert_eq!(answer(&node, GUESSER, &with(&id, "alice", b"right")), ReasonCode::Success);
    }
    assert_eq!(checks(&node), 21, "who is known is not checked");
    let told = guesses.iter_mut().filter_map(Client::connack).filter(|told| *told == ReasonCode::BadUserNameOrPassword);
    assert_eq!(told.count(), 20);
}

/// Is a client that was there before let in at once, also while its address guesses at another name with all it has?
#[test]
fn who_is_at_home_does_not_wait_for_a_check() {
    let node =
        guarded(r#", "limits": {"password_threads": 1}, "guesses": {"failures_max": 0, "name_failures_max": 0}"#);
    assert_eq!(answer(&node, GUESSER, &with("first", "alice", b"right")), ReasonCode::Success);
    let guesses = guess(&node, GUESSER, "bob", 100);
    eventually("the address is under suspicion", || checks(&node) > 20);
    for n in 0..20 {
        let id = format!("back-{n}");
        assert_eq!(answer(&node, GUESSER, &with(&id, "alice", b"right")), ReasonCode::Success);
    }
    assert!(metric(&node, "lapwing_password_checks_waiting", "") > 0, "behind all of them");
    drop(guesses);
}

/// Does the log name who guesses, on one line and no other beside it, seldom, and never with a password?
#[test]
fn the_operator_hears_who_guesses() {
    let node = guarded(r#", "guesses": {"name_failures_max": 5, "refusals_per_s": 1000}"#);
    for _ in 0..5 {
        answer(&node, GUESSER, &with("x", "bob\u{202e}", b"s3cret"));
    }
    // What it said at its start, of open files for instance, is nobody's guess.
    let is_of_guesses = |line: &String| line.contains(GUESSER);
    let mut heard: Vec<String> = vec![];
    eventually("it is told", || {
        heard.extend(node.take_notices().into_iter().filter(is_of_guesses));
        heard.iter().any(|line| line.contains("may not log in as"))
    });
    assert!(heard[0].starts_with("203.0.113.1 gave") && heard[0].contains(r"bob\u{202e}"), "{heard:?}");
    assert!(heard.len() <= 3 && heard.iter().all(|line| !line.contains("s3cret")), "{heard:?}");
}
