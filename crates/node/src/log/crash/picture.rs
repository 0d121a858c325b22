//! Everything of a state that a start goes on from, in a form that can be compared.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_ledger::{DataGroupState, KeptGroup, KeptSession, WillRef};

/// One data group's.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Picture {
    applied: u64,
    queued: u64,
    sessions: BTreeMap<String, Session>,
    /// By name and filter.
    consumer_groups: BTreeMap<(String, String), ConsumerGroup>,
    retained: BTreeMap<String, u64>,
    /// Data group, session, packet id, use number and entry of each.
    unsettled: BTreeSet<(u16, u64, u16, u64, u64)>,
}

#[derive(Debug, PartialEq, Eq)]
struct Session {
    id: u64,
    identity: Vec<u8>,
    expiry_s: u32,
    opened_at_ms: u64,
    disconnected_at_ms: Option<u64>,
    away_since: Option<u64>,
    will: Option<WillRef>,
    subscriptions: BTreeMap<String, u64>,
    /// Entry and QoS, in order.
    queue: Vec<(u64, u8)>,
    /// Packet id, entry, and whether the client has it.
    flights: BTreeSet<(u16, u64, bool)>,
    received: BTreeMap<u16, u64>,
    doubted: BTreeMap<u16, u64>,
    next_use: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct ConsumerGroup {
    id: u64,
    declared: Option<Vec<u8>>,
    /// Entries, in order.
    queue: Vec<u64>,
}

impl Picture {
    pub(super) fn of(state: &DataGroupState) -> Self {
        let unsettled = state.unsettled();
        Picture {
            applied: state.applied(),
            queued: state.queued(),
            sessions: state.sessions().map(|session| (session.client_id().to_owned(), Session::of(session))).collect(),
            consumer_groups: state.groups().map(ConsumerGroup::named).collect(),
            retained: state.retained().map(|(topic, entry)| (topic.to_owned(), entry)).collect(),
            unsettled: unsettled
                .map(|(group, session, one)| (group, session.0, one.packet_id, one.use_number, one.entry))
                .collect(),
        }
    }
}

impl Session {
    fn of(session: &KeptSession) -> Self {
        let flights = session.flights().into_iter();
        Session {
            id: session.id().0,
            identity: session.identity().to_vec(),
            expiry_s: session.expiry_s(),
            opened_at_ms: session.opened_at_ms(),
            disconnected_at_ms: session.disconnected_at_ms(),
            away_since: session.away_since(),
            will: session.will(),
            subscriptions: session.subscriptions().map(|one| (one.filter.to_owned(), one.grant)).collect(),
            queue: session.queue().map(|(entry, options)| (entry, options.qos)).collect(),
            flights: flights.map(|flight| (flight.packet_id, flight.entry, flight.pubrec_received)).collect(),
            received: session.received().into_iter().collect(),
            doubted: session.doubted().into_iter().collect(),
            next_use: session.next_use(),
        }
    }
}

impl ConsumerGroup {
    fn named(group: &KeptGroup) -> ((String, String), Self) {
        let declared = group.declared().map(<[u8]>::to_vec);
        let name = (group.name().to_owned(), group.filter().to_owned());
        (name, ConsumerGroup { id: group.id().0, declared, queue: group.queue().collect() })
    }
}
