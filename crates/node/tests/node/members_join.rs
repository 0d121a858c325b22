//! Nodes that join a cluster, over real sockets and certificates.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use lapwing_cluster::Token;
use lapwing_codec::{QoS, SubscriptionOptions};
use lapwing_node::Member;
use lapwing_transport::PeerStream;

use crate::client::Client;
use crate::marsh::{Marsh, PATIENCE, active, led, seen, status, token, until};
use crate::newcomer::{Newcomer, founded};
use crate::packets::lasting;

const HOUR_MS: u64 = 60 * 60 * 1_000;

fn wall_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("behind 1970").as_millis() as u64
}

/// Does a token make one node a member, which all list, which learns in all groups and is connected; and nobody a second time?
#[test]
fn a_token_makes_one_member() {
    let marsh = Marsh::new(3);
    let mut members = marsh.start_all();
    let text = token(&members).to_text();
    let (first, second) = (Newcomer::new(marsh.dir.path(), "east"), Newcomer::new(marsh.dir.path(), "west"));
    let joined = first.join(&text).expect("it joins");
    assert_eq!((joined.node, joined.cluster_name.as_str(), joined.is_to_vote), (4, "marsh", true));
    assert_eq!(joined.members.iter().map(|(node, _)| *node).collect::<Vec<_>>(), [1, 2, 3]);
    for file in ["cluster.json", "cluster-ca.pem", "cluster-ca.key", "cluster-node.pem", "cluster-node.key"] {
        let mode = std::fs::metadata(first.dir().join(file)).expect(file).permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    assert!(second.refused(&text).contains("was used"), "twice");
    assert!(first.refused(&text).contains("is a member's folder already"));

    members.push(Some(first.start()));
    let address = first.address.to_string();
    until("listed and connected", &members, || {
        (0..3).all(|place| {
            let status = status(&members, place);
            seen(&status, 4).is_some_and(|seen| seen.is_connected && seen.addresses == [address.clone()])
        })
    });
    // Whoever leads knows how far it is in all groups, once it is in all of them.
    until("in all groups", &members, || {
        (0..3).any(|place| seen(&status(&members, place), 4).is_some_and(|seen| seen.behind.is_some()))
    });
    assert_eq!(members[3].as_ref().expect("it runs").failure(), None);
    let (_, handle) = active(&members[..3]);
    crate::connect(&handle, "publisher").publish_acked("t/a", b"as before");
}

/// Mangled, older than an hour, of nobody, of another cluster: is each said in a line, and is the cluster as it was?
#[test]
fn no_other_token_does() {
    let marsh = Marsh::new(3);
    let members = marsh.start_all();
    let newcomer = Newcomer::new(marsh.dir.path(), "east");
    let made_at = |made_at_ms| led(&members, |_, leader| leader.make_token_at(made_at_ms)).expect("a token");
    let old = made_at(wall_ms() - 2 * HOUR_MS);
    assert!(newcomer.refused(&old.to_text()).contains("older than an hour"), "and nobody may join");
    let good = token(&members);
    let mangled = good.to_text().replace("lapwing1-", "lapwing1-A");
    assert!(newcomer.refused(&mangled).contains("mangled"));
    assert!(newcomer.refused("sesame").contains("this is no token"));
    let old = made_at(wall_ms() - HOUR_MS - 60_000);
    let words = newcomer.refused(&old.to_text());
    assert!(words.contains("s old, and good for an hour") || words.contains("not known here"), "{words}");
    let nobodys = Token::new(good.address.clone(), good.authority, [8; 32]);
    assert!(newcomer.refused(&nobodys.to_text()).contains("not known here"));
    let others = Token::new(good.address.clone(), [9; 32], *good.secret());
    assert!(newcomer.refused(&others.to_text()).contains("not of the token's cluster"));
    let held = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let gone = Token::new(held.to_string(), good.authority, *good.secret());
    assert!(newcomer.refused(&gone.to_text()).contains("cannot reach"));
    assert!((0..3).all(|place| status(&members, place).nodes.len() == 3));
    // Nothing of that has used up the good one, nor the folder.
    assert_eq!(newcomer.joins(&good.to_text()), 4);
}

/// A member that does not lead is asked: does it send on to who does?
#[test]
fn any_member_can_be_asked() {
    let marsh = Marsh::new(3);
    let members = marsh.start_all();
    let good = token(&members);
    let (place, _) = active(&members);
    let other = members[(place + 1) % 3].as_ref().expect("it runs");
    until("known to all", &members, || {
        let at_other = Token::new(other.address().to_string(), good.authority, [1; 32]);
        let words = Newcomer::new(marsh.dir.path(), "nobody").refused(&at_other.to_text());
        words.contains("not known here")
    });
    let at_other = Token::new(other.address().to_string(), good.authority, *good.secret());
    assert_eq!(Newcomer::new(marsh.dir.path(), "east").joins(&at_other.to_text()), 4);
    let sends_on = |member: &Member| {
        member.make_token().is_err_and(|error| error.to_string().contains("leads the cluster: do it there"))
    };
    until("sent on for a token", &members, || members.iter().flatten().any(sends_on));
}

/// Tables that differ, a name that is taken, a folder that is in use: is the first one named, and is nothing used up?
#[test]
fn a_newcomer_fits_in() {
    let marsh = Marsh::new(1);
    let members = marsh.start_all();
    let text = token(&members).to_text();
    let mut newcomer = Newcomer::new(marsh.dir.path(), "east");
    let good = newcomer.config.clone();
    newcomer.config = crate::config(&format!(
        r#"{{"data_dir": {:?}, "durability": "disk", "topics": {{"a/#": {{"message_expiry_s_max": 5}}}}}}"#,
        newcomer.dir()
    ));
    let words = newcomer.refused(&text);
    assert!(words.contains("[topics]"), "{words}");
    newcomer.config = good;
    newcomer.name = "node-1".into();
    assert!(newcomer.refused(&text).contains("has the name"));
    newcomer.name = "no name".into();
    assert!(newcomer.refused(&text).contains("correct it"));
    newcomer.name = "east".into();
    newcomer.join(&text).expect("it joins");
    // It is not there and has nothing: the one that votes does so alone, and goes on.
    until("in all groups", &members, || {
        seen(&status(&members, 0), 2).is_some_and(|seen| seen.standing == "learner" && seen.behind.is_some())
    });
    // As a crash leaves it that came before the identity.
    std::fs::remove_file(newcomer.dir().join("cluster.json")).expect("there was one");
    newcomer.name = "again".into();
    assert_eq!(newcomer.joins(&token(&members).to_text()), 3, "anew");

    let used = Newcomer::new(marsh.dir.path(), "used");
    let alone = lapwing_node::Handle::start(used.config.clone()).expect("a node");
    crate::connect(&alone, "publisher").publish_retained("t/a", b"kept");
    alone.stop().expect("it ends well");
    let words = used.refused(&token(&members).to_text());
    assert!(words.contains("is not empty"), "{words}");
}

/// Of a cluster in which five vote: is the sixth told that it has a copy and no vote?
#[test]
fn a_sixth_learns() {
    let marsh = Marsh::new(5);
    let members = marsh.start_all();
    let joined = Newcomer::new(marsh.dir.path(), "sixth").join(&token(&members).to_text()).expect("it joins");
    assert_eq!((joined.node, joined.is_to_vote), (6, false));
    until("listed", &members, || {
        (0..5).all(|place| seen(&status(&members, place), 6).is_some_and(|seen| seen.standing == "learner"))
    });
}

/// Somebody who has come to join, and says nothing yet.
fn guest(token: &Token) -> PeerStream {
    let mut guest = PeerStream::join(token.address.parse().expect("an address"), token.authority).expect("begun");
    let begun = Instant::now();
    while guest.is_shaking() {
        let _ = guest.read(&mut [0; 512]);
        assert!(begun.elapsed() < PATIENCE, "no handshake");
        std::thread::yield_now();
    }
    guest
}

/// More come than may, and say nothing: is one sent away, and does somebody join when they are gone?
#[test]
fn guests_are_bounded() {
    let marsh = Marsh::new(1);
    let members = marsh.start_all();
    let token = token(&members);
    let guests: Vec<PeerStream> = (0..9).map(|_| guest(&token)).collect();
    until("one too many", &members, || status(&members, 0).cuts.get("strangers").copied() == Some(1));
    drop(guests);
    until("they are gone", &members, || status(&members, 0).cuts.values().sum::<u64>() >= 9);
    assert_eq!(Newcomer::new(marsh.dir.path(), "east").joins(&token.to_text()), 2);
}

/// Strangers come while somebody may join, with rubbish before and behind the handshake: are they cut and counted, and goes
/// everything else on?
#[test]
fn rubbish_is_cut_and_counted() {
    let marsh = Marsh::new(1);
    let members = marsh.start_all();
    let token = token(&members);
    let address: SocketAddr = token.address.parse().expect("an address");
    TcpStream::connect(address).expect("it listens").write_all(b"GET / HTTP/1.1\r\n\r\n").expect("written");
    let count = |reason: &str| status(&members, 0).cuts.get(reason).copied().unwrap_or(0);
    until("no TLS", &members, || count("no_tls") == 1);
    for (rubbish, reason) in [
        (&[0xFF; 64][..], "too_long"),
        (&[8, 0, 0, 0, 99, 1, 0, 0], "unknown_kind"),
        (&[0, 0, 0, 0, 4, 1, 0, 0], "out_of_place"),
        (&[4, 0, 0, 0, 9, 1, 0, 0, 1, 2, 3, 4], "cut_short"),
    ] {
        let mut stranger = guest(&token);
        let taken = stranger.write(rubbish).expect("taken");
        assert_eq!(taken, rubbish.len());
        until(reason, &members, || count(reason) == 1);
    }
    let (_, handle) = active(&members);
    crate::connect(&handle, "publisher").publish_acked("t/a", b"as before");
    assert_eq!(Newcomer::new(marsh.dir.path(), "east").joins(&token.to_text()), 2);
}

/// A cluster that was founded, as people do it: does somebody join, and does its folder open as a member's?
#[test]
fn a_founded_cluster_is_joined() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut members = founded(dir.path());
    let east = Newcomer::new(dir.path(), "east");
    assert_eq!(east.joins(&token(&members).to_text()), 2);
    members.push(Some(east.start()));
    until("connected, and in all groups", &members, || {
        seen(&status(&members, 0), 2).is_some_and(|seen| seen.is_connected && seen.behind.is_some())
    });
    assert_eq!(members[1].as_ref().expect("it runs").failure(), None);
}

