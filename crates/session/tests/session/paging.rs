//! What waits in the log: read page by page, in order, once, whatever happens to the session meanwhile.

use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_codec::{Ack, Packet, Publish, PublishProperties, QoS, Version};
use lapwing_session::{
    Delivered, DropReason, Fact, KeptOptions, Message, QueuePolicy, ReadEntry, Restoration, Restored, Settings,
};

use crate::rig::{ME, OTHER, Rig, connect_persistent, entry, grant, id, packets, publish};

pub(crate) const QOS1: QoS = QoS::AtLeastOnce;
const QOS2: QoS = QoS::ExactlyOnce;

/// What a small message costs in memory: it has pointers.
fn small() -> u64 {
    numbered(1, QOS1).map_or(0, |message| message.footprint() as u64)
}

/// The same as the log's queue counts it.
fn small_in_the_log() -> u64 {
    small().next_multiple_of(64)
}

/// More than two small messages, less than three.
pub(crate) fn two() -> u64 {
    small() * 14 / 5
}

/// Connected and kept, with so much at hand.
pub(crate) fn paged(settings: Settings) -> Rig {
    let mut rig = Rig::connected(&connect_persistent(Version::V5), settings);
    rig.session().keep(entry(1_000_000));
    rig.at_hand_bytes_max = Some(two());
    rig
}

pub(crate) fn numbered(n: u64, qos: QoS) -> Option<Arc<Message>> {
    Some(Arc::new(Message::new(&Publish { payload: &n.to_be_bytes(), ..publish("t", qos, 1) }, OTHER, None)))
}

fn deliver(rig: &mut Rig, n: u64, qos: QoS) -> Delivered {
    rig.deliver_entry(Publish { payload: &n.to_be_bytes(), ..publish("t", qos, 1) }, &[grant(QOS2)], n)
}

/// Delivers these, whatever becomes of them.
pub(crate) fn deliver_all(rig: &mut Rig, numbers: impl IntoIterator<Item = u64>) {
    for n in numbers {
        let _ = deliver(rig, n, QOS1);
    }
}

/// Reads what the session asks for, all of QoS 1; returns the entries.
fn serve(rig: &mut Rig, bytes_max: u64) -> Vec<u64> {
    assert!(rig.session().wants_page());
    let entries = rig.session().ask_page(bytes_max);
    assert!(!rig.session().wants_page(), "one page at a time");
    rig.take_page(entries.iter().map(|n| (entry(*n), numbered(*n, QOS1))).collect());
    entries
}

/// Numbers of the messages sent since the last call, DUP as a sign.
fn sent(rig: &mut Rig) -> Vec<i64> {
    let out = std::mem::take(&mut rig.out);
    let numbers = packets(&out, rig.version, |packet| match packet {
        Packet::Publish(publish) => {
            let n = i64::from_be_bytes(publish.payload.try_into().expect("a number"));
            Some(if publish.dup { -n } else { n })
        }
        _ => None,
    });
    numbers.into_iter().flatten().collect()
}

/// Is nothing in memory while the client is away, and does it come in order when it is back?
#[test]
fn nothing_is_in_memory_while_the_client_is_away() {
    let mut rig = paged(Settings::default());
    assert!(!rig.disconnected().ended);
    for n in 1..=10 {
        assert_eq!(deliver(&mut rig, n, QOS1), Delivered::Queued);
        assert!(rig.session().kept_options(entry(n)).is_some_and(|options| options.qos == QOS1));
    }
    assert_eq!((rig.session().queued_messages(), rig.session().bytes_at_hand()), (10, 0));
    assert!(rig.session().queued_bytes() >= 10 * small() && !rig.session().wants_page());
    rig.connect(&connect_persistent(Version::V5));
    assert!(sent(&mut rig).is_empty());
    assert_eq!(serve(&mut rig, 5 * small_in_the_log()), [1, 2, 3, 4, 5]);
    assert_eq!(serve(&mut rig, u64::MAX), [6, 7, 8, 9, 10]);
    assert_eq!((sent(&mut rig), rig.session().is_paged()), ((1..=10).collect(), false));
    // And what comes then goes straight through.
    assert_eq!(deliver(&mut rig, 11, QOS1), Delivered::Sent);
}

