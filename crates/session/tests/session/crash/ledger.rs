//! The same logs through the room that really reads them: `lapwing-ledger` must say of them what the plain [`Book`] says.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_ledger::{
    Changed, DataGroupState, DeliveryOptions, Entry, Fact, KeeperId, KeepersBuf, List, Opened, Origin, Presence,
    ProgressBuf, Published, SubscriptionIds,
};

use super::book::Book;
use super::log::{Log, Record};
use crate::rig::{entry, id};

/// The session: the first entry of its log opened it.
const SESSION: KeeperId = KeeperId(1);

/// Compares both readings of log 0.
pub fn assert_book(book: &Book, log: &Log) {
    let state = state_of(log, true);
    let session = state.session("me").expect("it was opened");
    assert_eq!((session.id(), session.next_use(), state.strays()), (SESSION, book.next_use, 0));
    assert_eq!(session.away_since().map(entry), book.away_since);
    let queue: BTreeMap<_, _> = session.queue().map(|(at, options)| (entry(at), options.qos)).collect();
    assert_eq!(queue, book.queue.iter().map(|(at, (_, qos))| (*at, *qos as u8)).collect());
    let flights: BTreeMap<_, _> = session
        .flights()
        .iter()
        .map(|flight| (entry(flight.entry), (id(flight.packet_id), flight.pubrec_received)))
        .collect();
    assert_eq!(flights, book.flights);
    assert_eq!(session.received().iter().map(|(n, _)| id(*n)).collect::<BTreeSet<_>>(), book.received);
    assert_eq!(session.doubted().iter().map(|(n, number)| (id(*n), *number)).collect::<BTreeMap<_, _>>(), book.doubted);
}

/// Compares what both say is unsettled in a target's log.
pub fn assert_unsettled(log: &Log) {
    let state = state_of(log, false);
    let unsettled = state.unsettled().map(|(_, session, unsettled)| {
        assert_eq!(session, SESSION);
        (unsettled.use_number, unsettled.packet_id)
    });
    let expected = log.unsettled().into_iter().map(|(number, (_, origin))| (number, origin.packet_id.get()));
    assert_eq!(unsettled.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

fn state_of(log: &Log, is_own: bool) -> DataGroupState {
    let mut state = DataGroupState::new();
    let mut bytes = Vec::new();
    for (index, record) in (1..).zip(&log.records) {
        bytes.clear();
        encode(record, is_own, &mut bytes);
        state.apply(index, &bytes).expect("an entry in its turn");
    }
    state
}

/// `is_own`: in the session's own log a message is there because the session keeps it.
fn encode(record: &Record, is_own: bool, out: &mut Vec<u8>) {
    let (mut keepers, mut progress) = (KeepersBuf::new(), ProgressBuf::new());
    let entry = match *record {
        Record::Opened => {
            Entry::Opened(Opened { client_id: "me", identity: b"", expiry_s: 600, opened_at_ms: 1, will: None })
        }
        Record::Published { n, qos, origin } => {
            if is_own {
                let options = DeliveryOptions { qos: qos as u8, retain: false, ids: SubscriptionIds::EMPTY };
                keepers.push(SESSION, options).expect("no ids");
            }
            let origin = origin.map(|origin| Origin {
                data_group: 0,
                session: SESSION,
                packet_id: origin.packet_id.get(),
                use_number: origin.use_number,
                settled: origin.settled,
            });
            return published(&n.to_be_bytes(), origin, &keepers, out);
        }
        Record::Fact(fact) => {
            progress.push(SESSION, fact_of(fact));
            Entry::Progress(progress.as_progress())
        }
        Record::Presence { connected } => {
            Entry::Changed(Changed { presence: Some(Presence { connected, at_ms: 1 }), ..Changed::of(SESSION) })
        }
    };
    entry.encode(out).expect("within its bounds");
}

fn published(frame: &[u8], origin: Option<Origin>, keepers: &KeepersBuf, out: &mut Vec<u8>) {
    let entry = Entry::Published(Published {
        frame,
        published_at_ms: 1,
        expires_at_ms: 0,
        publisher: 7,
        holder: None,
        origin,
        keepers: keepers.as_list(),
        groups: List::EMPTY,
        retained: None,
    });
    entry.encode(out).expect("within its bounds");
}

fn fact_of(fact: lapwing_session::Fact) -> Fact {
    match fact {
        lapwing_session::Fact::Finished { entry } => Fact::Finished { entry: entry.get() },
        lapwing_session::Fact::PublishSent { packet_id, entry } => {
            Fact::PublishSent { packet_id: packet_id.get(), entry: entry.get() }
        }
        lapwing_session::Fact::PubRecReceived { packet_id } => Fact::PubRecReceived { packet_id: packet_id.get() },
        lapwing_session::Fact::Received { packet_id, use_number } => {
            Fact::Received { packet_id: packet_id.get(), use_number }
        }
        lapwing_session::Fact::Doubted { packet_id, use_number } => {
            Fact::Doubted { packet_id: packet_id.get(), use_number }
        }
        lapwing_session::Fact::Released { packet_id } => Fact::Released { packet_id: packet_id.get() },
    }
}
