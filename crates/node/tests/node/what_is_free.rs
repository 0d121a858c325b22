//! The tables that all share, with nothing set but their size: whoever has most of one leaves some of it to others.

use lapwing_codec::{Connect, ReasonCode};
use lapwing_node::Handle;

use crate::client::Client;
use crate::metric;
use crate::packets::connect;
use crate::shares::{AT_MOST_ONCE, SHARE_REFUSED, kept_in_all, of, retain, start, told};

/// Who takes much, and who comes then: two users, and two clients without a name at one address.
const PAIRS: [[(Option<&str>, &str); 2]; 2] =
    [[(Some("alice"), "a"), (Some("bob"), "b")], [(None, "greedy"), (None, "modest")]];

fn come<'a>((user, id): (Option<&'a str>, &'a str), node: &Handle) -> Client {
    let packet: Connect<'a> = connect(id);
    Client::connect_with(node, &user.map_or(packet.clone(), |user| of(user, packet))).0
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