/// Does a client that is there and slow have a window in memory, and the rest in the log, in order?
#[test]
fn a_slow_client_has_a_window() {
    let mut rig = paged(Settings { inflight_messages_max: 1, ..Settings::default() });
    deliver_all(&mut rig, 1..=6);
    assert_eq!((rig.session().messages_at_hand(), rig.session().paged_messages()), (2, 3));
    assert!(!rig.session().wants_page(), "what is at hand comes first");
    for n in 1..=2 {
        rig.done(Packet::PubAck(Ack::success(id(n))));
    }
    assert_eq!(serve(&mut rig, u64::MAX), [4, 5, 6]);
    (3..=6).for_each(|n| rig.done(Packet::PubAck(Ack::success(id(n)))));
    assert_eq!(sent(&mut rig), [1, 2, 3, 4, 5, 6]);
}

/// Is what is under way bounded too, but for one message?
#[test]
fn what_is_under_way_is_bounded() {
    for (at_hand_bytes_max, expected) in [(0, 1), (two(), 12)] {
        let mut rig = paged(Settings::default());
        rig.at_hand_bytes_max = Some(at_hand_bytes_max);
        deliver_all(&mut rig, 1..=50);
        assert_eq!(rig.session().inflight_messages(), expected);
        let mut next = 1;
        while rig.session().inflight_messages() > 0 {
            rig.done(Packet::PubAck(Ack::success(id(next))));
            next += 1;
            while rig.session().wants_page() {
                serve(&mut rig, 500);
            }
        }
        assert_eq!(sent(&mut rig), (1..=50).collect::<Vec<_>>());
    }
}

/// [MQTT-4.4.0-1] does what was under way come from the log first, with its packet ids, and only then the rest?
#[test]
fn what_was_under_way_is_read_first() {
    let mut rig = paged(Settings { inflight_messages_max: 3, ..Settings::default() });
    deliver_all(&mut rig, 1..=5);
    rig.done(Packet::PubAck(Ack::success(id(2))));
    assert_eq!(sent(&mut rig), [1, 2, 3, 4]);
    assert!(!rig.disconnected().ended);
    assert_eq!(rig.session().bytes_at_hand(), 0);
    assert_eq!(deliver(&mut rig, 6, QOS1), Delivered::Queued);
    rig.connect(&connect_persistent(Version::V5));
    // The first of them is acknowledged before it is read.
    let entries = rig.session().ask_page(1);
    assert_eq!(entries, [1, 3, 4]);
    rig.done(Packet::PubAck(Ack::success(id(1))));
    rig.take_page(vec![(entry(1), numbered(1, QOS1)), (entry(3), numbered(3, QOS1))]);
    assert_eq!(sent(&mut rig), [-3]);
    assert_eq!(serve(&mut rig, 1), [4]);
    assert_eq!(serve(&mut rig, 1), [5]);
    assert_eq!(sent(&mut rig), [-4, 5]);
    rig.done(Packet::PubAck(Ack::success(id(3))));
    assert_eq!(serve(&mut rig, 1), [6]);
    assert_eq!(sent(&mut rig), [6]);
}

