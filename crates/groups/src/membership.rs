//! One member of a group, over all its connections.

use std::collections::BTreeMap;

use lapwing_codec::QoS;
use lapwing_dispatch::{Acknowledges, Declaration, MemberIndex};

use crate::assignment::{Assignment, AssignmentId, Epoch, Written};
use crate::entry::Entry;
use crate::unable::Seat;

/// How a member takes part: what its session declares, and how it has subscribed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberOptions {
    /// What it says about itself.
    pub declaration: Declaration,
    /// The QoS of its subscription: it gets every message with this one at most.
    pub qos_max: QoS,
}

impl MemberOptions {
    /// As dispatch is told: who gets everything with QoS 0 never says when it has finished, and is not to look idle for it.
    pub(crate) fn for_dispatch(&self) -> Declaration {
        match self.qos_max {
            QoS::AtMostOnce => Declaration { acknowledges: Acknowledges::Received, ..self.declaration },
            _ => self.declaration,
        }
    }
}

/// Where a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Connected, and chosen from.
    Here,
    /// It stalled; its shard has been told to close the connection and has not yet said that it is closed.
    Kicked,
    /// Its session lives, without a connection.
    Away,
    /// It has unsubscribed, and still has messages that it was sent before [MQTT-3.10.4-3].
    Leaving,
}

/// What was counted of one member since it joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages bound to it.
    pub bound: u64,
    /// Messages it acknowledged.
    pub acknowledged: u64,
    /// Messages it refused.
    pub refused: u64,
    /// Messages taken back from it.
    pub moved: u64,
    /// Messages it finished (undeclared: that were sent to it) after their deadline.
    pub missed: u64,
    /// How often it was sent away because it had stalled.
    pub kicks: u64,
}

/// A member and what it has.
#[derive(Debug)]
pub(crate) struct Membership<K, M> {
    pub(crate) key: K,
    pub(crate) epoch: Epoch,
    pub(crate) options: MemberOptions,
    pub(crate) presence: Presence,
    /// Its shard has been told to close this connection, which is never told twice.
    pub(crate) was_kicked: bool,
    /// Where dispatch has it. Some while it is `Here`, and only then.
    pub(crate) place: Option<MemberIndex>,
    /// Which stay that is, of all in the group.
    pub(crate) stay: u64,
    pub(crate) assigned: BTreeMap<AssignmentId, Assignment<M>>,
    pub(crate) tally: Tally,
}

impl<K, M> Membership<K, M> {
    /// A member that is not connected yet.
    pub(crate) fn new(key: K, epoch: Epoch, options: MemberOptions) -> Membership<K, M> {
        Membership {
            key,
            epoch,
            options,
            presence: Presence::Away,
            was_kicked: false,
            place: None,
            stay: 0,
            assigned: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    /// Where it sits, while it is `Here`.
    pub(crate) fn seat(&self) -> Option<Seat> {
        self.place.map(|place| Seat { place, nth: self.stay })
    }

    /// Whether the connection of its epoch is not known to be over.
    pub(crate) fn is_connected(&self) -> bool {
        self.presence != Presence::Away
    }

    /// Whether it has unsubscribed and has nothing any more.
    pub(crate) fn is_over(&self) -> bool {
        self.presence == Presence::Leaving && self.assigned.is_empty()
    }

    /// Its acknowledgement says that a message is finished; if not, all that is known is when it was written.
    pub(crate) fn says_finished(&self) -> bool {
        self.options.declaration.acknowledges == Acknowledges::Processed
    }

    /// Its connection is over: gives back what may go to others, in the order in which it was bound. What stays is QoS 2
    /// whose delivery has begun.
    pub(crate) fn give_back(&mut self, written: Written<'_>) -> Vec<Assignment<M>> {
        let written = written.index();
        let mut back = Vec::new();
        for (id, mut one) in std::mem::take(&mut self.assigned) {
            if one.stays(id, &written) {
                self.assigned.insert(id, one);
            } else {
                back.push(one);
            }
        }
        self.tally.moved += back.len() as u64;
        back
    }

    /// A message ends that it has. None: it does not have it, or not on this connection.
    pub(crate) fn take(&mut self, id: AssignmentId, epoch: Epoch) -> Option<Assignment<M>> {
        let is_of = self.assigned.get(&id)?.is_of(epoch);
        if is_of { self.assigned.remove(&id) } else { None }
    }

    /// The keys of the oldest messages that it has, at most so many.
    pub(crate) fn first_keys(&self, most: usize) -> impl Iterator<Item = u64> {
        self.assigned.values().take(most).filter_map(|one| one.entry.facts.key)
    }

    /// All that it has.
    pub(crate) fn entries(self) -> impl Iterator<Item = Entry<M>> {
        self.assigned.into_values().map(|one| one.entry)
    }
}
