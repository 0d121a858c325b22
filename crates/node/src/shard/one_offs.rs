//! Clients and retained values that come once and never again, on a clock that does as it is told: the tables of a shard are
//! as small behind them as before. Groups have theirs in `groups/table.rs`, filter trees in the router, addresses of MQTT-SN in
//! `sn/table.rs`, what is on disk in the ledger.

use std::sync::Arc;

use lapwing_codec::{Connect, ConnectProperties, Publish, PublishProperties, QoS, SubscriptionOptions, Version};
use lapwing_session::{Admission, Delivered, Grant, Message, Routed, Session, SessionKey, Settings};

use super::connections::clients::Clients;
use super::groups::Membership;
use super::retained::table::{Retained, RetainedTable};
use super::rights::standing::Standing;
use crate::config::{Durability, Limits};
use crate::holder::Holder;
use crate::identity_shares::{HeldPlace, IdentityShares};
use crate::mail::Source;
use crate::retained_share::RetainedShare;
use crate::slot::ShardId;
use crate::timers::NEVER;

/// How many come and go: tens of millions where there is a night for it, `make one-offs`.
pub(crate) fn count() -> u64 {
    std::env::var("LAPWING_ONE_OFFS").map_or(5_000, |count| count.parse().expect("LAPWING_ONE_OFFS is a number"))
}

fn message(topic: &str, qos: QoS, expiry_s: Option<u32>) -> Publish<'_> {
    let properties = PublishProperties { message_expiry_s: expiry_s, ..PublishProperties::default() };
    Publish { dup: false, qos, retain: true, topic, packet_id: None, properties, payload: b"payload" }
}

/// Opens a session without a connection that has a message waiting for it.
fn wait_for_one(clients: &mut Clients, settings: &Arc<Settings>, client_id: &str, now_ms: u64) -> SessionKey {
    let key = clients.next_key();
    let properties = ConnectProperties { session_expiry_s: 1, ..ConnectProperties::default() };
    let connect = Connect {
        version: Version::V5,
        is_bridge: false,
        clean_start: true,
        keep_alive_s: 0,
        client_id,
        will: None,
        username: None,
        password: None,
        properties,
    };
    let admission = Admission::new(client_id, false);
    let mut out = Vec::new();
    let mut io = lapwing_session::Io::new(&mut out, &mut clients.counters);
    let mut session = Session::open(&connect, &admission, key, settings, None, now_ms, &mut io).session;
    assert!(!session.disconnected(now_ms).ended);
    clients.insert_session(session, None, NEVER, Standing::default(), Membership::default());
    let routed = Routed::new(message("t", QoS::AtLeastOnce, None), SessionKey(0), now_ms);
    let grant = Grant { options: SubscriptionOptions::new(QoS::AtLeastOnce), subscription_id: None };
    let queued = clients.with(key, |session, io| session.deliver(&routed, [&grant].into_iter(), None, now_ms, io));
    assert_eq!(queued, Some(Delivered::Queued));
    key
}

/// Are sessions that expire, and what waited for them, out of every table, and is nobody known as a holder any more?
#[test]
fn one_off_clients_leave_nothing() {
    let (mut clients, settings) = (Clients::new(ShardId(0), 1, 1 << 20), Arc::new(Settings::default()));
    let shares = IdentityShares::new(&Limits::default());
    let (before, kept_before) = (clients.lengths(), Message::balance());
    for number in 0..count() {
        let (client_id, now_ms) = (format!("client-{number}"), number * 5_000);
        let holder = Holder::of_client(None, &client_id);
        let place = HeldPlace::take(&shares.away, holder, u64::MAX).expect("there is room");
        let key = wait_for_one(&mut clients, &settings, &client_id, now_ms);
        assert!(clients.find(&client_id) == Some(key) && shares.away.holders() == 1);
        assert!(clients.with(key, |session, io| session.tick(now_ms + 1_000, io)).is_some_and(|tick| tick.ended));
        let row = clients.remove_session(key).expect("it is there");
        drop((row.session.end(now_ms + 1_000, &mut clients.counters), place));
    }
    let [connections, sessions, ids, listed, places] = clients.lengths();
    assert_eq!([connections, sessions, ids, listed], before[..4]);
    assert!(places <= 8, "{places} places for one session at a time");
    assert_eq!((Message::balance(), clients.holdings.waiting_bytes()), (kept_before, 0));
    assert_eq!((shares.away.holders(), shares.away.all()), (0, 0));
}

/// Do retained messages that expire leave the table at their time, their room and their holders with them, and is the log told
/// of each?
#[test]
fn one_off_values_leave_nothing() {
    const EXPIRY_S: u32 = 60;
    let shares = Arc::new(IdentityShares::new(&Limits::default()));
    let room = Arc::new(RetainedShare::new(1_000, 1 << 20));
    let mut table = RetainedTable::new(room.clone(), shares.clone());
    let (empty, free) = (table.lengths(), room.free());
    let (mut forgotten, mut most) = (0, 0);
    let mut look = |table: &mut RetainedTable, now_ms| {
        if table.next_expiry_ms().is_some_and(|at_ms| at_ms <= now_ms) {
            table.give_up_some_expired(8, now_ms);
        }
        forgotten += table.take_cleared().len() as u64;
    };
    for number in 0..count() {
        let now_ms = number * 1_000;
        let topic = format!("one/{number}/off");
        let holder = Some(Holder::of_client(None, &topic));
        let source = Source { publisher: 7, origin: ShardId(0), seq: number, holder };
        let routed = Routed::new(message(&topic, QoS::AtMostOnce, Some(EXPIRY_S)), SessionKey(0), now_ms);
        assert_eq!(table.set(&routed, source, Durability::Disk, None, now_ms), Retained::Kept);
        look(&mut table, now_ms);
        most = most.max(table.lengths()[0]);
    }
    assert!(most <= EXPIRY_S as usize + 1, "{most} at a time");
    let end_ms = (count() + u64::from(EXPIRY_S)) * 1_000;
    (0..=EXPIRY_S).for_each(|_| look(&mut table, end_ms));
    assert_eq!((table.lengths(), table.messages(), table.bytes()), (empty, 0, 0));
    assert_eq!((room.free(), shares.retained.holders()), (free, 0));
    assert_eq!(forgotten, count());
}