/// Is a page that comes too late not taken: its client has gone, and what it had has been let go of?
#[test]
fn a_late_page_is_not_taken() {
    let mut rig = paged(Settings { inflight_messages_max: 1, ..Settings::default() });
    deliver_all(&mut rig, 1..=6);
    rig.done(Packet::PubAck(Ack::success(id(1))));
    let late = rig.session().ask_page(1000);
    assert_eq!((&late, rig.session().messages_at_hand()), (&vec![4, 5, 6], 1));
    assert!(!rig.disconnected().ended);
    rig.connect(&connect_persistent(Version::V5));
    sent(&mut rig);
    rig.take_page(late.iter().map(|n| (entry(*n), numbered(*n, QOS1))).collect());
    assert_eq!((sent(&mut rig), rig.session().queued_messages()), (vec![], 4));
    assert_eq!(serve(&mut rig, 1000), [2], "sent and not acknowledged");
    assert_eq!(serve(&mut rig, 1000), [3, 4, 5, 6]);
    // And once more, while nobody is there.
    let mut rig = paged(Settings::default());
    assert!(!rig.disconnected().ended);
    deliver_all(&mut rig, [1]);
    rig.connect(&connect_persistent(Version::V5));
    let late = rig.session().ask_page(1000);
    assert!(!rig.disconnected().ended);
    rig.take_page(late.iter().map(|n| (entry(*n), numbered(*n, QOS1))).collect());
    assert_eq!((rig.session().bytes_at_hand(), rig.session().paged_messages()), (0, 1));
}

/// Do the bounds of the queue hold for what is in the log, by the sizes of the messages, and is each that goes told?
#[test]
fn bounds_hold_in_the_log() {
    for (queue_policy, left, gone) in
        [(QueuePolicy::DropOldest, [3, 4, 5], [1, 2]), (QueuePolicy::DropNewest, [1, 2, 3], [4, 5])]
    {
        for (queue_messages_max, queue_bytes_max) in [(3, 1 << 20), (100, 7 * small_in_the_log() / 2)] {
            let mut rig = paged(Settings { queue_messages_max, queue_bytes_max, queue_policy, ..Settings::default() });
            assert!(!rig.disconnected().ended);
            deliver_all(&mut rig, 1..=5);
            let told = rig.facts();
            if queue_policy == QueuePolicy::DropOldest {
                assert_eq!(told, gone.map(|n| Fact::Finished { entry: entry(n) }));
            }
            assert_eq!(rig.counters.dropped(DropReason::QueueFull), 2);
            assert!(gone.iter().all(|n| rig.session().kept_options(entry(*n)).is_none()));
            rig.connect(&connect_persistent(Version::V5));
            assert_eq!(serve(&mut rig, u64::MAX), left);
            assert_eq!(sent(&mut rig), left.map(|n| n as i64));
        }
    }
}

/// Is a message that has expired in the log found when it is read, and counted then?
#[test]
fn what_has_expired_is_found_when_it_is_read() {
    let mut rig = paged(Settings::default());
    assert!(!rig.disconnected().ended);
    let short = PublishProperties { message_expiry_s: Some(1), ..PublishProperties::default() };
    let number = 1_u64.to_be_bytes();
    let short = Publish { payload: &number, properties: short, ..publish("t", QOS1, 1) };
    assert_eq!(rig.deliver_entry(short, &[grant(QOS1)], 1), Delivered::Queued);
    deliver_all(&mut rig, [2]);
    rig.now_ms += 5000;
    rig.connect(&connect_persistent(Version::V5));
    assert_eq!(rig.session().ask_page(1000), [1, 2]);
    let expired = Arc::new(Message::new(&short, OTHER, Some(rig.now_ms - 4000)));
    rig.take_page(vec![(entry(1), Some(expired)), (entry(2), numbered(2, QOS1))]);
    assert_eq!((sent(&mut rig), rig.counters.dropped(DropReason::Expired)), (vec![2], 1));
    assert_eq!(rig.facts(), [Fact::Finished { entry: entry(1) }]);
}

