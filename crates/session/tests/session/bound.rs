//! Messages that a group has bound to a client.

use std::num::NonZeroU64;

use lapwing_codec::{Ack, Packet, QoS, ReasonCode, Version};
use lapwing_session::{Bound, Delivered, Fate, Io, Outcome, Routed, Settings, Unfinished};

use crate::rig::{OTHER, Rig, connect, grant, id, publish};

fn bound(assignment: u64) -> Bound {
    Bound { group: NonZeroU64::MIN, assignment }
}

/// Delivers a bound message at `now_us`.
fn bind(rig: &mut Rig, qos: QoS, assignment: u64, now_us: u64) -> Delivered {
    let routed = Routed::new(publish("t", qos, 1), OTHER, rig.now_ms);
    let now_ms = rig.now_ms;
    let Rig { session, out, counters, .. } = rig;
    let session = session.as_mut().expect("connected");
    session.deliver_bound(
        &routed,
        &grant(qos),
        qos,
        Some(bound(assignment)),
        now_ms,
        &mut Io::at(out, counters, now_us),
    )
}

/// Handles an acknowledgement that was read at `now_us`.
fn acknowledge(rig: &mut Rig, packet: &Packet<'_>, now_us: u64) {
    let now_ms = rig.now_ms;
    let Rig { session, out, counters, .. } = rig;
    let session = session.as_mut().expect("connected");
    let step = session.handle(packet, now_ms, &mut Io::at(out, counters, now_us));
    assert!(step.is_ok(), "{step:?}");
}

fn outcomes(rig: &mut Rig) -> Vec<(u64, Fate)> {
    rig.session().take_outcomes().map(|Outcome { bound, fate }| (bound.assignment, fate)).collect()
}

fn refused(packet_id: u16) -> Ack<'static> {
    Ack { reason: ReasonCode::UnspecifiedError, ..Ack::success(id(packet_id)) }
}

/// Is a PUBACK told with the times of socket write and read, once?
#[test]
fn an_acknowledgement_has_the_times_of_the_socket() {
    let mut rig = Rig::v5();
    assert_eq!(bind(&mut rig, QoS::AtLeastOnce, 7, 100), Delivered::Sent);
    assert!(rig.session().has_unwritten());
    rig.session().written(150);
    assert!(!rig.session().has_unwritten());
    assert_eq!(bind(&mut rig, QoS::AtLeastOnce, 8, 160), Delivered::Sent);
    rig.session().written(200);
    acknowledge(&mut rig, &Packet::PubAck(Ack::success(id(1))), 300);
    acknowledge(&mut rig, &Packet::PubAck(Ack::success(id(1))), 310);
    acknowledge(&mut rig, &Packet::PubAck(Ack::success(id(2))), 320);
    let first = Fate::Acknowledged { written_us: 150, read_us: 300 };
    let second = Fate::Acknowledged { written_us: 200, read_us: 320 };
    assert_eq!(outcomes(&mut rig), [(7, first), (8, second)]);
    assert!(outcomes(&mut rig).is_empty());
}

/// Does QoS 2 end with PUBCOMP, with the time of PUBREC?
#[test]
fn qos_2_is_acknowledged_by_pubcomp_with_the_time_of_pubrec() {
    let mut rig = Rig::v5();
    assert_eq!(bind(&mut rig, QoS::ExactlyOnce, 7, 100), Delivered::Sent);
    acknowledge(&mut rig, &Packet::PubRec(Ack::success(id(1))), 200);
    assert!(outcomes(&mut rig).is_empty());
    acknowledge(&mut rig, &Packet::PubComp(Ack::success(id(1))), 300);
    assert_eq!(outcomes(&mut rig), [(7, Fate::Acknowledged { written_us: 100, read_us: 200 })]);
}

/// Is a reason code of 0x80 or above told as a refusal?
#[test]
fn refusals_are_told_as_such() {
    let mut rig = Rig::v5();
    assert_eq!(bind(&mut rig, QoS::AtLeastOnce, 1, 0), Delivered::Sent);
    assert_eq!(bind(&mut rig, QoS::ExactlyOnce, 2, 0), Delivered::Sent);
    acknowledge(&mut rig, &Packet::PubAck(refused(1)), 10);
    acknowledge(&mut rig, &Packet::PubRec(refused(2)), 10);
    assert_eq!(outcomes(&mut rig), [(1, Fate::Refused), (2, Fate::Refused)]);
}

