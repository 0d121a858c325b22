//! Everything that may be asked of a state, in a form that can be compared.

use std::collections::BTreeMap;

use lapwing_ledger::{DataGroupState, Flight, KeptGroup, KeptSession, WillRef};

use crate::operation::OwnOptions;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    pub applied: u64,
    pub sessions: BTreeMap<String, SessionPicture>,
    pub groups: BTreeMap<(String, String), GroupPicture>,
    pub retained: BTreeMap<String, u64>,
    /// Data group, session, use number -> packet id, entry.
    pub unsettled: BTreeMap<(u16, u64, u64), (u16, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPicture {
    pub id: u64,
    pub identity: Vec<u8>,
    pub expiry_s: u32,
    pub opened_at_ms: u64,
    pub disconnected_at_ms: Option<u64>,
    pub away_since: Option<u64>,
    pub will: Option<WillRef>,
    pub subscriptions: BTreeMap<String, u64>,
    pub queue: BTreeMap<u64, OwnOptions>,
    /// Entry -> packet id, got.
    pub flights: BTreeMap<u64, (u16, bool)>,
    /// Packet id -> use number.
    pub received: BTreeMap<u16, u64>,
    /// The same.
    pub doubted: BTreeMap<u16, u64>,
    pub next_use: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupPicture {
    pub id: u64,
    pub declared: Option<Vec<u8>>,
    pub queue: Vec<u64>,
}

impl Picture {
    pub fn of(state: &DataGroupState) -> Self {
        let picture = Picture {
            applied: state.applied(),
            sessions: state.sessions().map(|session| (session.client_id().into(), session_picture(session))).collect(),
            groups: state
                .groups()
                .map(|group| ((group.name().into(), group.filter().into()), group_picture(group)))
                .collect(),
            retained: state.retained().map(|(topic, entry)| (topic.into(), entry)).collect(),
            unsettled: state
                .unsettled()
                .map(|(group, id, one)| ((group, id.0, one.use_number), (one.packet_id, one.entry)))
                .collect(),
        };
        let sessions: u64 = state.sessions().map(KeptSession::queued).sum();
        let groups: u64 = state.groups().map(KeptGroup::queued).sum();
        assert_eq!(state.queued(), sessions + groups);
        picture
    }

    /// Entries that something refers to.
    pub fn live(&self) -> Vec<u64> {
        let sessions = self.sessions.values();
        let queues = sessions.clone().flat_map(|session| session.queue.keys().copied());
        let wills = sessions.filter_map(|session| session.will.map(|will| will.entry));
        let groups = self.groups.values().flat_map(|group| group.queue.iter().copied());
        let mut live: Vec<_> = queues.chain(wills).chain(groups).chain(self.retained.values().copied()).collect();
        live.sort_unstable();
        live.dedup();
        live
    }
}

fn session_picture(session: &KeptSession) -> SessionPicture {
    let queue: Vec<_> = session.queue().map(|(entry, options)| (entry, OwnOptions::of(options))).collect();
    assert!(queue.is_sorted_by(|one, other| one.0 < other.0), "in order, each once");
    assert_eq!(session.queued(), queue.len() as u64);
    let flight = |flight: Flight| (flight.entry, (flight.packet_id, flight.pubrec_received));
    SessionPicture {
        id: session.id().0,
        identity: session.identity().to_vec(),
        expiry_s: session.expiry_s(),
        opened_at_ms: session.opened_at_ms(),
        disconnected_at_ms: session.disconnected_at_ms(),
        away_since: session.away_since(),
        will: session.will(),
        subscriptions: session.subscriptions().map(|one| (one.filter.into(), one.grant)).collect(),
        queue: queue.into_iter().collect(),
        flights: session.flights().into_iter().map(flight).collect(),
        received: session.received().into_iter().collect(),
        doubted: session.doubted().into_iter().collect(),
        next_use: session.next_use(),
    }
}

fn group_picture(group: &KeptGroup) -> GroupPicture {
    let declared = group.declared().map(<[u8]>::to_vec);
    GroupPicture { id: group.id().0, declared, queue: group.queue().collect() }
}
