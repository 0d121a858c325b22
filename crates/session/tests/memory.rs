//! What an idle session costs, counted at the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::num::NonZeroU64;
use std::sync::Arc;

use lapwing_codec::{
    Ack, Connect, ConnectProperties, Packet, PacketId, Publish, PublishProperties, QoS, Subscribe, SubscribeFiltersBuf,
    SubscribeProperties, SubscriptionOptions, Version,
};
use lapwing_session::{
    Admission, Counters, Delivered, Grant, Io, Message, Routed, Session, SessionKey, Settings, Step,
};

thread_local! {
    static BYTES: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Counts per thread, so that tests beside this one do not disturb.
struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator; the counters are plain thread-local cells.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size() as isize);
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size() as isize);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn open(settings: &Arc<Settings>, io: &mut Io<'_>) -> Session {
    open_again(settings, None, 0, io)
}

/// For a session that outlives its connection.
fn open_again(settings: &Arc<Settings>, existing: Option<Session>, now_ms: u64, io: &mut Io<'_>) -> Session {
    let connect = Connect {
        version: Version::V5,
        is_bridge: false,
        clean_start: existing.is_none(),
        keep_alive_s: 60,
        client_id: "device-000123",
        will: None,
        username: None,
        password: None,
        properties: ConnectProperties { session_expiry_s: 600, ..ConnectProperties::default() },
    };
    let admission = Admission::new(connect.client_id, false);
    Session::open(&connect, &admission, SessionKey(1), settings, existing, now_ms, io).session
}

fn subscribe(session: &mut Session, io: &mut Io<'_>) {
    let mut filters = SubscribeFiltersBuf::new();
    filters.push("spectrum/device-000123/commands", SubscriptionOptions::new(QoS::AtLeastOnce)).unwrap();
    let packet_id = PacketId::MIN;
    let packet = Subscribe { packet_id, properties: SubscribeProperties::default(), filters: filters.as_ref() };
    let packet = Packet::Subscribe(packet);
    let Ok(Step::Subscribe(request)) = session.handle(&packet, 0, io) else { panic!("SUBSCRIBE") };
    let reply = session.subscribe(&request, |_| Ok(()));
    session.reply(reply, io).unwrap();
}

fn message(qos: QoS) -> Publish<'static> {
    Publish {
        dup: false,
        qos,
        retain: false,
        topic: "spectrum/device-000123/commands",
        packet_id: PacketId::new(7).filter(|_| qos.is_acknowledged()),
        properties: PublishProperties::default(),
        payload: &[0; 100],
    }
}

/// A connected session with one subscription stays below 512 bytes, itself included.
#[test]
fn an_idle_session_is_small() {
    let (settings, mut counters) = (Arc::new(Settings::default()), Counters::default());
    let mut out = Vec::with_capacity(1024);
    let mut io = Io::new(&mut out, &mut counters);
    let before = BYTES.get();
    let mut session = Box::new(open(&settings, &mut io));
    subscribe(&mut session, &mut io);
    let bytes = BYTES.get() - before;
    println!("idle session with one subscription: {bytes} bytes, of which {} in itself", size_of::<Session>());
    assert!(bytes <= 512, "{bytes} bytes");
}

/// QoS 0 to a connected client, one subscription: no allocation at all.
#[test]
fn delivering_qos0_does_not_allocate() {
    let (settings, mut counters) = (Arc::new(Settings::default()), Counters::default());
    let mut out = Vec::with_capacity(4096);
    let mut io = Io::new(&mut out, &mut counters);
    let mut session = open(&settings, &mut io);
    let grants = [Grant::default()];
    let before = CALLS.get();
    for _ in 0..20 {
        let routed = Routed::new(message(QoS::AtMostOnce), SessionKey(2), 0);
        assert_eq!(session.deliver(&routed, grants.iter(), None, 0, &mut io), Delivered::Sent);
    }
    assert_eq!(CALLS.get(), before);
}

/// A message that many sessions must keep is allocated once for all; then each needs its place in the window only.
#[test]
fn keeping_a_message_is_paid_once() {
    let (settings, mut counters) = (Arc::new(Settings::default()), Counters::default());
    let mut out = Vec::with_capacity(1 << 16);
    let mut io = Io::new(&mut out, &mut counters);
    let mut sessions: Vec<_> = (0..100).map(|_| open(&settings, &mut io)).collect();
    let grants = [Grant { options: SubscriptionOptions::new(QoS::AtLeastOnce), subscription_id: None }];
    let routed = Routed::new(message(QoS::AtLeastOnce), SessionKey(2), 0);
    let before = CALLS.get();
    for session in &mut sessions {
        assert_eq!(session.deliver(&routed, grants.iter(), None, 0, &mut io), Delivered::Sent);
    }
    assert!(CALLS.get() - before <= 3 + sessions.len(), "{} allocations", CALLS.get() - before);
}

