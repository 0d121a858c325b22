//! The probes of one connection: what was asked when, and what an answer says about the way.

/// Probes that wait for an answer; of one that is older than the last four nothing is known any more.
const OUTSTANDING_MAX: usize = 4;
const TOPIC_PREFIX: &str = "$lapwing/probe/";

/// One probe that its client has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PendingProbe {
    id: u16,
    at_us: u64,
}

/// The probes of one connection that has asked for them. Times are microseconds of one monotonic clock.
///
/// A probe that is lost, answered late or never keeps no later one waiting. Which answer counts is decided by dispatch, which
/// keeps the least.
#[derive(Clone, Debug)]
pub(crate) struct Probes {
    every_us: u64,
    next_due_us: u64,
    next_id: u16,
    pending: [Option<PendingProbe>; OUTSTANDING_MAX],
    last_us: Option<u64>,
}

impl Probes {
    /// Probes every `every_ms` milliseconds, the first at once.
    pub(crate) fn new(every_ms: u32, now_us: u64) -> Probes {
        let mut probes =
            Probes { every_us: 0, next_due_us: now_us, next_id: 0, pending: [None; OUTSTANDING_MAX], last_us: None };
        probes.set_interval(every_ms);
        probes
    }

    /// Another interval from the next probe on.
    pub(crate) fn set_interval(&mut self, every_ms: u32) {
        self.every_us = u64::from(every_ms.max(1)) * 1000;
    }

    /// When the next probe is to be sent.
    pub(crate) fn next_due_us(&self) -> u64 {
        self.next_due_us
    }

    /// A probe is sent now; returns its id, which is what is to be answered.
    pub(crate) fn sent(&mut self, now_us: u64) -> u16 {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        // The place of the one four before it, which is forgotten.
        self.pending[usize::from(id) % OUTSTANDING_MAX] = Some(PendingProbe { id, at_us: now_us });
        // After a pause there is no rush of those that were left out.
        self.next_due_us = (self.next_due_us + self.every_us).max(now_us + self.every_us / 2);
        id
    }

    /// An answer has come: the way there and back in microseconds, the client's time to answer included. `None`, to be
    /// counted, if no such probe waits for one: it was made up, answered before, or comes too late.
    pub(crate) fn answered(&mut self, id: u16, now_us: u64) -> Option<u64> {
        let place = &mut self.pending[usize::from(id) % OUTSTANDING_MAX];
        let way_us = now_us.saturating_sub(place.take_if(|pending| pending.id == id)?.at_us);
        self.last_us = Some(way_us);
        Some(way_us)
    }

    /// What the last answer said; a group that is joined after it has not heard of it.
    pub(crate) fn last_us(&self) -> Option<u64> {
        self.last_us
    }
}

/// Where the probes of a client go. A wildcard in its id, which no topic may have, is written as `_`.
pub(crate) fn probe_topic(client_id: &str) -> String {
    [TOPIC_PREFIX, &client_id.replace(['+', '#'], "_")].concat()
}

/// What a probe says.
pub(crate) fn probe_payload(id: u16) -> String {
    format!("{{\"probe\":{id}}}")
}

#[cfg(test)]
mod tests;