/// Is a message that has waited too long in the log dropped when it is read, by the time that the log says, and one that was
/// under way not?
#[test]
fn what_is_too_old_is_found_when_it_is_read() {
    let mut rig = paged(Settings { queue_age_ms_max: 60_000, inflight_messages_max: 1, ..Settings::default() });
    deliver_all(&mut rig, 1..=3);
    assert!(!rig.disconnected().ended);
    rig.connect(&connect_persistent(Version::V5));
    sent(&mut rig);
    assert_eq!(rig.session().ask_page(u64::MAX), [1]);
    rig.take_entries(vec![aged(&rig, 1, 90_000)]);
    assert_eq!(rig.session().ask_page(u64::MAX), [2, 3]);
    rig.take_entries(vec![aged(&rig, 2, 60_000), aged(&rig, 3, 59_999)]);
    rig.done(Packet::PubAck(Ack::success(id(1))));
    assert_eq!((sent(&mut rig), rig.counters.dropped(DropReason::QueueAge)), (vec![-1, 3], 1));
    assert_eq!(rig.facts(), [1, 2].map(|n| Fact::Finished { entry: entry(n) }));
}

/// An entry that has been in the log for so long.
fn aged(rig: &Rig, n: u64, age_ms: u64) -> ReadEntry {
    ReadEntry { entry: entry(n), message: numbered(n, QOS1), since_ms: rig.now_ms - age_ms }
}

/// Is a session put together again without a body, QoS 2 under way included?
#[test]
fn a_restart_needs_no_bodies() {
    let mut rig = Rig::new(Settings::default());
    rig.at_hand_bytes_max = Some(two());
    let mut restoration = Restoration::new(Restored {
        client_id: "me",
        key: ME,
        settings: &rig.settings,
        id: entry(1_000_000),
        expiry_s: 600,
        remaining_ms: Some(600_000),
        will: None,
        away_since: NonZeroU64::new(4),
        next_use: 1,
        now_ms: rig.now_ms,
    });
    let options = |qos| KeptOptions { qos, retain: false, ids: lapwing_codec::SubscriptionIds::EMPTY };
    restoration.paged(options(QOS1), entry(1), 100, None);
    restoration.paged(options(QOS2), entry(2), 100, Some(id(9)));
    (3..=5).for_each(|n| restoration.paged(options(QOS1), entry(n), 100, None));
    rig.session = Some(restoration.finish());
    assert_eq!((rig.session().queued_messages(), rig.session().inflight_messages()), (4, 1));
    assert_eq!((rig.session().queued_bytes(), rig.session().bytes_at_hand()), (4 * 128, 0));
    rig.connect(&connect_persistent(Version::V5));
    assert_eq!(rig.session().ask_page(1000), [2]);
    rig.take_page(vec![(entry(2), numbered(2, QOS2))]);
    assert_eq!(serve(&mut rig, 1000), [1, 3, 4, 5]);
    assert_eq!(sent(&mut rig), [-2, -1, -3, 4, 5]);
    assert_eq!(rig.session().inflight_messages(), 5);
}

/// Does what the log has lost go, counted and told, and all behind it come?
#[test]
fn what_was_lost_is_given_up() {
    let mut rig = paged(Settings { inflight_messages_max: 2, ..Settings::default() });
    deliver_all(&mut rig, 1..=5);
    assert_eq!(sent(&mut rig), [1, 2]);
    assert!(!rig.disconnected().ended);
    rig.connect(&connect_persistent(Version::V5));
    assert_eq!(rig.session().ask_page(1000), [1, 2]);
    rig.take_page(vec![(entry(1), None), (entry(2), numbered(2, QOS1))]);
    assert_eq!(rig.session().ask_page(1000), [3, 4, 5]);
    rig.take_page(vec![(entry(3), None), (entry(4), numbered(4, QOS1)), (entry(5), None)]);
    assert_eq!((sent(&mut rig), rig.counters.dropped(DropReason::Damaged)), (vec![-2, 4], 3));
    assert_eq!(rig.facts(), [1, 3, 5].map(|n| Fact::Finished { entry: entry(n) }));
}

/// A session that is over counts what is in the log too.
#[test]
fn the_end_counts_what_is_in_the_log() {
    let mut rig = paged(Settings::default());
    assert!(!rig.disconnected().ended);
    deliver_all(&mut rig, 1..=5);
    let session = rig.session.take().expect("it is there");
    drop(session.end(rig.now_ms, &mut rig.counters));
    assert_eq!(rig.counters.dropped(DropReason::SessionEnded), 5);
}