/// Is a message that is too large for the client told, and counted by nobody else?
#[test]
fn what_the_client_cannot_have_is_told() {
    let mut wish = connect(Version::V5);
    wish.properties.packet_bytes_max = Some(5);
    let mut rig = Rig::connected(&wish, Settings::default());
    assert!(matches!(bind(&mut rig, QoS::AtLeastOnce, 7, 0), Delivered::Dropped(_)));
    assert_eq!(outcomes(&mut rig), [(7, Fate::Undeliverable)]);
    assert_eq!(rig.counters, lapwing_session::Counters::default());
}

/// Does a message that a group has bound wait for as long as the group wants, whatever is set for sessions?
#[test]
fn the_age_of_what_is_bound_is_its_groups_business() {
    let settings = Settings { queue_age_ms_max: 1, inflight_messages_max: 1, ..Settings::default() };
    let mut rig = Rig::connected(&connect(Version::V5), settings);
    assert_eq!(bind(&mut rig, QoS::AtLeastOnce, 7, 0), Delivered::Sent);
    assert_eq!(bind(&mut rig, QoS::AtLeastOnce, 8, 0), Delivered::Queued);
    rig.now_ms += 60_000;
    rig.sent();
    rig.done(Packet::PubAck(Ack::success(id(1))));
    assert_eq!(rig.sent(), ["publish(1,2)"]);
}

/// Does QoS 1 leave with the connection, sent or waiting, and QoS 2 that was sent stay, to be repeated to the same client?
#[test]
fn the_end_of_a_connection_gives_qos_1_back() {
    let mut wish = connect(Version::V5);
    wish.properties.receive_max = 2;
    wish.properties.session_expiry_s = 100;
    let mut rig = Rig::connected(&wish, Settings::default());
    assert_eq!(bind(&mut rig, QoS::AtLeastOnce, 1, 0), Delivered::Sent);
    assert_eq!(bind(&mut rig, QoS::ExactlyOnce, 2, 0), Delivered::Sent);
    assert_eq!(bind(&mut rig, QoS::ExactlyOnce, 3, 0), Delivered::Queued);
    let unfinished = rig.session().unbind(false);
    let was_sent = |assignment, was_sent| Unfinished { bound: bound(assignment), was_sent };
    assert_eq!(unfinished, [was_sent(1, true), was_sent(2, true), was_sent(3, false)]);
    let now_ms = rig.now_ms;
    assert!(!rig.session().disconnected(now_ms).ended);
    wish.clean_start = false;
    assert!(rig.connect(&wish).0);
    assert_eq!((rig.session().inflight_messages(), rig.session().queued_messages()), (1, 0));
    assert_eq!(rig.counters.retransmitted, 1);
    assert_eq!(rig.session().unbind(true), [was_sent(2, true)]);
    assert_eq!(rig.session().inflight_messages(), 0);
}

/// Does a message that has to wait go back to its group when its time is over, and not count as dropped here?
#[test]
fn what_expires_while_it_waits_goes_back() {
    let mut wish = connect(Version::V5);
    wish.properties.receive_max = 1;
    let mut rig = Rig::connected(&wish, Settings::default());
    assert_eq!(bind(&mut rig, QoS::AtLeastOnce, 1, 0), Delivered::Sent);
    let mut short = publish("t", QoS::AtLeastOnce, 1);
    short.properties.message_expiry_s = Some(1);
    let routed = Routed::new(short, OTHER, rig.now_ms);
    let now_ms = rig.now_ms;
    let (session, mut io) = rig.parts();
    let qos = QoS::AtLeastOnce;
    let delivered = session.deliver_bound(&routed, &grant(qos), qos, Some(bound(2)), now_ms, &mut io);
    assert_eq!(delivered, Delivered::Queued);
    rig.now_ms += 2000;
    acknowledge(&mut rig, &Packet::PubAck(Ack::success(id(1))), 5);
    let acknowledged = Fate::Acknowledged { written_us: 0, read_us: 5 };
    assert_eq!(outcomes(&mut rig), [(1, acknowledged), (2, Fate::HandedBack)]);
    assert_eq!(rig.counters.dropped(lapwing_session::DropReason::Expired), 0);
}
