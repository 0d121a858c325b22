//! What an operator sees of a session, and an order to empty its queue.

use std::num::NonZeroU64;

use lapwing_codec::{Ack, Packet, PublishProperties, QoS, SubscriptionOptions, Version};
use lapwing_session::{
    Accepted, Bound, CommitToken, Delivered, DropReason, Fact, Fate, Outcome, QueuedView, Routed, Settings,
};

use crate::rig::{OTHER, Rig, connect, connect_persistent, entry, grant, id, publish};

const QOS1: QoS = QoS::AtLeastOnce;
const QOS2: QoS = QoS::ExactlyOnce;

/// Away, kept, with three messages under the entries 1 to 3.
fn away() -> Rig {
    let mut rig = Rig::connected(&connect_persistent(Version::V5), Settings::default());
    rig.session().keep(entry(100));
    assert!(!rig.disconnected().ended);
    let short = PublishProperties { message_expiry_s: Some(5), ..PublishProperties::default() };
    let short = lapwing_codec::Publish { properties: short, ..publish("short", QOS2, 1) };
    assert_eq!(rig.deliver_entry(publish("a", QOS1, 1), &[grant(QOS1)], 1), Delivered::Queued);
    assert_eq!(rig.deliver_entry(short, &[grant(QOS1)], 2), Delivered::Queued);
    assert_eq!(rig.deliver_entry(publish("b", QOS2, 1), &[grant(QOS2)], 3), Delivered::Queued);
    rig
}

/// Is each message that waits seen in its order, as it will go to this client, and do the bytes add up?
#[test]
fn the_queue_is_seen_in_its_order() {
    let mut rig = away();
    let now_ms = rig.now_ms;
    let seen: Vec<(String, QoS, Option<u64>, Option<NonZeroU64>)> = rig
        .session()
        .queued()
        .map(|QueuedView { topic, qos, expires_at_ms, entry, .. }| {
            (topic.unwrap_or("-").to_owned(), qos, expires_at_ms, entry)
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("a".to_owned(), QOS1, None, Some(entry(1))),
            ("short".to_owned(), QOS1, Some(now_ms + 5000), Some(entry(2))),
            ("b".to_owned(), QOS2, None, Some(entry(3))),
        ]
    );
    let bytes: u64 = rig.session().queued().map(|message| message.bytes).sum();
    assert_eq!(bytes, rig.session().queued_bytes());
    assert!(rig.session().queued().all(|message| !message.is_of_group && !message.retain));
}

/// Does an order to empty a queue take the oldest, a share at a time, tell and count each once, and leave nothing behind?
#[test]
fn a_queue_is_emptied_by_shares() {
    let mut rig = away();
    let bytes = rig.session().queued_bytes();
    let (session, mut io) = rig.parts();
    let (first, first_bytes) = session.empty_queue(2, &mut io);
    let (rest, rest_bytes) = session.empty_queue(2, &mut io);
    assert_eq!((first, rest, first_bytes + rest_bytes), (2, 1, bytes));
    assert_eq!(session.empty_queue(2, &mut io), (0, 0));
    assert_eq!((rig.session().queued_messages(), rig.session().queued_bytes()), (0, 0));
    assert_eq!(rig.counters.dropped(DropReason::QueueEmptied), 3);
    assert_eq!(rig.facts(), [1, 2, 3].map(|n| Fact::Finished { entry: entry(n) }));
}

/// Does a message of a group go back to it, uncounted here, and what is under way stay?
#[test]
fn what_a_group_has_bound_goes_back() {
    let mut wish = connect(Version::V5);
    wish.properties.receive_max = 1;
    let mut rig = Rig::connected(&wish, Settings::default());
    assert_eq!(rig.deliver(publish("t", QOS1, 1), &[grant(QOS1)]), Delivered::Sent);
    let routed = Routed::new(publish("t", QOS1, 1), OTHER, rig.now_ms);
    let (now_ms, bound) = (rig.now_ms, Bound { group: NonZeroU64::MIN, assignment: 7 });
    let (session, mut io) = rig.parts();
    assert_eq!(session.deliver_bound(&routed, &grant(QOS1), QOS1, Some(bound), now_ms, &mut io), Delivered::Queued);
    assert!(session.queued().all(|message| message.is_of_group));
    assert_eq!(session.empty_queue(10, &mut io).0, 1);
    assert_eq!(session.inflight_messages(), 1);
    let outcomes: Vec<Outcome> = rig.session().take_outcomes().collect();
    assert_eq!(outcomes, [Outcome { bound, fate: Fate::HandedBack }]);
    assert_eq!(rig.counters.dropped(DropReason::QueueEmptied), 0);
}

/// Are messages from the client counted until they are done, and is its version known while it is here?
#[test]
fn messages_from_the_client_are_counted_until_they_are_done() {
    let mut rig = Rig::connected(&connect_persistent(Version::V5), Settings::default());
    assert_eq!((rig.session().version(), rig.session().ends_at_ms()), (Some(Version::V5), None));
    rig.published(publish("t", QOS1, 1), Accepted::Later(CommitToken(1)));
    rig.published(publish("t", QOS2, 2), Accepted::Later(CommitToken(1)));
    assert_eq!(rig.session().received_messages(), 2);
    rig.committed(1);
    assert_eq!(rig.session().received_messages(), 1, "PUBREL has not come");
    rig.done(Packet::PubRel(Ack::success(id(2))));
    assert_eq!(rig.session().received_messages(), 0);
    let now_ms = rig.now_ms;
    assert!(!rig.disconnected().ended);
    assert_eq!((rig.session().version(), rig.session().ends_at_ms()), (None, Some(now_ms + 600_000)));
}

/// What makes a session more than a name: a subscription, a message for its client or from it until that is done?
#[test]
fn a_session_has_state_while_it_has_anything_to_lose() {
    let mut rig = Rig::connected(&connect_persistent(Version::V5), Settings::default());
    assert!(!rig.session().has_state());
    let reply = rig.subscribe(&[("t", SubscriptionOptions::new(QOS1))], |_| Ok(())).unwrap();
    rig.reply(reply).unwrap();
    assert!(rig.session().has_state(), "a subscription");
    let (reply, _) = rig.unsubscribe(&["t"]);
    rig.reply(reply).unwrap();
    assert!(!rig.session().has_state());
    assert_eq!(rig.deliver(publish("t", QOS1, 1), &[grant(QOS1)]), Delivered::Sent);
    assert!(rig.session().has_state(), "a message under way");
    rig.done(Packet::PubAck(Ack::success(id(1))));
    assert!(!rig.session().has_state());
    rig.published(publish("t", QOS2, 2), Accepted::Now);
    assert!(rig.session().has_state(), "PUBREL has not come");
    rig.done(Packet::PubRel(Ack::success(id(2))));
    assert!(!rig.session().has_state());
    assert!(!rig.disconnected().ended);
    assert_eq!(rig.deliver(publish("t", QOS1, 1), &[grant(QOS1)]), Delivered::Queued);
    assert!(rig.session().has_state(), "a message that waits");
}