/// Two nodes join a founded cluster in which messages wait: do they get everything, vote, and go on without the founder?
#[test]
fn who_has_joined_takes_over() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut members = founded(dir.path());
    let (_, handle) = active(&members);
    let (mut keeper, _) = Client::connect_with(&handle, &lasting("keeper"));
    keeper.subscribe("t/#", SubscriptionOptions::new(QoS::AtLeastOnce));
    drop(keeper);
    let mut publisher = crate::connect(&handle, "publisher");
    (0..20).for_each(|n| publisher.publish_acked("t/a", format!("{n}").as_bytes()));
    drop((publisher, handle));
    for name in ["east", "west"] {
        let newcomer = Newcomer::new(dir.path(), name);
        let node = newcomer.joins(&token(&members).to_text());
        members.push(Some(newcomer.start()));
        until("a vote", &members, || seen(&status(&members, 0), node).is_some_and(|seen| seen.standing == "voter"));
    }
    let (place, handle) = active(&members);
    crate::connect(&handle, "publisher").publish_acked("t/a", b"20");
    drop(handle);
    members[place].take().expect("it ran").stop().expect("it ends well");
    let (next, handle) = active(&members);
    assert_ne!(next, place);
    let (mut keeper, is_present) = Client::connect_with(&handle, &lasting("keeper"));
    assert!(is_present);
    for n in 0..=20 {
        let message = keeper.receive();
        assert_eq!(String::from_utf8_lossy(&message.payload), format!("{n}"));
        keeper.acknowledge(&message);
    }
    keeper.expect_silence();
    // Another one lets others join: the authority is with all of them.
    let last = Newcomer::new(dir.path(), "south");
    assert_eq!(last.joins(&token(&members).to_text()), 4);
}
