//! The tables that all share, with nothing set but their size: whoever has most of one leaves some of it to others.

use lapwing_codec::{Connect, Packet, ReasonCode};
use lapwing_node::Handle;

use crate::client::Client;
use crate::packets::{connect, lasting};
use crate::shares::{AT_MOST_ONCE, SHARE_REFUSED, kept_in_all, of, retain, start, told};
use crate::{eventually, metric};

/// Who takes much, and who comes then: two users, and two clients without a name at one address.
const PAIRS: [[(Option<&str>, &str); 2]; 2] =
    [[(Some("alice"), "a"), (Some("bob"), "b")], [(None, "greedy"), (None, "modest")]];

/// The same where an address counts as who has no name: all clients here come from one.
const BY_ADDRESS: [[Option<&str>; 2]; 2] = [[Some("alice"), Some("bob")], [None, Some("alice")]];

fn come<'a>((user, id): (Option<&'a str>, &'a str), node: &Handle) -> Client {
    Client::connect_with(node, &of_any(user, connect(id))).0
}

fn of_any<'a>(user: Option<&'a str>, packet: Connect<'a>) -> Connect<'a> {
    match user {
        Some(user) => of(user, packet),
        None => packet,
    }
}

/// Of twenty groups, does one get nineteen and no more, over two sessions where it has a name, and the other the last?
#[test]
fn who_begins_group_after_group_leaves_one_to_others() {
    for [greedy, modest] in PAIRS {
        let node = start("", r#", "dispatch": {"groups_max": 20}"#);
        let (mut greedy_client, mut modest_client) = (come(greedy, &node), come(modest, &node));
        let begun = (0..30).filter(|n| {
            let reason = greedy_client.try_subscribe(&format!("$share/g{n}/t"), AT_MOST_ONCE);
            assert!(!reason.is_error() || reason == ReasonCode::QuotaExceeded);
            !reason.is_error()
        });
        assert_eq!(begun.count(), 19, "{greedy:?}");
        let words = format!("{} has begun 19 of all groups (dispatch.groups_max = 20)", greedy.0.unwrap_or(greedy.1));
        assert_eq!((metric(&node, SHARE_REFUSED, "groups"), told(&node, &words)), (11, 1));
        if let Some(user) = greedy.0 {
            let mut again = come((Some(user), "another"), &node);
            assert_eq!(again.try_subscribe("$share/more/t", AT_MOST_ONCE), ReasonCode::QuotaExceeded);
        }
        modest_client.subscribe("$share/last/t", AT_MOST_ONCE);
        greedy_client.subscribe("$share/last/t", AT_MOST_ONCE);
    }
}

/// The same of retained messages: may who has nineteen renew them, is there room again for what it clears, and does all of that
/// hold over a restart too?
#[test]
fn who_retains_message_after_message_leaves_room_to_others() {
    for [greedy, modest] in PAIRS {
        let dir = tempfile::tempdir().unwrap();
        let on_disk = format!(r#", "data_dir": {:?}, "durability": "disk""#, dir.path());
        let limits = r#""retained_messages_max": 20"#;
        let before = start(limits, &on_disk);
        let mut client = come(greedy, &before);
        let mut fill = |n: u32| retain(&mut client, &format!("much/{n}"), b"1");
        assert!((0..19).all(|n| fill(n) == ReasonCode::Success), "{greedy:?}");
        assert!((19..22).all(|n| fill(n) == ReasonCode::QuotaExceeded), "{greedy:?}");
        kept_in_all(&before, 19);
        assert_eq!(metric(&before, SHARE_REFUSED, "retained"), 3);
        before.stop().unwrap();

        let after = start(limits, &on_disk);
        let (mut client, mut other) = (come(greedy, &after), come(modest, &after));
        assert_eq!(retain(&mut client, "much/30", b"1"), ReasonCode::QuotaExceeded, "{greedy:?}");
        assert_eq!(told(&after, "limits.held_times_free_max = 9"), 1);
        for payload in [b"2".as_slice(), b"longer than before"] {
            assert_eq!(retain(&mut client, "much/0", payload), ReasonCode::Success, "in its place");
        }
        assert_eq!(retain(&mut other, "little", b"1"), ReasonCode::Success);
        for n in 0..2 {
            assert_eq!(retain(&mut client, &format!("much/{n}"), b""), ReasonCode::Success);
        }
        kept_in_all(&after, 18);
        assert_eq!(retain(&mut client, "much/30", b"1"), ReasonCode::Success);
        after.stop().unwrap();
    }
}

/// A client, if it is let in.
fn try_come<'a>(user: Option<&'a str>, packet: Connect<'a>, node: &Handle) -> Result<Client, Option<ReasonCode>> {
    let mut client = Client::open(node);
    let mut bytes = Vec::new();
    Packet::Connect(of_any(user, packet)).encode(client.version, &mut bytes).expect("it can be encoded");
    client.try_send_bytes(&bytes);
    let reason = client.connack();
    if reason == Some(ReasonCode::Success) { Ok(client) } else { Err(reason) }
}

/// Of twenty connections, does one get nineteen and no more, while it may take its own over, and the other comes in?
#[test]
fn who_connects_again_and_again_leaves_a_place_to_others() {
    for [greedy, modest] in BY_ADDRESS {
        let node = start(r#""connections_max": 20"#, "");
        let mut clients: Vec<_> =
            (0..19).map(|n| try_come(greedy, connect(&format!("c{n}")), &node).expect("there is a place")).collect();
        for _ in 0..3 {
            assert_eq!(try_come(greedy, connect("more"), &node).err(), Some(Some(ReasonCode::QuotaExceeded)));
        }
        let who = greedy.unwrap_or("127.0.0.1");
        let words = format!("{who} has 19 of all connections (20)");
        assert_eq!((metric(&node, SHARE_REFUSED, "connections"), told(&node, &words)), (3, 1));
        clients.push(try_come(greedy, connect("c0"), &node).expect("it takes over"));
        // What it took over is a connection until its peer has gone.
        drop(clients.swap_remove(0));
        eventually("the last place is another's", || try_come(modest, connect("modest"), &node).is_ok());
        clients.drain(..15);
        eventually("there is room again", || try_come(greedy, connect("more"), &node).is_ok());
    }
}

/// The same of sessions without a connection: does one that has its place keep it, come and go as it may, and does that hold over
/// a restart for who has a name?
#[test]
fn who_leaves_session_after_session_leaves_a_place_to_others() {
    for [greedy, modest] in BY_ADDRESS {
        let dir = tempfile::tempdir().unwrap();
        let on_disk = format!(r#", "data_dir": {:?}, "durability": "disk""#, dir.path());
        let limits = r#""sessions_offline_max": 20"#;
        let before = start(limits, &on_disk);
        for n in 0..22 {
            try_come(greedy, lasting(&format!("c{n}")), &before).expect("it comes in").disconnect();
            let over = || metric(&before, SHARE_REFUSED, "sessions_offline");
            eventually("it has gone", || metric(&before, "lapwing_sessions_offline", "") + over() == n + 1);
        }
        assert_eq!(metric(&before, SHARE_REFUSED, "sessions_offline"), 3, "{greedy:?}");
        let words = format!("{} has 19 of all sessions without a connection", greedy.unwrap_or("127.0.0.1"));
        assert_eq!(told(&before, &words), 1);
        let is_there = |node: &Handle, user, id: &str| {
            let packet = lasting(id);
            Client::connect_with(node, &of_any(user, packet)).1
        };
        assert!(!is_there(&before, modest, "modest"));
        eventually("it has gone", || metric(&before, "lapwing_sessions_offline", "") == 20);
        assert!(is_there(&before, modest, "modest") && is_there(&before, greedy, "c0"));
        eventually("both have gone", || metric(&before, "lapwing_sessions_offline", "") == 20);
        assert!(is_there(&before, greedy, "c0"), "what is there stays");
        before.stop().unwrap();

        if greedy.is_some() {
            let after = start(r#""sessions_offline_max": 21"#, &on_disk);
            assert!(!is_there(&after, greedy, "more"));
            eventually("it has gone", || metric(&after, SHARE_REFUSED, "sessions_offline") == 1);
            assert!(!is_there(&after, modest, "another"));
            eventually("it has gone", || metric(&after, "lapwing_sessions_offline", "") == 21);
            assert!(is_there(&after, greedy, "c18") && is_there(&after, modest, "another"));
            after.stop().unwrap();
        }
    }
}
