//! Members that lack what the others' logs no longer have: snapshots travel to them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lapwing_codec::{QoS, SubscriptionOptions};
use lapwing_node::{Handle, Member};

use crate::client::Client;
use crate::fronts::{Cuts, front};
use crate::marsh::{Marsh, active, seen, serve_at, status, until};
use crate::packets::lasting;

const QOS1: SubscriptionOptions = SubscriptionOptions::new(QoS::AtLeastOnce);
const KEEPERS: [&str; 4] = ["keeper-a", "keeper-b", "keeper-c", "keeper-d"];
const PAYLOAD_BYTES: usize = 16 << 10;

/// Logs are short, and nobody waits for who lags.
fn impatient(mut marsh: Marsh) -> Marsh {
    // Nobody is elected because the machine is slow.
    marsh.change = |settings| (settings.keep_log_bytes, settings.election_ms) = (32 << 10, 1_500);
    marsh.configs.iter_mut().for_each(|config| config.limits.log_snapshot_bytes = 4 << 10);
    marsh
}

fn moved(members: &[Option<Member>], place: usize, what: &str) -> u64 {
    status(members, place).moved[what]
}

fn subscribe(handle: &Handle) {
    for keeper in KEEPERS {
        Client::connect_with(handle, &lasting(keeper)).0.subscribe("t/#", QOS1);
    }
}

fn payload(number: u32) -> Vec<u8> {
    let mut payload = format!("{number:08}").into_bytes();
    payload.resize(PAYLOAD_BYTES, number as u8);
    payload
}

/// Publishes until the logs were let go of behind it; how many.
fn publish_until_purged(members: &[Option<Member>], place: usize, handle: &Handle) -> u32 {
    let (mut publisher, mut most, mut number) = (crate::connect(handle, "publisher"), 0, 0);
    publisher.publish_retained("state", b"retained");
    loop {
        publisher.publish_acked("t/a", &payload(number));
        number += 1;
        let log_bytes = status(members, place).log_bytes;
        if number > 100 && log_bytes < most {
            return number;
        }
        most = log_bytes;
        assert!(number < 4000, "{log_bytes} bytes, and nothing is let go of");
    }
}

fn assert_everything(handle: &Handle, count: u32) {
    for keeper in KEEPERS {
        let (mut client, is_present) = Client::connect_with(handle, &lasting(keeper));
        assert!(is_present, "{keeper}");
        for number in 0..count {
            let message = client.receive();
            assert!(message.payload == payload(number), "{keeper}: {number}");
            client.acknowledge(&message);
        }
        client.expect_silence();
    }
    let mut reader = crate::connect(handle, "reader");
    reader.subscribe("state", QOS1);
    assert_eq!(reader.receive().payload, b"retained");
}

/// Starts it, and waits until it has what the others have.
fn catch_up(marsh: &Marsh, members: &mut [Option<Member>], place: usize) {
    members[place] = Some(marsh.start(place));
    let members = &*members;
    until("caught up", members, || {
        let lacks = |other: usize| seen(&status(members, other), place as u8 + 1).and_then(|node| node.behind);
        (0..members.len())
            .filter(|other| *other != place && members[*other].is_some())
            .any(|other| lacks(other) == Some(0))
    });
}

/// A member was away while the others' logs were let go of: has it everything when it serves next?
#[test]
fn who_was_away_comes_back_by_snapshots() {
    let marsh = impatient(Marsh::new(3));
    let mut members = marsh.start_all();
    let (place, handle) = active(&members);
    subscribe(&handle);
    let away = (place + 1) % 3;
    members[away].take().expect("it ran").stop().expect("it ends well");
    let count = publish_until_purged(&members, place, &handle);
    drop(handle);
    catch_up(&marsh, &mut members, away);
    assert!(moved(&members, away, "received") > 0, "{:#?}", status(&members, away));
    // What it has it has on disk.
    members[away].take().expect("it ran").stop().expect("it ends well");
    catch_up(&marsh, &mut members, away);
    assert_everything(&serve_at(&members, away), count);
    members.iter().flatten().for_each(|member| assert_eq!(member.failure(), None));
}

/// The connection breaks in the midst, twice: does the transfer go on where it was?
#[test]
fn a_transfer_goes_on_over_another_connection() {
    let cuts = Arc::new(Cuts::default());
    let marsh = impatient(Marsh::behind(3, |address| front(address, &cuts)));
    let mut members = marsh.start_all();
    let (place, handle) = active(&members);
    subscribe(&handle);
    let away = (place + 1) % 3;
    members[away].take().expect("it ran").stop().expect("it ends well");
    let count = publish_until_purged(&members, place, &handle);
    drop(handle);
    cuts.bytes.store(600 << 10, Ordering::Relaxed);
    cuts.left.store(2, Ordering::Relaxed);
    catch_up(&marsh, &mut members, away);
    assert_eq!(cuts.left.load(Ordering::Relaxed), 0);
    assert!(moved(&members, away, "resumed") > 0, "{:#?}", status(&members, away));
    assert_everything(&serve_at(&members, away), count);
}

/// A folder with an empty log, as one that joins has: is it sent all groups, the metadata among them, from the first moment?
#[test]
fn an_empty_log_is_filled_by_snapshots() {
    let marsh = impatient(Marsh::new(3));
    let folder = marsh.configs[2].data_dir.clone().expect("a folder");
    std::fs::remove_dir_all(folder.join("log")).expect("removed");
    let mut members = vec![Some(marsh.start(0)), Some(marsh.start(1)), None];
    let (place, handle) = active(&members);
    subscribe(&handle);
    let count = publish_until_purged(&members, place, &handle);
    drop(handle);
    catch_up(&marsh, &mut members, 2);
    assert!(moved(&members, 2, "received") >= 17, "{:#?}", status(&members, 2));
    assert_eq!(status(&members, 2).nodes.len(), 3, "it knows the members");
    assert_everything(&serve_at(&members, 2), count);
}