/// A client that was busy once and has acknowledged everything does not keep its window and queue for ever.
#[test]
fn what_a_busy_client_needed_is_given_back() {
    let (settings, mut counters) = (Arc::new(Settings::default()), Counters::default());
    let mut out = Vec::with_capacity(1 << 20);
    let mut io = Io::new(&mut out, &mut counters);
    let mut session = open(&settings, &mut io);
    let grants = [Grant { options: SubscriptionOptions::new(QoS::AtLeastOnce), subscription_id: None }];
    let before = BYTES.get();
    for _ in 0..500 {
        let routed = Routed::new(message(QoS::AtLeastOnce), SessionKey(2), 0);
        assert!(matches!(
            session.deliver(&routed, grants.iter(), None, 0, &mut io),
            Delivered::Sent | Delivered::Queued
        ));
    }
    let busy = BYTES.get() - before;
    for n in 1..=500 {
        let acked = Packet::PubAck(Ack::success(PacketId::new(n).unwrap()));
        assert!(matches!(session.handle(&acked, 0, &mut io), Ok(Step::Done)));
    }
    assert_eq!((session.inflight_messages(), session.queued_messages()), (0, 0));
    let kept = BYTES.get() - before;
    assert!(busy > 50_000 && kept < 2_000, "{busy} bytes while busy, {kept} afterwards");
}

/// A kept session that tells what it does, and is listened to, costs little more than another, and nothing per message.
#[test]
fn telling_facts_costs_no_allocation() {
    let (settings, mut counters) = (Arc::new(Settings::default()), Counters::default());
    let mut out = Vec::with_capacity(1 << 16);
    let mut io = Io::new(&mut out, &mut counters);
    let mut session = open(&settings, &mut io);
    let before = BYTES.get();
    session.keep(NonZeroU64::MIN);
    let mut facts = Vec::with_capacity(16);
    let grants = [Grant { options: SubscriptionOptions::new(QoS::AtLeastOnce), subscription_id: None }];
    let mut calls = Vec::new();
    for n in 1..20 {
        let routed = Routed::new(message(QoS::AtLeastOnce), SessionKey(2), 0);
        let entry = NonZeroU64::new(n.into());
        drop(routed.keep().clone());
        let before = CALLS.get();
        assert_eq!(session.deliver(&routed, grants.iter(), entry, 0, &mut io), Delivered::Sent);
        assert!(session.kept_options(entry.unwrap()).is_some());
        let acked = Packet::PubAck(Ack::success(PacketId::new(n).unwrap()));
        assert!(matches!(session.handle(&acked, 0, &mut io), Ok(Step::Done)));
        session.take_facts(&mut facts);
        calls.push(CALLS.get() - before);
        assert_eq!(facts.drain(..).count(), 1);
    }
    assert_eq!(calls[1..], [0; 18], "after the first, which makes the places");
    let connected = BYTES.get();
    assert!(!session.disconnected(0).ended);
    assert!(BYTES.get() <= connected - 8 * size_of::<usize>() as isize, "who is away keeps no places");
    let bytes = BYTES.get() - before - facts.capacity() as isize * 16;
    println!("a kept session: {bytes} bytes more");
    assert!(bytes <= 1024, "{bytes} bytes");
}

/// Does a session that had much to tell at once give the places back?
#[test]
fn places_for_many_facts_are_given_back() {
    let (settings, mut counters) = (Arc::new(Settings::default()), Counters::default());
    let mut out = Vec::with_capacity(1 << 16);
    let mut io = Io::new(&mut out, &mut counters);
    let before = BYTES.get();
    let mut session = open(&settings, &mut io);
    session.keep(NonZeroU64::MIN);
    assert!(!session.disconnected(0).ended);
    let grants = [Grant { options: SubscriptionOptions::new(QoS::AtLeastOnce), subscription_id: None }];
    for n in 1..200 {
        let routed = Routed::with_deadline(message(QoS::AtLeastOnce), SessionKey(2), Some(1));
        let delivered = session.deliver(&routed, grants.iter(), NonZeroU64::new(n), 0, &mut io);
        assert_eq!(delivered, Delivered::Queued);
    }
    let mut session = open_again(&settings, Some(session), 5, &mut io);
    let mut facts = Vec::new();
    session.take_facts(&mut facts);
    assert_eq!(facts.len(), 199, "all have expired");
    drop(facts);
    let bytes = BYTES.get() - before;
    assert!(bytes <= 1024, "{bytes} bytes");
}

/// Does a message that several keep count once, for as long as one of them keeps it?
#[test]
fn kept_messages_are_in_the_balance() {
    let publish = Publish {
        dup: false,
        qos: QoS::AtLeastOnce,
        retain: false,
        topic: "t",
        packet_id: None,
        properties: PublishProperties::default(),
        payload: &[0; 1000],
    };
    let routed = Routed::new(publish, SessionKey(1), 0);
    assert_eq!((Message::balance(), Message::balance_bytes()), (0, 0));
    let keepers = [routed.keep().clone(), routed.keep().clone()];
    assert_eq!((Message::balance(), Message::balance_bytes()), (1, keepers[0].footprint() as i64));
    drop(routed);
    assert_eq!(Message::balance(), 1);
    drop(keepers);
    assert_eq!((Message::balance(), Message::balance_bytes()), (0, 0));
}
